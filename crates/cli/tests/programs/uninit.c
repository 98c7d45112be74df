/* Uses of memory that was never written: "uninit NAME" does one thing, "uninit list" says which there are. The lines at which a
   use is to be told say USED; all else is to be left alone. */
#define _GNU_SOURCE
#include <alloca.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define APART __attribute__((noinline))
#define CASE(name) static APART void name(void)

static volatile long sink;
static int zeros[16];
static const long table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* The compiler must not know what a pointer leads to. */
static APART void *hide(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static APART void *fresh(size_t size) { return hide(malloc(size)); }

/* Uses. */

CASE(condition_on_the_heap) {
    int *p = fresh(4);
    if (*p == 3) /* USED */
        sink = 1;
}
CASE(condition_on_a_local) {
    int x[16], *p = hide(x);
    if (p[9] > 3) /* USED */
        sink = 1;
}
CASE(index_of_an_array) {
    long *p = fresh(8);
    long i = *p & 7;
    sink = table[i]; /* USED */
}
CASE(case_of_a_switch) {
    unsigned *p = fresh(4);
    switch (*p & 0xfff) { /* USED */
    case 0: sink = 11; break;
    case 700: sink = 7; break;
    case 2000: sink = 23; break;
    default: sink = 2;
    }
}
static void one(void) { sink = 1; }
static void other(void) { sink = 2; }
CASE(function_pointer) {
    static void (*const functions[2])(void) = {one, other};
    long *p = fresh(8);
    functions[*p & 1](); /* USED */
}
CASE(byte_of_output) {
    char *p = fresh(8);
    memset(p, 'x', 7);
    write(2, p, 8); /* USED */
}
CASE(path_of_a_call) {
    char *p = fresh(8);
    p[0] = '/';
    p[7] = 0;
    sink = access(p, F_OK); /* USED */
}
CASE(half_of_an_array) {
    int a[10];
    hide(a);
    for (int i = 0; i < 5; i++) a[i] = i;
    hide(a);
    for (int i = 0; i < 10; i++)
        if (a[i] == 7) /* USED */
            sink = i;
}
CASE(grown_by_realloc) {
    int *p = fresh(8);
    p[0] = p[1] = 1;
    p = hide(realloc(p, 16));
    if (p[1] == 2) sink = 1;
    if (p[3] == 2) /* USED */
        sink = 2;
}
static APART int incremented(int *x) { return *x + 1; }
CASE(local_through_a_call) {
    int x[16];
    if (incremented(hide(x + 9)) == 7) /* USED */
        sink = 1;
}
struct pair {
    char c;
    int i;
    long l;
};
CASE(member_of_a_copy) {
    struct pair a, b;
    hide(&a);
    a.c = 1;
    a.l = 2;
    hide(&a);
    memcpy(hide(&b), &a, sizeof a);
    if (b.c == 1 && b.l == 2) sink = 1;
    if (b.i == 3) /* USED */
        sink = 2;
}
union number {
    int i;
    char c;
};
CASE(wider_part_of_a_union) {
    union number *u = fresh(sizeof *u);
    u->c = 1;
    hide(u);
    if (u->i == 1) /* USED */
        sink = 1;
}
struct fields {
    unsigned a : 3, b : 5, c : 9;
};
CASE(other_bit_field) {
    struct fields *s = fresh(sizeof *s);
    s->a = 1;
    hide(s);
    if (s->b == 3) /* USED */
        sink = 1;
}
CASE(bit_beyond_what_is_set) {
    unsigned short *p = fresh(2);
    *(char *)p = 1;
    hide(p);
    if (*p & 0x100) /* USED */
        sink = 1;
}
CASE(after_arithmetic) {
    int *p = fresh(4);
    int y = *p * 2 + 5;
    if (y < 10) /* USED */
        sink = 1;
}
CASE(after_a_division) {
    unsigned *p = fresh(4);
    unsigned y = *p / 3;
    if (y == 1) /* USED */
        sink = 1;
}
CASE(after_a_shift) {
    unsigned *p = fresh(4);
    *(char *)p = 1;
    hide(p);
    unsigned y = *p << 8;
    if ((y & 0xff00) == 0x200) sink = 1;
    if (y & 0x10000) /* USED */
        sink = 2;
}
CASE(comparison_of_doubles) {
    double *p = fresh(8);
    if (*p > 1.0) /* USED */
        sink = 1;
}
CASE(comparison_of_long_doubles) {
    long double *p = fresh(16);
    if (*p > 1.0L) /* USED */
        sink = 1;
}
CASE(double_as_an_integer) {
    double *p = fresh(8);
    long i = (int)*p;
    if (i == 3) /* USED */
        sink = 1;
}
CASE(length_of_a_string) {
    char *p = fresh(16);
    p[0] = 'a';
    p[15] = 0;
    sink = strlen(hide(p)); /* USED */
}
CASE(comparison_of_strings) {
    char *p = fresh(16);
    p[0] = 'a';
    p[15] = 0;
    sink = strcmp(hide(p), "ab"); /* USED */
}
CASE(comparison_of_memory) {
    char *p = fresh(16), q[16];
    memset(p, 1, 12);
    memset(hide(q), 1, 16);
    sink = memcmp(hide(p), hide(q), 16); /* USED */
}
CASE(copy_of_a_string) {
    char *p = fresh(16), q[16];
    p[0] = 'a';
    p[15] = 0;
    strcpy(hide(q), hide(p)); /* USED */
}
static int compare(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}
CASE(sorting) {
    int *p = fresh(16);
    p[0] = 3, p[1] = 1, p[2] = 2;
    int order[4];
    memcpy(hide(order), p, 16);
    if (compare(hide(order), order + 3) > 0) /* USED */
        sink = 1;
}
CASE(printed_number) {
    int *p = fresh(4);
    printf("%d\n", *p); /* USED */
}
CASE(result_of_a_comparison) {
    int *p = fresh(4);
    char *q = fresh(1);
    *q = __builtin_expect_with_probability(*p == 3, 1, 0.5);
    hide(q);
    if (*q) /* USED */
        sink = 1;
}
CASE(bound_of_a_loop) {
    long *p = fresh(8);
    long n = *p & 3;
    hide(p);
    for (long i = 0; i < n; i++) sink = i; /* USED */
}
CASE(lane_of_a_vector) {
    char *p = fresh(16);
    memset(p + 1, 1, 15);
    __m128i v = _mm_loadu_si128(hide(p));
    int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
    if (mask & 1) /* USED */
        sink = 1;
}
static APART void leave_something(void) {
    int x[32];
    memset(hide(x), 5, sizeof x);
    hide(x);
}
static APART int find_something(void) {
    int x[32];
    hide(x);
    return x[7];
}
CASE(what_another_function_left) {
    leave_something();
    if (find_something() == 5) /* USED */
        sink = 1;
}
CASE(room_of_alloca) {
    int *p = hide(alloca(64));
    p[0] = 1;
    hide(p);
    if (p[5] == 1) /* USED */
        sink = 1;
}
CASE(characters_of_a_number) {
    char *p = fresh(16);
    p[0] = '1';
    p[2] = 0;
    sink = strtol(hide(p), 0, 10); /* USED */
}

/* No uses. */

CASE(fine_calloc) {
    int *p = hide(calloc(4, 4));
    if (p[2] == 3) sink = 1;
}
CASE(fine_global) {
    if (*(int *)hide(&zeros[3]) == 3) sink = 1;
}
CASE(fine_copy_without_use) {
    int *p = fresh(40), q[10];
    memcpy(hide(q), p, 40);
    p[0] = q[1] + 3;
    sink = p[0];
}
CASE(fine_padding) {
    struct pair a, b;
    hide(&a);
    a.c = 1, a.i = 2, a.l = 3;
    hide(&a);
    memcpy(hide(&b), &a, sizeof a);
    struct pair *c = fresh(sizeof *c);
    *c = b;
    hide(c);
    if (c->c == 1 && c->i == 2 && c->l == 4) sink = 1;
}
CASE(fine_exclusive_or_with_itself) {
    int x;
    hide(&x);
    __asm__ volatile("xorl %0, %0" : "+r"(x));
    if (x) sink = 1;
    __asm__ volatile("subl %0, %0" : "+r"(x));
    if (x) sink = 1;
}
CASE(fine_masks) {
    unsigned *p = fresh(4), zero = 0;
    *(char *)p = 1;
    hide(p);
    hide(&zero);
    if ((*p & 0xff) == 2) sink = 1;
    if (*p & zero) sink = 1;
    if (((*p << 24) >> 24) == 5) sink = 1;
    if (*p & 1) sink = 2;
}
CASE(fine_high_half) {
    uint64_t *p = fresh(8);
    ((uint32_t *)p)[1] = 7;
    hide(p);
    if (*p >> 32 == 9) sink = 1;
}
CASE(fine_bit_field) {
    struct fields *s = fresh(sizeof *s);
    s->a = 1;
    s->c = 300;
    hide(s);
    if (s->a == 2 || s->c == 7) sink = 1;
}
CASE(fine_union) {
    union number *u = fresh(sizeof *u);
    u->i = 1;
    hide(u);
    if (u->c == 2) sink = 1;
}
CASE(fine_strings_in_large_buffers) {
    for (int shift = 0; shift < 20; shift++) {
        char buffer[128], second[128];
        char *p = hide(buffer + shift), *q = hide(second + 19 - shift);
        strcpy(p, "path/to/file.c");
        strcpy(q, p);
        strcat(q, ":12");
        long found = strlen(p) + (strchr(p, '.') != 0) + (strrchr(p, '/') != 0) + (strrchr(p, '#') != 0);
        found += strcmp(p, q) + strncmp(p, q, 9) + strcasecmp(p, q) + memcmp(p, q, 14);
        found += (memchr(p, 'f', 14) != 0) + (memchr(p, 'z', 14) != 0) + (strstr(q, "file") != 0);
        found += strspn(p, "path/") + strcspn(p, ".") + (strpbrk(p, ".#") != 0) + strnlen(p, 90);
        char *copy = strdup(q);
        found += strcoll(copy, q) + (memrchr(p, '/', 14) != 0);
        if (found == 12345) sink = 1;
        strncpy(p, "short", 100);
        if (p[60]) sink = 2;
        for (char *word = strtok(q, "/:"); word; word = strtok(0, "/:")) sink += strlen(word);
    }
}
CASE(fine_strings_on_the_heap) {
    for (size_t size = 12; size < 44; size++) {
        char *p = fresh(size);
        snprintf(p, size, "n%zu", size);
        if (strlen(p) == 77 || strrchr(p, 'q') || strchr(p, 'q') || memchr(p, 0, size) == 0) sink = 1;
        free(p);
    }
}
CASE(fine_wide_strings) {
    wchar_t p[40];
    wcscpy(hide(p), L"wide");
    if (wcslen(p) == 9 || wcschr(p, L'q') || wcscmp(p, L"wider") == 5) sink = 1;
}
CASE(fine_formatting) {
    char p[200];
    double d = strtod(hide("12.75"), 0);
    int i = 0;
    long double l = 3.25L;
    sprintf(hide(p), "%d %5.2f %s %-10s|%Lg %x %c", 42, d, "text", "left", l, 255, 'c');
    sscanf(p, "%d", &i);
    puts(p);
    if (i == 43) sink = 1;
}
CASE(fine_long_double) {
    long double a, *b = fresh(sizeof *b);
    *(long double *)hide(&a) = 2.5L;
    memcpy(b, &a, sizeof a);
    if (*b * 2 > 7) sink = 1;
}
CASE(fine_doubles) {
    double *p = fresh(32);
    p[0] = 1.5, p[2] = 2.5;
    hide(p);
    if (p[0] + p[2] > 7 || (int)p[2] == 5) sink = 1;
    p[1] += 1;
}
static APART struct pair made(int i) {
    struct pair result;
    result.c = i;
    result.i = i + 1;
    result.l = i + 2;
    return result;
}
CASE(fine_structure_as_a_result) {
    struct pair p = made(3);
    hide(&p);
    if (p.c == 1 || p.i == 2 || p.l == 3) sink = 1;
}
static APART long sum(int count, ...) {
    va_list list;
    long total = 0;
    va_start(list, count);
    while (count--) total += va_arg(list, int);
    va_end(list);
    return total;
}
CASE(fine_variable_arguments) {
    if (sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9) == 44) sink = 1;
}
CASE(fine_sorting) {
    int *p = fresh(40 * sizeof *p);
    for (int i = 0; i < 40; i++) p[i] = i * 7 % 11;
    qsort(p, 40, sizeof *p, compare);
    if (p[39] == 3) sink = 1;
}
static jmp_buf place;
static APART void jump_from(int depth) {
    char room[100];
    hide(room);
    if (depth == 0) longjmp(place, 5);
    jump_from(depth - 1);
    hide(room);
}
CASE(fine_jump) {
    int x = 3;
    hide(&x);
    int came = setjmp(place);
    if (came == 0) jump_from(10);
    if (came == 7 || *(int *)hide(&x) == 4) sink = 1;
}
static void handler(int number) {
    char room[200];
    hide(room);
    sink = number;
}
CASE(fine_signal) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    int x[4] = {1, 2, 3, 4};
    hide(x);
    raise(SIGUSR1);
    if (x[2] == 5) sink = 1;
}
CASE(fine_answers_of_the_kernel) {
    struct stat s;
    int ends[2];
    char p[20];
    struct timespec now;
    if (stat("/", hide(&s)) == 0 && S_ISDIR(s.st_mode)) sink = 1;
    if (pipe(hide(ends)) == 0 && write(ends[1], "abc", 3) == 3 && read(ends[0], hide(p), 20) == 3)
        if (p[1] == 'x') sink = 2;
    if (clock_gettime(CLOCK_REALTIME, hide(&now)) == 0 && now.tv_sec == 5) sink = 3;
    time_t t = 86400 * 365;
    char text[60];
    strftime(text, sizeof text, "%Y-%m-%d", gmtime(&t));
    puts(text);
}
CASE(fine_streams) {
    char line[200];
    FILE *file = fopen("/proc/self/stat", "r");
    if (file && fgets(hide(line), sizeof line, file) && line[0] == 'x') sink = 1;
    if (file) fclose(file);
    fprintf(stderr, "%s\n", "done");
}
CASE(fine_realloc) {
    int *p = 0;
    for (int i = 0; i < 100; i++) {
        p = hide(realloc(p, (i + 1) * sizeof *p));
        p[i] = i;
    }
    for (int i = 0; i < 100; i++)
        if (p[i] == 1000) sink = 1;
}
CASE(fine_vectors) {
    char *p = fresh(16);
    memset(p, 1, 9);
    __m128i v = _mm_loadu_si128(hide(p));
    int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(1)));
    if ((mask & 0x1ff) == 3) sink = 1;
    if (_mm_cvtsi128_si32(_mm_add_epi32(v, v)) == 7) sink = 2;
}

