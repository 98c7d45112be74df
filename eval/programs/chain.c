/* A calculation that depends on its input from the first step to the last, and takes the same way whatever the input is.
   chain STEPS: reads sixteen bytes; a step makes nine results at -O0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    uint32_t n[4];
    if (argc != 2 || read(0, n, sizeof n) != sizeof n)
        return 2;
    for (long left = atol(argv[1]); left > 0; left--) {
        n[0] += n[1] ^ (uint32_t)left;
        n[1] = (n[1] << 5 | n[1] >> 27) - n[2];
        n[2] += n[3] * 9 + 1;
        n[3] ^= n[0] & n[2];
    }
    printf("%u\n", n[0] ^ n[1] ^ n[2] ^ n[3]);
    return 0;
}
