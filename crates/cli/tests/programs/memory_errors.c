/* One memory error each: "memory_errors NAME bad" makes it, "memory_errors NAME good" does the same without it, and
   "memory_errors list" says which there are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static volatile long sink;
static char global[40];
static char global_after[40];

/* The compiler must not know what a pointer or a number is. */
static void *hide(void *pointer) {
    void *volatile hidden = pointer;
    return hidden;
}

static long number(long value) {
    volatile long hidden = value;
    return hidden;
}

static char *filled(size_t size) {
    char *block = hide(malloc(size));
    memset(block, 'x', size);
    return block;
}

static char *text(const char *content, int terminated) {
    size_t length = strlen(content);
    char *block = hide(malloc(length + !!terminated));
    memcpy(block, content, length + !!terminated);
    return block;
}

#define CASE(name) static void name(int bad)

CASE(write_after_byte) { char *p = filled(40); p[number(bad ? 40 : 39)] = 1; free(p); }
CASE(write_after_int) { int *p = hide(malloc(10 * sizeof *p)); p[number(bad ? 10 : 9)] = 1; free(p); }
CASE(write_after_long) { long *p = hide(malloc(8 * sizeof *p)); p[number(bad ? 8 : 7)] = 1; free(p); }
CASE(write_after_12) { char *p = filled(40); p[number(bad ? 52 : 12)] = 1; free(p); }
CASE(write_half_after) { char *p = filled(42); *(int *)(p + number(bad ? 40 : 36)) = 1; free(p); }
CASE(write_before_byte) { char *p = filled(40); p[number(bad ? -1 : 0)] = 1; free(p); }
CASE(write_before_long) { long *p = (long *)filled(40); p[number(bad ? -1 : 0)] = 1; free(p); }
CASE(read_after_byte) { char *p = filled(40); sink = p[number(bad ? 40 : 39)]; free(p); }
CASE(read_after_int) { int *p = (int *)filled(40); sink = p[number(bad ? 10 : 9)]; free(p); }
CASE(read_before_byte) { char *p = filled(40); sink = p[number(bad ? -1 : 0)]; free(p); }
CASE(read_before_16) { char *p = filled(40); sink = p[number(bad ? -16 : 16)]; free(p); }
CASE(loop_one_too_far) {
    int *p = hide(malloc(10 * sizeof *p));
    for (long i = 0; i < number(bad ? 11 : 10); i++) p[i] = i;
    free(p);
}
CASE(loop_down_too_far) {
    int *p = hide(malloc(10 * sizeof *p));
    for (long i = 9; i >= number(bad ? -1 : 0); i--) p[i] = i;
    free(p);
}
CASE(struct_in_too_small_block) {
    struct pair { long a, b; } *p = hide(malloc(number(bad ? sizeof(long) : sizeof *p)));
    p->a = 1;
    p->b = 2;
    free(p);
}
CASE(size_of_the_pointer) {
    double *p = hide(malloc(number(bad ? sizeof p : 4 * sizeof *p)));
    for (int i = 0; i < 4; i++) p[i] = i;
    free(p);
}
CASE(no_room_for_the_zero) {
    const char *name = hide("eight of");
    char *p = hide(malloc(strlen(name) + !bad));
    strcpy(p, name);
    free(p);
}
CASE(calloc_after) { int *p = hide(calloc(5, sizeof *p)); sink = p[number(bad ? 5 : 4)]; free(p); }
CASE(matrix_row) {
    int **rows = hide(malloc(3 * sizeof *rows));
    for (int i = 0; i < 3; i++) rows[i] = hide(calloc(4, sizeof **rows));
    rows[number(1)][number(bad ? 4 : 3)] = 7;
    for (int i = 0; i < 3; i++) free(rows[i]);
    free(rows);
}
CASE(empty_block) { char *p = hide(malloc(number(bad ? 0 : 1))); p[0] = 1; free(p); }
CASE(flexible_array) {
    struct list { long count; int items[]; } *p = hide(malloc(sizeof *p + number(bad ? 2 : 3) * sizeof(int)));
    p->count = 3;
    p->items[number(2)] = 1;
    free(p);
}
CASE(large_block_after) { char *p = hide(malloc(300000)); p[number(bad ? 300000 : 299999)] = 1; free(p); }
CASE(large_block_before) { char *p = hide(malloc(300000)); p[number(bad ? -8 : 8)] = 1; free(p); }
CASE(aligned_after) { char *p = hide(aligned_alloc(64, 128)); p[number(bad ? 128 : 127)] = 1; free(p); }
CASE(posix_aligned_after) {
    void *p = 0;
    if (posix_memalign(&p, 256, 100)) return;
    ((char *)hide(p))[number(bad ? 100 : 99)] = 1;
    free(p);
}
CASE(memalign_before) { char *p = hide(memalign(128, 100)); p[number(bad ? -1 : 1)] = 1; free(p); }
CASE(realloc_shrunk) { char *p = filled(100); p = hide(realloc(p, 50)); p[number(bad ? 60 : 40)] = 1; free(p); }
CASE(realloc_grown) { char *p = filled(50); p = hide(realloc(p, 100)); p[number(bad ? 100 : 99)] = 1; free(p); }
CASE(usable_size) { char *p = filled(33); p[number(bad ? 33 : malloc_usable_size(p) ? 32 : 0)] = 1; free(p); }