#define EACH(use) \
    use(condition_on_the_heap) use(condition_on_a_local) use(index_of_an_array) use(case_of_a_switch) \
    use(function_pointer) use(byte_of_output) use(path_of_a_call) use(half_of_an_array) use(grown_by_realloc) \
    use(local_through_a_call) use(member_of_a_copy) use(wider_part_of_a_union) use(other_bit_field) \
    use(bit_beyond_what_is_set) use(after_arithmetic) use(after_a_division) use(after_a_shift) \
    use(comparison_of_doubles) use(comparison_of_long_doubles) use(double_as_an_integer) use(length_of_a_string) \
    use(comparison_of_strings) use(comparison_of_memory) use(copy_of_a_string) use(sorting) use(printed_number) \
    use(result_of_a_comparison) use(bound_of_a_loop) use(lane_of_a_vector) use(what_another_function_left) \
    use(room_of_alloca) use(characters_of_a_number) \
    use(fine_calloc) use(fine_global) use(fine_copy_without_use) use(fine_padding) \
    use(fine_exclusive_or_with_itself) use(fine_masks) use(fine_high_half) use(fine_bit_field) use(fine_union) \
    use(fine_strings_in_large_buffers) use(fine_strings_on_the_heap) use(fine_wide_strings) use(fine_formatting) \
    use(fine_long_double) use(fine_doubles) use(fine_structure_as_a_result) use(fine_variable_arguments) \
    use(fine_sorting) use(fine_jump) use(fine_signal) use(fine_answers_of_the_kernel) use(fine_streams) \
    use(fine_realloc) use(fine_vectors)

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define ENTRY(name) {#name, name},
        EACH(ENTRY)
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (argc == 2 && strcmp(argv[1], "list") == 0) puts(all[i].name);
        if (argc == 2 && strcmp(argv[1], all[i].name) == 0) all[i].run();
    }
    return 0;
}
