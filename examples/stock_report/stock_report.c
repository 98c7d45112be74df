/* Reads the articles of a store, "name stock reserved", and prints what has to be looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARTICLES = 64, NAME_SIZE = 24 };

struct article {
    char name[NAME_SIZE];
    unsigned stock;
    unsigned reserved;
};

struct limits {
    unsigned low;
    unsigned high;
};

static int read_articles(FILE *in, struct article *articles, int most)
{
    int count = 0;
    char line[100];
    while (count < most && fgets(line, sizeof line, in)) {
        struct article *article = &articles[count];
        int fields = sscanf(line, "%23s %u %u", article->name, &article->stock, &article->reserved);
        if (fields == 2)
            article->reserved = 0;
        else if (fields != 3)
            return -1;
        count++;
    }
    return count;
}

static int by_name(const void *one, const void *other)
{
    const struct article *a = one, *b = other;
    return strcmp(a->name, b->name);
}

/* What can still be sold. */
static unsigned available(const struct article *article)
{
    return article->stock - article->reserved;
}

static int report(const struct article *articles, int count, const struct limits *limits)
{
    int remarks = 0;
    for (int i = 0; i < count; i++) {
        const struct article *article = &articles[i];
        if (article->reserved > article->stock) {
            printf("%s: %u missing\n", article->name, article->reserved - article->stock);
            remarks++;
        } else if (available(article) < limits->low) {
            printf("%s: order more\n", article->name);
            remarks++;
        }
        if (available(article) > limits->high) {
            printf("%s: too many\n", article->name);
            remarks++;
        }
    }
    return remarks;
}

int main(int argc, char **argv)
{
    static struct article articles[MAX_ARTICLES];
    struct limits limits = {5, 100};
    if (argc > 1)
        limits.low = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        limits.high = (unsigned)strtoul(argv[2], NULL, 10);
    int count = read_articles(stdin, articles, MAX_ARTICLES);
    if (count < 0) {
        fprintf(stderr, "an article is \"name stock [reserved]\"\n");
        return 2;
    }
    qsort(articles, (size_t)count, sizeof articles[0], by_name);
    if (report(articles, count, &limits) == 0)
        printf("all is well\n");
    return 0;
}
