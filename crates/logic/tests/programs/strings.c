#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text: scanning, comparing, copying, sorting, and a heap. */
struct word { char text[24]; int count; struct word *next; };

static struct word *words;

static void count(const char *text)
{
    struct word *word;
    for (word = words; word; word = word->next)
        if (strcmp(word->text, text) == 0)
            break;
    if (!word) {
        word = calloc(1, sizeof *word);
        strncpy(word->text, text, sizeof word->text - 1);
        word->next = words;
        words = word;
    }
    word->count++;
}

static int by_text(const void *a, const void *b)
{
    return strcmp((*(struct word **)a)->text, (*(struct word **)b)->text);
}

int main(void)
{
    char text[24];
    size_t length = 0;
    for (int c; (c = getchar()) != EOF;) {
        if (isalpha(c) && length < sizeof text - 1) {
            text[length++] = (char)tolower(c);
        } else if (length) {
            text[length] = 0;
            count(text);
            length = 0;
        }
    }
    struct word *sorted[100];
    size_t all = 0;
    for (struct word *word = words; word && all < 100; word = word->next)
        sorted[all++] = word;
    qsort(sorted, all, sizeof *sorted, by_text);
    for (size_t n = 0; n < all; n++)
        printf("%s %d %zu\n", sorted[n]->text, sorted[n]->count, strlen(sorted[n]->text));
    return memchr(text, 'q', sizeof text) != 0;
}
