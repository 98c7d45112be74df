/* The C library's string and memory functions at every alignment, and against the end of a page. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

static unsigned long fold = 1469598103934665603u;

static void mix(unsigned long value) { fold = (fold ^ value) * 1099511628211u; }
static int sign(int n) { return (n > 0) - (n < 0); }

/* A buffer whose last byte is the last byte before a page that must not be touched. */
static char *edge(void)
{
    char *pages = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 7 * 4096, 4096, PROT_NONE);
    return pages + 7 * 4096;
}

static void lengths(char *end)
{
    for (int length = 0; length < 300; length++) {
        char *text = end - length - 1;
        memset(text, 'a' + length % 26, length);
        text[length] = 0;
        mix(strlen(text)); mix(strnlen(text, 100)); mix(strchr(text, 0) - text);
        mix(strchrnul(text, 'q') - text);
        mix(strrchr(text, 'a' + length % 26) ? strrchr(text, 'a' + length % 26) - text : -1);
        mix(memchr(text, 0, length + 1) == text + length);
        mix(rawmemchr(text, 0) == (void *)(text + length));
        char copy[400];
        mix(stpcpy(copy, text) - copy); mix(sign(strcmp(copy, text)));
        copy[length / 2] ^= 1;
        mix(sign(strcmp(copy, text))); mix(sign(strncmp(copy, text, length / 2))); mix(sign(memcmp(copy, text, length)));
        mix(strspn(text, "abcdefghijklm")); mix(strcspn(text, "nopqrst"));
    }
    printf("lengths %016lx\n", fold);
}

static void moves(char *end)
{
    char *base = end - 6000;
    for (int i = 0; i < 6000; i++)
        base[i] = (char)(i * 7 + i / 256);
    for (int size = 0; size < 2100; size += 1 + size / 13)
        for (int from = 0; from < 40; from += 3)
            for (int to = 0; to < 40; to += 5) {
                memmove(base + 1000 + to, base + 1000 + from, size);
                memcpy(base + 3500 + to, base + 100 + from, size);
                memset(base + 5900 - size % 800, size, size % 800);
                mix((unsigned char)base[1000 + to + size / 2]); mix((unsigned char)base[3500 + to + size]);
            }
    for (int i = 0; i < 6000; i++)
        mix((unsigned char)base[i]);
    printf("moves %016lx\n", fold);
}

static void searches(void)
{
    static const char text[] = "the cause of the fault is the cause of the failure; abababababac abcabcabcabd";
    static const char *needles[] = {"the", "cause of", "abababac", "abcabcabd", "failure;", "zebra", "", "t", "abd", "e f", "ababababababac"};
    for (unsigned i = 0; i < sizeof needles / sizeof *needles; i++) {
        char *found = strstr(text, needles[i]);
        char *caseless = strcasestr(text, needles[i]);
        char *memory = memmem(text, sizeof text - 1, needles[i], strlen(needles[i]));
        printf("%s: %ld %ld %ld\n", needles[i], found ? found - text : -1L, caseless ? caseless - text : -1L, memory ? memory - text : -1L);
    }
    char words[] = ",one,,two;three four,;five";
    for (char *save, *word = strtok_r(words, ",; ", &save); word; word = strtok_r(NULL, ",; ", &save))
        printf("[%s]", word);
    char fields[] = "a::b:c", *rest = fields;
    for (char *field; (field = strsep(&rest, ":"));)
        printf("<%s>", field);
    printf("\n%d %d %d %d\n", sign(strcasecmp("Fault", "fAULT")), sign(strncasecmp("abcX", "ABCY", 3)), sign(strcoll("a", "b")), sign(strverscmp("file9", "file10")));
    char line[64] = "left";
    strcat(line, " and "); strncat(line, "right side", 5);
    printf("%s %s %zu %s\n", line, strpbrk(line, "nr"), strlen(line), strerror(2));
    memccpy(line, "stop here", 'p', sizeof line);
    printf("%.4s %s\n", line, strdup("copied"));
}

static void numbers(void)
{
    static const char *texts[] = {"0", "-1", "+42", "  77x", "0x1fz", "0755", "9223372036854775807", "9223372036854775808", "-99999999999999999999", "", "abc"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *end;
        printf("%ld ", strtol(texts[i], &end, 0));
        printf("%s %lu %d %lld\n", end, strtoul(texts[i], NULL, 16), atoi(texts[i]), strtoll(texts[i], NULL, 10));
    }
    int counts[8] = {0};
    for (int c = 0; c < 256; c++) {
        counts[0] += !!isalpha(c); counts[1] += !!isdigit(c); counts[2] += !!isspace(c); counts[3] += !!ispunct(c); counts[4] += !!isprint(c);
        counts[5] += !!isxdigit(c); counts[6] += toupper(c); counts[7] += tolower(c);
    }
    for (int i = 0; i < 8; i++)
        printf("%d ", counts[i]);
    putchar('\n');
}

int main(void)
{
    char *end = edge();
    lengths(end);
    moves(end);
    searches();
    numbers();
    return 0;
}
