/* Computes without deciding anything by what it computes: a straight line of definitions, as long as it is told. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    unsigned first = 0, second = 1, third = 2;

    if (fread(&first, sizeof first, 1, stdin) != 1)
        return 1;
    for (long i = 0; i < rounds; i++) {
        unsigned sum = first + 3 * second;
        third = third ^ (sum >> 2);
        first = second - (unsigned)i;
        second = third + (sum & 0xff);
    }
    printf("%u %u %u\n", first, second, third);
    return 0;
}