CASE(memcpy_target) { char *p = filled(20), *q = filled(40); memcpy(p, q, number(bad ? 24 : 20)); free(p); free(q); }
CASE(memcpy_source) { char *p = filled(40), *q = filled(20); memcpy(p, q, number(bad ? 24 : 20)); free(p); free(q); }
CASE(memmove_target) { char *p = filled(40); memmove(p + number(bad ? 4 : 2), p, 38); free(p); }
CASE(memset_after) { char *p = hide(malloc(100)); memset(p, 0, number(bad ? 101 : 100)); free(p); }
CASE(memset_large_after) { char *p = hide(malloc(5000)); memset(p, 0, number(bad ? 5008 : 5000)); free(p); }
CASE(strcpy_target) { char *p = hide(malloc(number(bad ? 5 : 6))); strcpy(p, hide("hello")); free(p); }
CASE(strcat_target) { char *p = hide(malloc(number(bad ? 10 : 11))); strcpy(p, "hello"); strcat(p, hide("world")); free(p); }
CASE(strncpy_target) { char *p = hide(malloc(8)); strncpy(p, hide("hello"), number(bad ? 12 : 8)); free(p); }
CASE(sprintf_target) { char *p = hide(malloc(8)); sprintf(p, "%ld", number(bad ? 123456789 : 1234567)); free(p); }
CASE(snprintf_target) { char *p = hide(malloc(8)); snprintf(p, number(bad ? 40 : 8), "%s", "a longer text"); free(p); }
CASE(strlen_no_end) { char *p = text("hello", !bad); sink = strlen(p); free(p); }
CASE(strlen_no_end_16) { char *p = text("sixteen letters!", !bad); sink = strlen(p); free(p); }
CASE(strchr_no_end) { char *p = text("hello", !bad); sink = (long)strchr(p, 'z'); free(p); }
CASE(strrchr_no_end) { char *p = text("hello", !bad); sink = (long)strrchr(p, 'z'); free(p); }
CASE(strcmp_no_end) { char *p = text("hello", !bad); sink = strcmp(p, hide("hello, world")); free(p); }
CASE(strncmp_no_end) { char *p = text("hello", !bad); sink = strncmp(p, hide("hello, world"), 20); free(p); }
CASE(strstr_no_end) { char *p = text("hello", !bad); sink = (long)strstr(p, hide("low")); free(p); }
CASE(strdup_no_end) { char *p = text("hello", !bad); free(hide(strdup(p))); free(p); }
CASE(strcpy_source) { char *p = text("hello", !bad), to[40]; strcpy(to, p); free(p); }
CASE(printf_no_end) { char *p = text("hello", !bad), to[99]; sink = snprintf(to, sizeof to, "%s", p); free(p); }
CASE(puts_no_end) { char *p = text("hello", !bad); puts(p); free(p); }
CASE(memchr_after) { char *p = filled(20); sink = (long)memchr(p, 'z', number(bad ? 24 : 20)); free(p); }
CASE(memcmp_after) { char *p = filled(20), *q = filled(40); sink = memcmp(p, q, number(bad ? 24 : 20)); free(p); free(q); }
CASE(wcslen_no_end) {
    wchar_t *p = hide(malloc(4 * sizeof *p));
    wmemset(p, L'x', 4);
    if (!bad) p[3] = 0;
    sink = wcslen(p);
    free(p);
}
CASE(system_read) {
    char *p = hide(malloc(20));
    int zero = open("/dev/zero", O_RDONLY);
    sink = read(zero, p, number(bad ? 24 : 20));
    close(zero);
    free(p);
}
CASE(system_write) {
    char *p = filled(20);
    int null = open("/dev/null", O_WRONLY);
    sink = write(null, p, number(bad ? 24 : 20));
    close(null);
    free(p);
}
CASE(stream_read) {
    char *p = hide(malloc(20));
    FILE *zero = fopen("/dev/zero", "r");
    sink = fread(p, 1, number(bad ? 24 : 20), zero);
    fclose(zero);
    free(p);
}
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
CASE(qsort_count) {
    int *p = hide(malloc(10 * sizeof *p));
    for (int i = 0; i < 10; i++) p[i] = 10 - i;
    qsort(p, number(bad ? 11 : 10), sizeof *p, compare);
    free(p);
}

