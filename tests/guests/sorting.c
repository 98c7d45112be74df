/* qsort, bsearch, and hand-written sorts over ints, strings and structures. */
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record { char name[12]; int key; double weight; };

static uint32_t state = 12345;
static uint32_t next(void) { return state = state * 1664525u + 1013904223u; }

static int by_int(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int by_record(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : strcmp(x->name, y->name);
}

static void sift(int *values, int root, int end)
{
    for (int child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && values[child] < values[child + 1])
            child++;
        if (values[root] >= values[child])
            return;
        int t = values[root]; values[root] = values[child]; values[child] = t;
    }
}

static void heap_sort(int *values, int count)
{
    for (int root = count / 2; root-- > 0;)
        sift(values, root, count);
    for (int end = count; end-- > 1;) {
        int t = values[0]; values[0] = values[end]; values[end] = t;
        sift(values, 0, end);
    }
}

static void merge_sort(int *values, int *spare, int count)
{
    if (count < 2)
        return;
    int half = count / 2, i = 0, j = half;
    merge_sort(values, spare, half);
    merge_sort(values + half, spare, count - half);
    for (int k = 0; k < count; k++)
        spare[k] = j >= count || i < half && values[i] <= values[j] ? values[i++] : values[j++];
    memcpy(values, spare, count * sizeof *values);
}

int main(void)
{
    enum { COUNT = 5000 };
    static int a[COUNT], b[COUNT], c[COUNT], spare[COUNT];
    for (int i = 0; i < COUNT; i++)
        a[i] = b[i] = c[i] = (int)(next() >> 8) % 20000 - 10000;
    qsort(a, COUNT, sizeof *a, by_int);
    heap_sort(b, COUNT);
    merge_sort(c, spare, COUNT);
    printf("%d %d %d %d %d\n", memcmp(a, b, sizeof a), memcmp(a, c, sizeof a), a[0], a[COUNT / 2], a[COUNT - 1]);
    int found = 0;
    for (int key = -10000; key < 10000; key++)
        found += bsearch(&key, a, COUNT, sizeof *a, by_int) != NULL;
    printf("%d distinct\n", found);

    static struct record records[500];
    for (int i = 0; i < 500; i++) {
        snprintf(records[i].name, sizeof records[i].name, "n%u", next() >> 20);
        records[i].key = next() >> 26;
        records[i].weight = (next() >> 16) / 4.0;
    }
    qsort(records, 500, sizeof *records, by_record);
    for (int i = 0; i < 500; i += 50)
        printf("%s %d %.2f\n", records[i].name, records[i].key, records[i].weight);

    char *words[] = {"why", "did", "it", "fail", "", "zeta", "Zeta", "a", "aa", "who"};
    qsort(words, 10, sizeof *words, by_text);
    for (int i = 0; i < 10; i++)
        printf("%s%c", words[i], i < 9 ? ',' : '\n');

    void *tree = NULL;
    for (int i = 0; i < COUNT; i++)
        tsearch(&c[i], &tree, by_int);
    int kept = 0;
    for (int key = -10000; key < 10000; key++)
        kept += tfind(&key, &tree, by_int) != NULL;
    printf("%d in the tree\n", kept);
    return 0;
}
