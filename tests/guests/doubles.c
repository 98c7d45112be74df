/* Floating point as the processor does it with SSE2: arithmetic, comparisons with NaN, conversions, printing and parsing, the maths library. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static uint32_t bits_of_float(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

static uint64_t fold = 1469598103934665603u;
static void mix(uint64_t value) { fold = (fold ^ value) * 1099511628211u; }

static const double corners[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1e10, -1e10, 1e300, -1e300, 1e-300, 4.9e-324, -4.9e-324, DBL_MIN,
                                 DBL_MAX, 2147483647.0, 2147483648.0, -2147483649.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, INFINITY, -INFINITY, NAN};
enum { CORNERS = sizeof corners / sizeof *corners };

static void arithmetic(void)
{
    for (int i = 0; i < CORNERS; i++)
        for (int j = 0; j < CORNERS; j++) {
            volatile double a = corners[i], b = corners[j];
            volatile float x = (float)a, y = (float)b;
            double results[] = {a + b, a - b, a * b, a / b, a < b ? a : b, a > b ? a : b};
            float single[] = {x + y, x - y, x * y, x / y};
            for (int k = 0; k < 6; k++)
                mix(isnan(results[k]) ? 1 : bits(results[k]));
            for (int k = 0; k < 4; k++)
                mix(isnan(single[k]) ? 1 : bits_of_float(single[k]));
            mix((a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | isunordered(a, b) << 6 | isless(a, b) << 7);
        }
    printf("arithmetic %016lx\n", fold);
}

static void conversions(void)
{
    for (int i = 0; i < CORNERS; i++) {
        volatile double a = corners[i];
        volatile float x = (float)a;
        if (fabs(a) < 2e9)
            mix((int)a), mix((unsigned char)(int)a), mix((int)x), mix((short)(int)a);
        if (fabs(a) < 9e18)
            mix((long)a), mix((long)x);
        if (a >= 0 && a < 1.8e19)
            mix((unsigned long)a);
        mix(isnan(a) ? 2 : bits(floor(a))); mix(isnan(a) ? 2 : bits(ceil(a))); mix(isnan(a) ? 2 : bits(trunc(a))); mix(isnan(a) ? 2 : bits(rint(a)));
        mix(isnan(a) ? 2 : bits(round(a))); mix(isnan(a) ? 2 : bits(fabs(a))); mix(isnan(a) ? 2 : bits(copysign(a, -1.0)));
        mix(a >= 0 ? bits(sqrt(a)) : 3); mix(fpclassify(a)); mix(!!signbit(a)); mix(isnan(x) ? 2 : bits_of_float(x));
    }
    for (long n = -5000000000; n < 5000000000; n += 123456789) {
        volatile long l = n;
        mix(bits((double)l)); mix(bits_of_float((float)l)); mix(bits((double)(int)l)); mix(bits((double)(unsigned)l)); mix(bits((double)(unsigned long)l));
        mix(bits_of_float((float)(unsigned long)l));
    }
    printf("conversions %016lx\n", fold);
}

static void printing(void)
{
    static const double values[] = {0, 1, -1, 0.1, 1.0 / 3, 2.0 / 3, 123456789.125, 1e21, 1e-7, 6.02214076e23, 5e-324, 1.7976931348623157e308, 0.5, 1.5, 2.5, 99.995};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        printf("%f %.0f %.2f %10.3e %g %.17g %a\n", values[i], values[i], values[i], values[i], values[i], values[i], values[i]);
    printf("%f %e %g %F %5.1f|%-8.2f|%+08.1f\n", INFINITY, -INFINITY, NAN, INFINITY, 3.14159, 3.14159, 3.14159);
    static const char *texts[] = {"1", "0.1", "-2.5e3", "1e400", "1e-400", "0x1.8p3", "inf", "nan", "3.14159265358979323846264338327950288", "123abc", ".5", "9007199254740993"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *end;
        double value = strtod(texts[i], &end);
        printf("%s -> %.17g, rest \"%s\", float %.9g, %g\n", texts[i], value, end, strtof(texts[i], NULL), atof(texts[i]));
    }
    double a, b; float c;
    printf("%d ", sscanf("1.5 -2e3 0.25", "%lf %lf %f", &a, &b, &c));
    printf("%g %g %g\n", a, b, c);
}

static void mathematics(void)
{
    for (double x = -20; x < 20; x += 0.37) {
        double values[] = {sin(x), cos(x), tan(x), exp(x), log(fabs(x) + 0.1), pow(fabs(x), 1.7), atan2(x, 2 - x), sqrt(fabs(x)), cbrt(x), fmod(x, 1.3), hypot(x, 3),
                           sinh(x / 4), tanh(x), asin(x / 21), acos(x / 21), log10(fabs(x) + 1), log2(fabs(x) + 1), exp2(x), expm1(x / 10), log1p(fabs(x)), erf(x / 5),
                           lgamma(fabs(x) + 1), ldexp(x, 5), nextafter(x, 100), remainder(x, 0.7)};
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
            mix(bits(values[i]));
        float singles[] = {sinf(x), cosf(x), expf(x / 2), logf(fabsf((float)x) + 0.1f), powf(fabsf((float)x), 1.3f), sqrtf(fabsf((float)x)), atanf(x)};
        for (unsigned i = 0; i < sizeof singles / sizeof *singles; i++)
            mix(bits_of_float(singles[i]));
        int exponent; double whole;
        mix(bits(frexp(x, &exponent))); mix(exponent); mix(bits(modf(x, &whole))); mix(bits(whole)); mix(lround(x)); mix(lrint(x));
    }
    printf("mathematics %016lx\n", fold);
}

static void loops(void)
{
    static double a[257], b[257], c[257];
    static float f[257], g[257];
    for (int i = 0; i < 257; i++)
        a[i] = i * 0.25, b[i] = 100.0 / (i + 1), f[i] = i * 1.5f, g[i] = 3.0f / (i + 1);
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 257; i++)
            c[i] = a[i] * b[i] + c[i] / 2 - (i % 3), f[i] = f[i] * 0.5f + g[i], g[i] = sqrtf(f[i] + 1);
    double sum = 0;
    for (int i = 0; i < 257; i++)
        sum += c[i] + f[i] - g[i], mix(bits(c[i])), mix(bits_of_float(f[i]));
    printf("loops %.15g %016lx\n", sum, fold);
}

int main(void)
{
    arithmetic();
    conversions();
    printing();
    mathematics();
    loops();
    return 0;
}
