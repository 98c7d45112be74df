/* Two sums in long doubles, side by side on the stack of x87 registers; one of them goes through an integer. */
#include <stdio.h>
#include <stdlib.h>

static long double __attribute__((noinline)) third(long double value)
{
    return value / 3;
}

int main(int argc, char **argv)
{
    long double wanted = strtold(argv[1], NULL);
    long double other = strtold(argv[2], NULL);
    int whole = (int)(other * 2);
    wanted = third(wanted);
    other = other - whole;
    long double most = 0;
    for (int i = 0; i < 3; i++) {
        wanted = wanted * 2;
        other = other + 0.5L;
        if (wanted > most)
            most = wanted;
    }
    printf("%.2Lf ", most);
    printf("%.2Lf\n", other);
    return 0;
}
