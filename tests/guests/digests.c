/* Typical integer work: CRC-32, SHA-256, RC4, base 64, a sieve, big numbers, edit distance, Life. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t data[20000];

static uint32_t crc32(const uint8_t *bytes, size_t count)
{
    uint32_t table[256], crc = ~0u;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] & 1 ? 0xedb88320 ^ table[i] >> 1 : table[i] >> 1;
    }
    while (count--)
        crc = table[(crc ^ *bytes++) & 255] ^ crc >> 8;
    return ~crc;
}

static uint32_t rotate(uint32_t v, int n) { return v >> n | v << (32 - n); }

static void sha256(const uint8_t *bytes, size_t count, uint32_t h[8])
{
    uint32_t k[64];
    int n = 0;
    /* The constants are the fractional parts of cube and square roots of primes; integer roots give them exactly. */
    for (int p = 2; n < 64; p++) {
        int prime = 1;
        for (int q = 2; q * q <= p; q++)
            if (p % q == 0) prime = 0;
        if (!prime) continue;
        unsigned __int128 target = (unsigned __int128)p << 96, square = (unsigned __int128)p << 64;
        uint64_t low = 0, high = (uint64_t)1 << 36;
        while (high - low > 1) {
            uint64_t middle = (low + high) / 2;
            if ((unsigned __int128)middle * middle * middle <= target) low = middle; else high = middle;
        }
        k[n] = (uint32_t)low;
        if (n < 8) {
            low = 0; high = (uint64_t)1 << 37;
            while (high - low > 1) {
                uint64_t middle = (low + high) / 2;
                if ((unsigned __int128)middle * middle <= square) low = middle; else high = middle;
            }
            h[n] = (uint32_t)low;
        }
        n++;
    }
    size_t padded = (count + 72) / 64 * 64;
    uint8_t *message = calloc(padded, 1);
    memcpy(message, bytes, count);
    message[count] = 0x80;
    for (int i = 0; i < 8; i++)
        message[padded - 1 - i] = (uint8_t)((uint64_t)count * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)message[at + 4 * i] << 24 | message[at + 4 * i + 1] << 16 | message[at + 4 * i + 2] << 8 | message[at + 4 * i + 3];
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
            uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++)
            h[i] += v[i];
    }
    free(message);
}

static void rc4(const char *key, uint8_t *bytes, size_t count)
{
    uint8_t s[256], j = 0;
    for (int i = 0; i < 256; i++) s[i] = (uint8_t)i;
    for (int i = 0; i < 256; i++) {
        j += s[i] + (uint8_t)key[i % strlen(key)];
        uint8_t t = s[i]; s[i] = s[j]; s[j] = t;
    }
    uint8_t i = 0; j = 0;
    while (count--) {
        j += s[++i];
        uint8_t t = s[i]; s[i] = s[j]; s[j] = t;
        *bytes++ ^= s[(uint8_t)(s[i] + s[j])];
    }
}

static int distance(const char *a, const char *b)
{
    int rows[2][100];
    size_t la = strlen(a), lb = strlen(b);
    for (size_t j = 0; j <= lb; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        rows[i & 1][0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int best = rows[~i & 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (rows[~i & 1][j] + 1 < best) best = rows[~i & 1][j] + 1;
            if (rows[i & 1][j - 1] + 1 < best) best = rows[i & 1][j - 1] + 1;
            rows[i & 1][j] = best;
        }
    }
    return rows[la & 1][lb];
}

static void factorial(int n)
{
    static uint32_t digits[600];
    int length = 1;
    digits[0] = 1;
    for (int f = 2; f <= n; f++) {
        uint64_t carry = 0;
        for (int i = 0; i < length || carry; i++) {
            carry += (uint64_t)digits[i] * f;
            digits[i] = (uint32_t)(carry % 1000000000);
            carry /= 1000000000;
            if (i >= length) length = i + 1;
        }
    }
    printf("%u", digits[length - 1]);
    for (int i = length - 1; i-- > 0;)
        printf("%09u", digits[i]);
    putchar('\n');
}

int main(void)
{
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3 ^ i);
    uint32_t hash[8];
    sha256((const uint8_t *)"abc", 3, hash);
    printf("%08x %08x %08x\n", crc32((const uint8_t *)"123456789", 9), hash[0], hash[7]);
    sha256(data, sizeof data, hash);
    for (int i = 0; i < 8; i++) printf("%08x", hash[i]);
    rc4("whydunit", data, sizeof data);
    printf("\n%08x\n", crc32(data, sizeof data));
    static char composite[200001];
    int primes = 0;
    for (int p = 2; p <= 200000; p++)
        if (!composite[p]) {
            primes++;
            for (long q = (long)p * p; q <= 200000; q += p) composite[q] = 1;
        }
    printf("%d %d\n", primes, distance("the cause of the failure", "because the failing fault"));
    factorial(300);
    static char grid[2][66][66];
    for (int i = 0; i < 64 * 64; i++) grid[0][1 + i / 64][1 + i % 64] = data[i] & 1;
    for (int round = 0; round < 50; round++)
        for (int y = 1; y <= 64; y++)
            for (int x = 1; x <= 64; x++) {
                int around = 0;
                for (int d = 0; d < 9; d++) around += grid[round & 1][y - 1 + d / 3][x - 1 + d % 3];
                grid[~round & 1][y][x] = around == 3 || around == 4 && grid[round & 1][y][x];
            }
    int alive = 0;
    for (int i = 0; i < 66 * 66; i++) alive += grid[0][i / 66][i % 66];
    printf("%d alive\n", alive);
    return 0;
}
