/* All functions that allocate memory, by what they promise: no address is printed. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t huge = SIZE_MAX / 2 + 10;

static int is_zero(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i]) return 0;
    return 1;
}

static void failures(void) {
    errno = 0;
    printf("malloc %d", malloc(huge) == 0), printf(" %d\n", errno == ENOMEM);
    errno = 0;
    printf("calloc %d", calloc(huge, 4) == 0), printf(" %d\n", errno == ENOMEM);
    errno = 0;
    char *p = malloc(10);
    strcpy(p, "kept");
    printf("realloc %d", realloc(p, huge) == 0), printf(" %d %s\n", errno == ENOMEM, p);
    errno = 0;
    printf("reallocarray %d", reallocarray(p, huge, 8) == 0), printf(" %d %s\n", errno == ENOMEM, p);
    free(p);
    void *q = &q;
    printf("posix_memalign %d %d", posix_memalign(&q, 24, 10) == EINVAL, posix_memalign(&q, 64, huge) == ENOMEM);
    printf(" %d\n", q == &q);
    errno = 7;
    free(0);
    free(malloc(3));
    printf("free keeps errno %d\n", errno == 7);
}

static void alignments(void) {
    for (size_t alignment = 8; alignment <= 8192; alignment *= 2) {
        void *p = 0;
        int failed = posix_memalign(&p, alignment, 100);
        char *q = memalign(alignment, 33), *r = aligned_alloc(alignment, alignment * 2);
        memset(p, 1, 100), memset(q, 2, 33), memset(r, 3, alignment * 2);
        printf("%zu: %d %d %d %d\n", alignment, failed, (uintptr_t)p % alignment == 0, (uintptr_t)q % alignment == 0,
               (uintptr_t)r % alignment == 0);
        free(p), free(q), free(r);
    }
    char *page = valloc(10);
    printf("valloc %d\n", (uintptr_t)page % 4096 == 0);
    free(page);
}

int main(void) {
    for (size_t size = 0; size < 5000; size = size * 3 / 2 + 1) {
        char *p = malloc(size), *q = calloc(size, 3);
        memset(p, 'p', size);
        int zero = is_zero(q, size * 3);
        memset(q, 'q', size * 3);
        p = realloc(p, size * 2 + 1);
        int kept = size == 0 || (p[0] == 'p' && p[size - 1] == 'p');
        q = realloc(q, size + 1);
        printf("%zu: %d %d %d %d %d\n", size, zero, kept, size == 0 || q[size - 1] == 'q',
               (uintptr_t)p % 16 == 0, malloc_usable_size(p) >= size * 2 + 1);
        free(p), free(q);
    }
    char *grown = 0;
    size_t length = 0;
    for (int i = 0; i < 1000; i++) {
        grown = realloc(grown, length + 7);
        length += sprintf(grown + length, "%d ", i);
    }
    printf("%zu %.20s\n", length, grown + length - 20);
    free(grown);
    char *large = calloc(1, 3 << 20);
    printf("large %d\n", is_zero(large, 3 << 20));
    large = realloc(large, 5 << 20);
    printf("large %d\n", is_zero(large, 3 << 20));
    free(large);
    char *line = 0;
    size_t room = 0;
    printf("getline %zd\n", getline(&line, &room, stdin));
    free(line);
    char *made = 0;
    printf("asprintf %d %s\n", asprintf(&made, "%d-%s", 42, "text"), made);
    free(made);
    failures();
    alignments();
    return 0;
}
