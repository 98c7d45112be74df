/* The allocator under stress: sizes from a byte to megabytes, all of the family, contents checked throughout. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 400, ROUNDS = 40000 };
static struct { unsigned char *bytes; size_t size; unsigned char fill; } slots[SLOTS];

static uint32_t state = 99;
static uint32_t next(void) { return (state = state * 1664525u + 1013904223u) >> 8; }

static void check(int slot)
{
    for (size_t i = 0; i < slots[slot].size; i += 1 + slots[slot].size / 50)
        if (slots[slot].bytes[i] != slots[slot].fill) {
            printf("slot %d is damaged at %zu\n", slot, i);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    size_t total = 0, peak = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int slot = next() % SLOTS;
        size_t size = next() % 100 == 0 ? next() % 500000 : next() % 10 == 0 ? next() % 20000 : next() % 300;
        check(slot);
        switch (next() % 5) {
        case 0:
            free(slots[slot].bytes);
            slots[slot].bytes = malloc(size);
            break;
        case 1: {
            size_t kept = slots[slot].size < size ? slots[slot].size : size;
            slots[slot].bytes = realloc(slots[slot].bytes, size + 1);
            for (size_t i = 0; i < kept; i += 97)
                if (slots[slot].bytes[i] != slots[slot].fill)
                    return puts("realloc lost bytes"), 1;
            break;
        }
        case 2:
            free(slots[slot].bytes);
            slots[slot].bytes = calloc(size / 8 + 1, 8);
            for (size_t i = 0; i < size; i += 61)
                if (slots[slot].bytes[i])
                    return puts("calloc is not zero"), 1;
            break;
        case 3: {
            size_t alignment = (size_t)16 << next() % 8;
            free(slots[slot].bytes);
            if (posix_memalign((void **)&slots[slot].bytes, alignment, size + 1) || (uintptr_t)slots[slot].bytes % alignment)
                return puts("not aligned"), 1;
            break;
        }
        default:
            free(slots[slot].bytes);
            slots[slot].bytes = NULL;
            size = 0;
        }
        total += size - slots[slot].size;
        peak = total > peak ? total : peak;
        slots[slot].size = size;
        slots[slot].fill = (unsigned char)next();
        if (slots[slot].bytes)
            memset(slots[slot].bytes, slots[slot].fill, size);
        if (slots[slot].bytes && malloc_usable_size(slots[slot].bytes) < size)
            return puts("too small"), 1;
    }
    printf("%zu live, %zu at most\n", total, peak);
    char *huge = malloc(64 << 20);
    huge[0] = huge[63 << 20] = 'h';
    huge = realloc(huge, 96 << 20);
    printf("%c%c\n", huge[0], huge[63 << 20]);
    free(huge);
    printf("%d %d\n", malloc(SIZE_MAX / 2) == NULL, calloc(SIZE_MAX / 4, 8) == NULL);
    if (argc > 1)
        return 0;
    struct mallinfo2 info = mallinfo2();
    printf("%d\n", info.uordblks >= total);
    return 0;
}
