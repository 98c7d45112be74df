#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers of all widths, with every operator. */
struct packed { unsigned low : 5, middle : 11, high : 16; };

static unsigned mix(unsigned a, unsigned b, int by)
{
    unsigned rotated = (a << (by & 31)) | (a >> (-by & 31));
    return (rotated ^ b) * 2654435761u + (a & b) - (a | ~b);
}

static long divide(long a, int b)
{
    if (b == 0)
        return -1;
    return a / b * 1000 + a % b;
}

static int constants(int n)
{
    unsigned u = n;
    return n / 10 + n % 7 + n / 3 - n / 1000 + u / 10 + u % 100 + u / 7 + (short)n / 5 + n / 8 + n % 16;
}

/* Loops that compilers turn into vector code. */
static unsigned lanes(int a, int b)
{
    static int wide[32];
    static short narrow[32];
    static unsigned char bytes[32];
    unsigned sum = 0;
    for (int n = 0; n < 32; n++) {
        wide[n] = a * n + b;
        narrow[n] = (short)(wide[n] >> 2);
        bytes[n] = (unsigned char)(a ^ n);
    }
    for (int n = 0; n < 32; n++)
        sum += (wide[n] > narrow[n] ? wide[n] : narrow[n]) + (bytes[n] < 100 ? bytes[n] : 100);
    for (int n = 0; n < 32; n++)
        sum ^= (unsigned)narrow[n] * narrow[31 - n] + (wide[n] == b) - (bytes[n] << 3);
    return sum;
}

int main(void)
{
    char line[64];
    long sum = 0;
    while (fgets(line, sizeof line, stdin)) {
        int a = atoi(line), b = 0;
        char *space = strchr(line, ' ');
        if (space)
            b = (int)strtol(space + 1, 0, 10);
        struct packed bits = { a, b, a ^ b };
        bits.middle += bits.low * 3;
        signed char small = (signed char)(a * b);
        unsigned short medium = (unsigned short)(a - b);
        unsigned __int128 wide = (unsigned __int128)(unsigned long)a * (unsigned long)(b + 77777);
        sum += mix(a, b, a % 37) + divide((long)a * b, b) + constants(a - b);
        sum += bits.low + bits.middle * 2 + bits.high + small + medium;
        sum ^= (long)(wide >> 61) + __builtin_popcount(a) + __builtin_bswap32(b);
        sum += a < b ? 1 : a > 3 * b ? 2 : a == b ? 3 : 4;
        sum += ((unsigned)a <= (unsigned)b) + lanes(a, b);
        if (a != 0)
            sum += __builtin_ctz(a) + __builtin_clz(a);
        printf("%ld %d\n", sum, a > b && sum % 3 == 0);
    }
    return (int)(sum & 63);
}
