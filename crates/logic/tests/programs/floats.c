#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Singles, doubles and 80 bits, with comparisons and conversions. */
static double area(double a, double b, double c)
{
    double half = (a + b + c) / 2;
    double product = half * (half - a) * (half - b) * (half - c);
    return product > 0 ? sqrt(product) : -1;
}

static float blend(float a, float b, int weight)
{
    float t = weight / 100.0f;
    return a * (1 - t) + b * t;
}

static long double series(long double x, int steps)
{
    long double sum = 0, term = 1;
    for (int n = 1; n <= steps; n++) {
        sum += term;
        term = term * x / n;
        if (term < 0)
            term = -term;
    }
    return sum;
}

int main(void)
{
    double a, b, c, total = 0;
    float vector[8];
    while (scanf("%lf %lf %lf", &a, &b, &c) == 3) {
        double size = area(a, b, c);
        float mixed = blend((float)a, (float)b, (int)c);
        long double sum = series((long double)c / 8, 6);
        for (int n = 0; n < 8; n++)
            vector[n] = mixed * n + (float)size;
        for (int n = 0; n < 8; n++)
            total += vector[n] > 3 ? vector[n] : -vector[n];
        total += (double)sum + fabs(a - b) + floor(c) + (double)(long)(a * 1e6) + (int)(float)b;
        total += (a == b) + 2 * (a != c) + 4 * (b <= c) + 8 * (unsigned)(c + 1) + fmax(a, b) + (double)lrint(b);
        printf("%.2f %d %g %Lf\n", size, size > mixed, mixed, sum);
    }
    printf("%f\n", total);
    return 0;
}
