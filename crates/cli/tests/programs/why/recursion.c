/* A recursive function. */
#include <stdio.h>
#include <stdlib.h>

static long power(long base, int exponent)
{
    if (exponent == 0)
        return 1;
    long half = power(base, exponent / 2);
    long result = half * half;
    if (exponent % 2)
        result *= base;
    return result;
}

int main(int argc, char **argv)
{
    long result = power(atol(argv[1]), atoi(argv[2]));
    printf("%ld\n", result);
    return 0;
}
