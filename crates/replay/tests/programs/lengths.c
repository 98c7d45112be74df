/* Strings in blocks of exactly their size, at every offset, through the routines of the C library that read more than they need.
   "fit": each length and offset, with the terminator as the last byte of its block. Otherwise the standard input says which
   one: a function, a length and an offset; then the block is too short by the terminator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define FUNCTIONS 21

static char elsewhere[512];
static wchar_t wide_elsewhere[512];
static char printed[512];
static volatile size_t result;

static void probe(int function, char *s, size_t length) {
    wchar_t *w = (wchar_t *)s;
    switch (function) {
    case 0: result = strlen(s); break;
    case 1: result = (size_t)strchr(s, 'z'); break;
    case 2: result = strcmp(s, elsewhere); break;
    case 3: strcpy(printed, s); break;
    case 4: result = (size_t)memchr(s, 'z', length + 1); break;
    case 5: result = memcmp(s, elsewhere, length + 1); break;
    case 6: result = (size_t)strstr(s, "xz"); break;
    case 7: result = wcslen(w); break;
    case 8: result = snprintf(printed, sizeof printed, "%s", s); break;
    case 9: result = strcmp(elsewhere, s); break;
    case 10: result = (size_t)strrchr(s, 'z'); break;
    case 11: result = strncmp(s, elsewhere, length + 1); break;
    case 12: result = strcasecmp(s, elsewhere); break;
    case 13: result = strspn(s, "xy"); break;
    case 14: result = strcspn(s, "ab"); break;
    case 15: result = (size_t)wcschr(w, L'z'); break;
    case 16: result = wcscmp(w, wide_elsewhere); break;
    case 17: strncpy(printed, s, length + 1); break;
    case 18: printed[0] = 0; strcat(printed, s); break;
    case 19: result = (size_t)strdup(s); free((void *)result); break;
    case 20: result = strnlen(s, length + 1); break;
    }
}

static int is_wide(int function) {
    return function == 7 || function == 15 || function == 16;
}

static void try_one(int function, size_t length, size_t offset, int lacks) {
    size_t width = is_wide(function) ? sizeof(wchar_t) : 1;
    size_t bytes = (length + !lacks) * width;
    offset = offset / width * width;
    char *block = malloc(offset + bytes);
    for (size_t i = 0; i < length; i++) {
        if (is_wide(function))
            ((wchar_t *)(block + offset))[i] = L'x';
        else
            block[offset + i] = 'x';
    }
    if (!lacks)
        memset(block + offset + bytes - width, 0, width);
    memset(elsewhere, 'x', length);
    elsewhere[length] = 0;
    wmemset(wide_elsewhere, L'x', length);
    wide_elsewhere[length] = 0;
    probe(function, block + offset, length);
    free(block);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        for (int function = 0; function < FUNCTIONS; function++)
            for (size_t length = 0; length <= 200; length++)
                for (size_t offset = 0; offset < 64; offset++)
                    try_one(function, length, offset, 0);
        puts("all fit");
        return 0;
    }
    int function, length, offset;
    if (scanf("%d %d %d", &function, &length, &offset) == 3)
        try_one(function, length, offset, 1);
    return 0;
}