CASE(read_freed) { char *p = filled(40); char c = p[0]; free(p); sink = bad ? ((char *)hide(p))[0] : c; }
CASE(write_freed) { char *p = filled(40); if (!bad) p[8] = 1; free(p); if (bad) ((char *)hide(p))[8] = 1; }
CASE(read_freed_large) { char *p = filled(300000); char c = p[9]; free(p); sink = bad ? ((char *)hide(p))[9] : c; }
struct node { struct node *next; long value; };
CASE(list_freed_in_loop) {
    struct node *list = 0;
    for (int i = 0; i < 3; i++) {
        struct node *node = hide(malloc(sizeof *node));
        node->next = list;
        list = node;
    }
    while (list) {
        struct node *next = list->next;
        free(list);
        list = bad ? ((struct node *)hide(list))->next : next;
    }
}
CASE(old_pointer_after_realloc) {
    int *p = hide(malloc(40)), *element = &p[2];
    p = hide(realloc(p, 4000));
    if (!bad) element = &p[2];
    *element = 7;
    free(p);
}
CASE(strcpy_from_freed) { char *p = text("hello", 1), to[40]; if (bad) free(p); strcpy(to, hide(p)); if (!bad) free(p); }
CASE(strlen_of_freed) { char *p = text("hello", 1); if (bad) free(p); sink = strlen(hide(p)); if (!bad) free(p); }
CASE(memcpy_to_freed) { char *p = filled(40), *q = filled(40); if (bad) free(p); memcpy(hide(p), q, 40); if (!bad) free(p); free(q); }
CASE(print_freed) { char *p = text("hello", 1); if (bad) free(p); printf("%s\n", (char *)hide(p)); if (!bad) free(p); }
CASE(system_write_freed) {
    char *p = filled(40);
    int null = open("/dev/null", O_WRONLY);
    if (bad) free(p);
    sink = write(null, hide(p), 40);
    if (!bad) free(p);
    close(null);
}
CASE(freed_by_callee) {
    long *p = (long *)filled(40);
    void (*release)(void *) = hide(free);
    if (bad) release(p);
    p = hide(p);
    p[1]++;
    if (!bad) release(p);
}
CASE(freed_member) {
    struct holder { char *name; } *holder = hide(malloc(sizeof *holder));
    holder->name = text("hello", 1);
    char *name = holder->name;
    if (bad) free(holder);
    name = ((struct holder *)hide(holder))->name;
    free(name);
    if (!bad) free(holder);
}

