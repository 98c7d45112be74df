/* Rounding modes and the exception flags of floating point. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *names[] = {"nearest", "up", "down", "zero"};
    for (int m = 0; m < 4; m++) {
        fesetround(modes[m]);
        volatile double one = 1, three = 3, half = 2.5, minus = -2.5, big = 1e17;
        volatile float single = 0.1f;
        printf("%s: %a %a %g %g %ld %ld %a %a %d\n", names[m], one / three, -one / three, rint(half), rint(minus), lrint(half), lrint(minus), (double)(single * 3.0f),
               big + one, fegetround() == modes[m]);
        printf("%.1f %.2f %.0f\n", 0.25, 1.005, 0.5);
    }
    fesetround(FE_TONEAREST);
    static const int flags[] = {FE_INEXACT, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID};
    volatile double zero = 0, one = 1, huge = 1e308, tiny = 1e-308, minus = -1, result;
    for (int test = 0; test < 6; test++) {
        feclearexcept(FE_ALL_EXCEPT);
        switch (test) {
        case 0: result = one / 3; break;
        case 1: result = one / zero; break;
        case 2: result = huge * 10; break;
        case 3: result = tiny / 1e10; break;
        case 4: result = zero / zero; break;
        case 5: result = sqrt(minus); break;
        }
        for (int f = 0; f < 5; f++)
            printf("%d", !!fetestexcept(flags[f]));
        putchar('\n');
    }
    return 0;
}
