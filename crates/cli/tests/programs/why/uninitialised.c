/* A local variable that is given a value on one way only. */
#include <stdio.h>
#include <stdlib.h>

static int noise(int n)
{
    int values[4] = { n, n * 2, n * 3, n * 4 };
    return values[n % 4];
}

static int discount(int age)
{
    int percent;
    if (age < 18)
        percent = 50;
    return 100 - percent;
}

int main(int argc, char **argv)
{
    int age = atoi(argv[1]);
    noise(7);
    printf("%d\n", discount(age));
    return 0;
}
