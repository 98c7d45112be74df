/* Numbers at random: printing, parsing, the maths library, arithmetic in 80 bits. What the program prints of each is a sum over all
   arguments, or, for functions that each processor approximates in its own way, the results themselves. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static uint64_t word(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t fold;
static void mix(uint64_t value) { fold = (fold ^ value) * 1099511628211u; }
static void mix_text(const char *text) { while (*text) mix((unsigned char)*text++); }
static void mix_double(double d) { uint64_t u; memcpy(&u, &d, 8); mix(isnan(d) ? 1 : u); }
static void mix_float(float f) { uint32_t u; memcpy(&u, &f, 4); mix(isnan(f) ? 1 : u); }
static void mix_long(long double d)
{
    uint64_t u[2] = {0, 0};
    memcpy(u, &d, 10);
    if (isnan(d)) mix(1); else mix(u[0]), mix(u[1]);
}

/* Any bits, numbers of everyday size, whole numbers, numbers with few digits. */
static double random_double(void)
{
    uint64_t u = word();
    double d;
    switch (word() % 4) {
    case 0: memcpy(&d, &u, 8); return d;
    case 1: return (double)(int64_t)u / 1e15;
    case 2: return (double)((int64_t)u >> (word() % 63));
    default: return (double)((int64_t)u % 100000000) / 1000;
    }
}

static long double random_long(void)
{
    uint64_t u[2] = {word() | 1ull << 63, word() % 0x7fff | (word() & 1) << 15};
    long double d = 0;
    switch (word() % 3) {
    case 0: memcpy(&d, u, 10); return d;
    case 1: return (long double)(int64_t)word() / 1e15L;
    default: return random_double();
    }
}

static void progress(const char *what, long n)
{
    if (n % 1000 == 0)
        printf("%s %ld %016lx\n", what, n, fold);
}

static void print(long count)
{
    char text[6000];
    for (long n = 1; n <= count; n++) {
        double d = random_double();
        long double l = random_long();
        snprintf(text, sizeof text, "%.17g|%g|%.3f|%e|%a|%.0f|%12.4f", d, d, d, d, d, d, d), mix_text(text);
        snprintf(text, sizeof text, "%.20Lg|%Lg|%.3Le|%La", l, l, l, l), mix_text(text);
        if (fabsl(l) < 1e30L)
            snprintf(text, sizeof text, "%.10Lf|%.0Lf", l, l), mix_text(text);
        if (n < 20)
            puts(text);
        progress("print", n);
    }
}

static void parse(long count)
{
    char text[200], *end;
    for (long n = 1; n <= count; n++) {
        int digits = 1 + word() % 40, point = word() % 41, at = 0;
        if (word() & 1) text[at++] = '-';
        for (int i = 0; i < digits; i++) {
            if (i == point) text[at++] = '.';
            text[at++] = '0' + word() % 10;
        }
        if (word() & 1) at += sprintf(text + at, "e%d", (int)(word() % 700) - 350);
        text[at] = 0;
        mix_double(strtod(text, &end)), mix(end - text);
        mix_float(strtof(text, &end));
        mix_long(strtold(text, &end)), mix(end - text);
        snprintf(text, sizeof text, "%a", random_double()), mix_double(strtod(text, NULL));
        snprintf(text, sizeof text, "%La", random_long()), mix_long(strtold(text, NULL));
        progress("parse", n);
    }
}

static const struct { const char *name; double (*function)(double); } functions[] = {
#define F(name) {#name, name}
    F(sin), F(cos), F(tan), F(asin), F(acos), F(atan), F(sinh), F(cosh), F(tanh), F(asinh), F(acosh), F(atanh), F(exp), F(exp2), F(expm1), F(log), F(log2),
    F(log10), F(log1p), F(sqrt), F(cbrt), F(erf), F(erfc), F(tgamma), F(lgamma), F(floor), F(ceil), F(trunc), F(round), F(rint), F(nearbyint), F(fabs), F(logb), F(j0),
#undef F
};
static const struct { const char *name; double (*function)(double, double); } functions_of_two[] = {
#define F(name) {#name, name}
    F(pow), F(fmod), F(remainder), F(atan2), F(hypot), F(fdim), F(fmax), F(fmin), F(copysign), F(nextafter),
#undef F
};

