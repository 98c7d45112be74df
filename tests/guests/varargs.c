/* Variable arguments of our own, and printf with integers and strings in every dress. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static long sum(int count, ...)
{
    va_list list, again;
    long total = 0;
    va_start(list, count);
    va_copy(again, list);
    for (int i = 0; i < count; i++)
        total += va_arg(list, int);
    for (int i = 0; i < count; i++)
        total += 1000L * va_arg(again, int);
    va_end(list);
    va_end(again);
    return total;
}

static void describe(const char *kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': printf("int %d; ", va_arg(list, int)); break;
        case 'l': printf("long %ld; ", va_arg(list, long)); break;
        case 'd': printf("double %d/1000; ", (int)(va_arg(list, double) * 1000)); break;
        case 's': printf("text %s; ", va_arg(list, char *)); break;
        case 'p': printf("pointer %d; ", *va_arg(list, int *)); break;
        }
    va_end(list);
    putchar('\n');
}

static int forward(char *buffer, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(buffer, size, format, list);
    va_end(list);
    return length;
}

int main(void)
{
    int n = 99;
    printf("%ld %ld\n", sum(3, 1, 2, 3), sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    describe("ildspildsildsdddddddddp", 1, 2L, 3.5, "four", &n, 5, 6L, 7.25, "eight", 9, 10L, 11.5, "x", 1., 2., 3., 4., 5., 6., 7., 8., 9., &n);
    printf("[%d][%5d][%-5d][%05d][%+d][% d][%.3d][%x][%#X][%#o][%u][%c][%%]\n", 42, 42, 42, 42, 42, 42, 7, 255, 255, 8, 4000000000u, 'c');
    printf("[%hhd][%hd][%ld][%lld][%zu][%td][%jd][%" PRIu64 "]\n", 300, 70000, -5000000000L, -1LL, (size_t)7, (ptrdiff_t)-7, (intmax_t)1 << 60, UINT64_MAX);
    printf("[%s][%10s][%-10s][%.2s][%*s][%-*s][%.*s]\n", "text", "text", "text", "text", 8, "text", 8, "text", 3, "text");
    printf("[%2$s %1$s]\n", "first", "second");
    errno = ENOENT;
    printf("[%ls][%5lc][%p][%m]\n", L"wide", (wint_t)L'w', NULL);
    char small[10], *made;
    int length = forward(small, sizeof small, "%s-%d-%s", "cut", 12345, "short");
    printf("%d %s\n", length, small);
    length = asprintf(&made, "%08x|%-6c|%'d", 0xbeef, 'z', 1234567);
    printf("%d %s\n", length, made);
    int a = 0, b = 0, c = 0;
    char word[16], rest[16];
    length = sscanf("12 0x1f  word:rest 077", "%d %i %15[^:]:%15s %o", &a, &b, word, rest, &c);
    printf("%d %d %d %s %s %d\n", length, a, b, word, rest, c);
    return 0;
}
