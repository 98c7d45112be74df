/* Adds up a table in a loop. */
#include <stdio.h>

static int table[100];
static const int weights[4] = { 1, 2, 3, 5 };

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        table[i] = i * weights[i % 4];
    for (int i = 0; i < 100; i++)
        sum += table[i];
    printf("%d\n", sum);
    return 0;
}
