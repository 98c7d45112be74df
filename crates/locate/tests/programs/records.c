/* Reads numbers, counts and sorts them, and prints some of what it found. Fault: numbers of ten are taken for large ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    int value;
    int large;
    struct record *next;
};

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int is_large(int value, int limit)
{
    return value >= limit;
}

static unsigned hash(const char *text)
{
    unsigned sum = 5381;
    for (; *text; text++)
        sum = sum * 33 ^ (unsigned char)*text;
    return sum;
}

int main(int argc, char **argv)
{
    int limit = argc > 1 ? atoi(argv[1]) : 10;
    int values[64], count = 0, large = 0, evens = 0;
    struct record *head = NULL;
    char line[64], name[32] = "";
    while (count < 64 && fgets(line, sizeof line, stdin)) {
        int value;
        if (sscanf(line, "%d %31s", &value, name) < 1)
            continue;
        if (value % 2 == 0 && value != 0)
            evens++;
        struct record *record = malloc(sizeof *record);
        record->value = value;
        record->large = is_large(value, limit);
        record->next = head;
        head = record;
        values[count++] = value;
    }
    qsort(values, count, sizeof values[0], compare);
    for (struct record *record = head; record; record = record->next)
        if (record->large)
            large++;
    for (int i = 0; i < count; i++) {
        if (i > 0 && values[i] == values[i - 1])
            continue;
        printf("%d%c", values[i], i + 1 < count ? ' ' : '\n');
    }
    printf("large %d\n", large);
    printf("evens %d, last %s %u\n", evens, name, hash(name) % 97);
    while (head) {
        struct record *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
