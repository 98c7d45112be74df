/* Long doubles: 80 bits on the x87. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    volatile long double third = 1.0L / 3, big = 1e4000L, sum = 0;
    for (int i = 1; i < 1000; i++)
        sum += 1.0L / i;
    printf("%.20Lg %.5Lg %.20Lg %.20Lg\n", third, big, sum, sqrtl(2.0L));
    printf("%.20Lg %.20Lg %ld %d\n", strtold("3.14159265358979323846", NULL), sinl(1.0L), (long)(sum * 1000), sum > third);
    return 0;
}
