/* The data part and the select part of one output. */
#include <stdio.h>
#include <stdlib.h>

static int f(int a, int b) { return a * 3 - b; }
static int g(int a, int b) { return b - a; }

int main(int argc, char **argv)
{
    int a = atoi(argv[1]), b = atoi(argv[2]), c, d, x, y;
    c = f(a, b);
    if (c < 5)
        x = a + b;
    else
        x = a - b;
    d = g(a, b);
    if (d < 5)
        y = a * b;
    else
        y = a / b;
    printf("%d\n", x + y);
    return 0;
}