static void mathematics(long count)
{
    for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++) {
        fold = 1;
        for (long n = 0; n < count; n++) {
            double d = random_double(), small = (double)(int64_t)word() / 9.3e18;
            mix_double(functions[f].function(d)), mix_double(functions[f].function(small)), mix_double(functions[f].function(small * 30));
        }
        printf("%s %016lx\n", functions[f].name, fold);
    }
    for (unsigned f = 0; f < sizeof functions_of_two / sizeof *functions_of_two; f++) {
        fold = 1;
        for (long n = 0; n < count; n++) {
            double a = random_double(), b = random_double(), small = (double)(int64_t)word() / 9.3e18;
            mix_double(functions_of_two[f].function(a, b)), mix_double(functions_of_two[f].function(a, small * 8));
        }
        printf("%s %016lx\n", functions_of_two[f].name, fold);
    }
}

/* What the processor defines to the last bit, and what the C library computes from that alone. */
static void exact(long count)
{
    for (long n = 1; n <= count; n++) {
        volatile long double a = random_long(), b = random_long();
        volatile double d = random_double();
        volatile float f = (float)d;
        int exponent;
        mix_long(a + b), mix_long(a - b), mix_long(a * b), mix_long(a / b), mix_long(-a), mix_long(a * d), mix_long(f - b), mix_long(d / a);
        mix((a < b) | (a <= b) << 1 | (a == b) << 2 | isunordered(a, b) << 3 | (a > d) << 4);
        mix_double((double)a), mix_float((float)a), mix_long((long double)(int64_t)word()), mix_long((long double)(uint64_t)word()), mix_long((int)word());
        if (fabsl(a) < 9e18L) mix((long)a), mix(llrintl(a)), mix(lroundl(a));
        if (fabsl(a) < 2e9L) mix((int)a), mix((unsigned char)(int)a);
        if (a >= 0 && a < 1.8e19L) mix((uint64_t)a);
        mix_long(sqrtl(fabsl(a))), mix_long(floorl(a)), mix_long(ceill(a)), mix_long(truncl(a)), mix_long(rintl(a)), mix_long(roundl(a)), mix_long(fmodl(a, b)), mix_long(remainderl(a, b));
        mix_long(frexpl(a, &exponent)), mix(exponent), mix_long(ldexpl(a, (int)(word() % 200) - 100)), mix_long(logbl(a)), mix(fpclassify(a)), mix(!!signbit(a));
        mix_long(sinl(a)), mix_long(cosl(a)), mix_long(tanl(b)), mix_long(cbrtl(a)), mix_long(hypotl(a, b)), mix_long(fmal(a, b, d)), mix_long(nextafterl(a, b)), mix_long(fdiml(a, b));
        progress("exact", n);
    }
}

static void show(const char *name, long double value)
{
    uint64_t u[2] = {0, 0};
    memcpy(u, &value, 10);
    printf("%s %04lx %016lx\n", name, u[1], u[0]);
}

static void approximate(long count)
{
    for (long n = 0; n < count; n++) {
        volatile long double x = (long double)(int64_t)word() / 9.3e18L, y = (long double)(int64_t)word() / 9.3e17L, z = fabsl(random_long());
        show("expl", expl(y * 10)), show("exp2l", exp2l(y)), show("expm1l", expm1l(x)), show("logl", logl(z)), show("log2l", log2l(z)), show("log10l", log10l(z));
        show("log1pl", log1pl(x)), show("atanl", atanl(y)), show("atan2l", atan2l(y, x)), show("asinl", asinl(x)), show("acosl", acosl(x)), show("powl", powl(fabsl(y), x * 20));
    }
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? atol(argv[2]) : 100;
    const char *what = argc > 1 ? argv[1] : "print";
    if (!strcmp(what, "print")) print(count);
    if (!strcmp(what, "parse")) parse(count);
    if (!strcmp(what, "mathematics")) mathematics(count);
    if (!strcmp(what, "exact")) exact(count);
    if (!strcmp(what, "approximate")) approximate(count);
    printf("%s %ld %016lx\n", what, count, fold);
    return 0;
}
