/* Prints lines "name;price" as a table of a fixed width. A name that is too long for its column is cut, and ends with a dot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 50, NAME_WIDTH = 12, LINE_SIZE = 100 };

struct row {
    char name[LINE_SIZE];
    long cents;
};

struct table {
    struct row rows[MAX_ROWS];
    int count;
};

static int parse_cents(const char *text, long *cents)
{
    char *end;
    long whole = strtol(text, &end, 10);
    long rest = 0;
    if (end == text || whole < 0)
        return -1;
    if (*end == '.') {
        char *start = end + 1;
        rest = strtol(start, &end, 10);
        if (end - start != 2)
            return -1;
    }
    *cents = 100 * whole + rest;
    return *end ? -1 : 0;
}

static int add_row(struct table *table, char *line)
{
    char *price = strchr(line, ';');
    if (!price || table->count == MAX_ROWS)
        return -1;
    *price++ = '\0';
    struct row *row = &table->rows[table->count];
    strcpy(row->name, line);
    if (parse_cents(price, &row->cents) < 0)
        return -1;
    table->count++;
    return 0;
}

static void print_cell(const char *text, int width)
{
    int length = (int)strlen(text);
    if (length >= width)
        printf("%.*s.", width - 1, text);
    else
        printf("%-*s", width, text);
}

static void print_rule(void)
{
    for (int i = 0; i < NAME_WIDTH; i++)
        putchar('-');
    printf("-+-----------\n");
}

static void print_table(const struct table *table)
{
    long total = 0;
    for (int i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        print_cell(row->name, NAME_WIDTH);
        printf(" | %7ld.%02ld\n", row->cents / 100, row->cents % 100);
        total += row->cents;
    }
    print_rule();
    print_cell("Total", NAME_WIDTH);
    printf(" | %7ld.%02ld\n", total / 100, total % 100);
}

int main(void)
{
    static struct table table;
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (add_row(&table, line) < 0) {
            fprintf(stderr, "not understood: %s\n", line);
            return 2;
        }
    }
    print_table(&table);
    return 0;
}