CASE(free_twice) { char *p = filled(40); free(p); if (bad) free(hide(p)); }
CASE(free_twice_much_later) {
    char *p = filled(40);
    free(p);
    for (int i = 0; i < 100; i++) free(filled(40));
    if (bad) free(hide(p));
}
CASE(free_twice_large) { char *p = filled(300000); free(p); if (bad) free(hide(p)); }
CASE(free_after_realloc) { char *p = filled(40), *q = hide(realloc(p, 400)); free(q); if (bad) free(hide(p)); }
CASE(free_inside) { char *p = filled(40); free(p + number(bad ? 8 : 0)); }
CASE(free_one_off) { char *p = filled(40); free(p + number(bad ? 1 : 0)); }
CASE(free_global) { char *p = bad ? global : filled(40); free(hide(p)); }
CASE(free_local) { char local[40], *p = bad ? local : filled(40); free(hide(p)); }
CASE(free_text) { char *p = bad ? "constant" : filled(40); free(hide(p)); }
CASE(realloc_freed) { char *p = filled(40); if (bad) free(p); p = hide(realloc(hide(p), 80)); free(p); }
CASE(realloc_inside) { char *p = filled(40); p = hide(realloc(p + number(bad ? 8 : 0), 80)); free(p); }

/* Not in the heap. */
CASE(stack_array) { char local[40]; memset(local, 0, 40); local[number(bad ? 40 : 39)] = 1; sink = local[3]; }
CASE(global_array) { global[number(bad ? 44 : 39)] = 1; sink = global[3] + global_after[0]; }
static char *local_address(void) { char local[16]; local[0] = 1; return hide(local); }
CASE(stack_after_return) { char *p = local_address(), own[16]; own[0] = 2; sink = *(bad ? p : own); }

static const struct entry { const char *name; void (*run)(int); } entries[] = {
#define ENTRY(name) {#name, name},
    ENTRY(write_after_byte) ENTRY(write_after_int) ENTRY(write_after_long) ENTRY(write_after_12) ENTRY(write_half_after)
    ENTRY(write_before_byte) ENTRY(write_before_long) ENTRY(read_after_byte) ENTRY(read_after_int) ENTRY(read_before_byte)
    ENTRY(read_before_16) ENTRY(loop_one_too_far) ENTRY(loop_down_too_far) ENTRY(struct_in_too_small_block)
    ENTRY(size_of_the_pointer) ENTRY(no_room_for_the_zero) ENTRY(calloc_after) ENTRY(matrix_row) ENTRY(empty_block)
    ENTRY(flexible_array) ENTRY(large_block_after) ENTRY(large_block_before) ENTRY(aligned_after) ENTRY(posix_aligned_after)
    ENTRY(memalign_before) ENTRY(realloc_shrunk) ENTRY(realloc_grown) ENTRY(usable_size) ENTRY(memcpy_target)
    ENTRY(memcpy_source) ENTRY(memmove_target) ENTRY(memset_after) ENTRY(memset_large_after) ENTRY(strcpy_target)
    ENTRY(strcat_target) ENTRY(strncpy_target) ENTRY(sprintf_target) ENTRY(snprintf_target) ENTRY(strlen_no_end)
    ENTRY(strlen_no_end_16) ENTRY(strchr_no_end) ENTRY(strrchr_no_end) ENTRY(strcmp_no_end) ENTRY(strncmp_no_end)
    ENTRY(strstr_no_end) ENTRY(strdup_no_end) ENTRY(strcpy_source) ENTRY(printf_no_end) ENTRY(puts_no_end)
    ENTRY(memchr_after) ENTRY(memcmp_after) ENTRY(wcslen_no_end) ENTRY(system_read) ENTRY(system_write)
    ENTRY(stream_read) ENTRY(qsort_count) ENTRY(read_freed) ENTRY(write_freed) ENTRY(read_freed_large)
    ENTRY(list_freed_in_loop) ENTRY(old_pointer_after_realloc) ENTRY(strcpy_from_freed) ENTRY(strlen_of_freed)
    ENTRY(memcpy_to_freed) ENTRY(print_freed) ENTRY(system_write_freed) ENTRY(freed_by_callee) ENTRY(freed_member)
    ENTRY(free_twice) ENTRY(free_twice_much_later) ENTRY(free_twice_large) ENTRY(free_after_realloc) ENTRY(free_inside)
    ENTRY(free_one_off) ENTRY(free_global) ENTRY(free_local) ENTRY(free_text) ENTRY(realloc_freed) ENTRY(realloc_inside)
    ENTRY(stack_array) ENTRY(global_array) ENTRY(stack_after_return)
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (argc == 2)
            puts(entries[i].name);
        else if (argc == 3 && strcmp(argv[1], entries[i].name) == 0)
            entries[i].run(strcmp(argv[2], "bad") == 0);
    }
    return 0;
}
