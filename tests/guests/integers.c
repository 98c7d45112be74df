/* Integer arithmetic in all widths, signed and unsigned, with corner values: each operation's results are folded into a checksum. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t fold;

static void mix(uint64_t value)
{
    fold = (fold ^ value) * 0x100000001b3u;
    fold ^= fold >> 29;
}

#define CORNERS(type) \
    { (type)0, (type)1, (type)2, (type)3, (type)7, (type)8, (type)15, (type)16, (type)31, (type)32, (type)63, (type)64, (type)127, (type)128, \
      (type)255, (type)256, (type)32767, (type)32768, (type)65535, (type)65536, (type)2147483647, (type)2147483648u, (type)4294967295u, \
      (type)4294967296u, (type)9223372036854775807u, (type)9223372036854775808u, (type)-1, (type)-2, (type)-3, (type)-128, (type)-129, \
      (type)0x123456789abcdef0u, (type)0xdeadbeefcafebabeu }

#define TORTURE(name, type, other, bits)                                                       \
    static void name(void)                                                                     \
    {                                                                                          \
        static const type values[] = CORNERS(type);                                            \
        const int count = sizeof values / sizeof *values;                                      \
        for (int i = 0; i < count; i++) {                                                      \
            volatile type a = values[i];                                                       \
            mix((type)~a); mix((type)(0u - (uint64_t)a)); mix(!a); mix((type)(a + 1u)); mix((type)(a - 1u)); \
            for (int shift = 0; shift < bits; shift++) {                                       \
                mix((type)((uint64_t)a << shift));                                             \
                mix((type)(a >> shift));                                                       \
                mix((type)(((other)a << shift) | ((other)a >> ((bits - shift) & (bits - 1))))); \
            }                                                                                  \
            for (int j = 0; j < count; j++) {                                                  \
                volatile type b = values[j];                                                   \
                type sum, difference, product;                                                 \
                mix(__builtin_add_overflow(a, b, &sum)); mix((uint64_t)sum);                   \
                mix(__builtin_sub_overflow(a, b, &difference)); mix((uint64_t)difference);     \
                mix(__builtin_mul_overflow(a, b, &product)); mix((uint64_t)product);           \
                mix((type)(a & b)); mix((type)(a | b)); mix((type)(a ^ b)); mix((type)(a & ~b)); \
                mix(a < b); mix(a <= b); mix(a > b); mix(a >= b); mix(a == b); mix(a != b);    \
                mix((uint64_t)(a < b ? a : b));                                                \
                if (b != 0 && !((other)-1 != (other)0 && (type)-1 < (type)0 && b == (type)-1)) { \
                    mix((uint64_t)(type)(a / b)); mix((uint64_t)(type)(a % b));                \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
        printf("%-8s %016llx\n", #name, (unsigned long long)fold);                             \
    }

TORTURE(u8, uint8_t, uint8_t, 8)
TORTURE(s8, int8_t, uint8_t, 8)
TORTURE(u16, uint16_t, uint16_t, 16)
TORTURE(s16, int16_t, uint16_t, 16)
TORTURE(u32, uint32_t, uint32_t, 32)
TORTURE(s32, int32_t, uint32_t, 32)
TORTURE(u64, uint64_t, uint64_t, 64)
TORTURE(s64, int64_t, uint64_t, 64)

static void wide(void)
{
    static const uint64_t values[] = CORNERS(uint64_t);
    const int count = sizeof values / sizeof *values;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            volatile uint64_t a = values[i], b = values[j];
            unsigned __int128 product = (unsigned __int128)a * b;
            __int128 product_signed = (__int128)(int64_t)a * (int64_t)b;
            unsigned __int128 sum = product + ((unsigned __int128)b << 64 | a);
            mix(product); mix(product >> 64);
            mix(product_signed); mix(product_signed >> 64);
            mix(sum); mix(sum >> 64); mix(sum << (b & 127)); mix(product_signed >> (a & 127));
            if (b)
                mix(sum / b), mix(sum % b), mix((uint64_t)(product_signed / (__int128)b));
        }
    printf("%-8s %016llx\n", "wide", (unsigned long long)fold);
}

static void bits(void)
{
    static const uint64_t values[] = CORNERS(uint64_t);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        volatile uint64_t a = values[i];
        volatile uint32_t b = (uint32_t)a;
        mix(__builtin_popcountll(a)); mix(__builtin_parityll(a)); mix(__builtin_bswap64(a)); mix(__builtin_bswap32(b));
        mix(__builtin_bswap16((uint16_t)b)); mix(__builtin_ffsll(a)); mix(__builtin_ffs(b));
        if (a)
            mix(__builtin_clzll(a)), mix(__builtin_ctzll(a));
        if (b)
            mix(__builtin_clz(b)), mix(__builtin_ctz(b));
        mix((uint64_t)(int64_t)(int8_t)a); mix((uint64_t)(int64_t)(int16_t)a); mix((uint64_t)(int64_t)(int32_t)a); mix((uint8_t)a); mix((uint16_t)a);
    }
    struct { signed a : 3; unsigned b : 7; signed long c : 41; unsigned d : 1; } field = {0};
    for (int i = -20; i < 200; i++) {
        field.a = i; field.b = i * 3; field.c = (long)i << 33; field.d = i;
        mix(field.a); mix(field.b); mix(field.c); mix(field.d);
    }
    printf("%-8s %016llx\n", "bits", (unsigned long long)fold);
}

/* Divisions by constants become multiplications; switches become tables. */
static void constants(void)
{
    for (int64_t i = -100000; i < 100000; i += 37) {
        volatile int32_t v = (int32_t)(i * 20011);
        volatile uint32_t u = (uint32_t)v;
        volatile int64_t w = i * 90000000001;
        mix(v / 3); mix(v % 7); mix(v / 10); mix(v / -12); mix(v % 1000); mix(u / 3); mix(u / 7); mix(u % 10); mix(u / 641);
        mix(w / 10); mix(w % 60); mix((uint64_t)w / 7); mix((uint64_t)w % 1000000007);
        switch (v & 15) {
        case 0: mix(1); break; case 1: mix(10); break; case 2: mix(100); break; case 3: mix(1000); break;
        case 5: mix(5); /* falls through */ case 6: mix(6); break; case 9: mix(9); break; case 11: mix(11); break;
        default: mix(0);
        }
    }
    printf("%-8s %016llx\n", "const", (unsigned long long)fold);
}

int main(void)
{
    u8(); s8(); u16(); s16(); u32(); s32(); u64(); s64();
    wide(); bits(); constants();
    printf("%d %u %ld %lu %lld %x %o\n", INT_MIN, UINT_MAX, LONG_MIN, ULONG_MAX, LLONG_MAX, INT_MIN, UINT_MAX);
    return 0;
}
