/* Functions with several ways out, and results of several types. */
#include <stdio.h>
#include <stdlib.h>

static double half(double x)
{
    if (x < 0)
        return -x;
    return x / 2;
}

static float quarter(float x)
{
    if (x < 0)
        return -x;
    return x / 4;
}

static int third(int x)
{
    if (x < 0)
        return -x;
    return x / 3;
}

static long bits(double x)
{
    union { double value; long bits; } both = { x };
    return both.bits;
}

int main(int argc, char **argv)
{
    int given = atoi(argv[1]);
    printf("%.1f %.2f %d %lx\n", half(given), quarter(given), third(given), bits(given));
    return 0;
}
