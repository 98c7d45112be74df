/* Statistics of the columns of a CSV table on standard input: columns [-m] [-w WIDTH] [COLUMN...]
 *
 * The first line names the columns. -m adds the median; a cell that is not a number is counted as missing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 12
#define FIRST_CAPACITY 4
#define DEFAULT_WIDTH 9

struct cells {
    double *values;
    size_t count, capacity;
    size_t missing;
};

struct column {
    char *name;
    struct cells cells;
    double low, high, sum;
    int is_chosen;
};

struct table {
    struct column columns[MAX_COLUMNS];
    int count;
    int lines;
};

struct settings {
    int width;
    int with_median;
};

static void add_value(struct cells *cells, double value)
{
    if (cells->count == cells->capacity) {
        size_t capacity = cells->capacity == 0 ? FIRST_CAPACITY : cells->capacity * 2;
        double *values = realloc(cells->values, capacity * sizeof *values);

        if (values == NULL)
            abort();
        cells->values = values;
        cells->capacity = capacity;
    }
    cells->values[cells->count++] = value;
}

static char *copy(const char *text)
{
    char *result = malloc(strlen(text) + 1);

    if (result == NULL)
        abort();
    return strcpy(result, text);
}

/* Takes the next field off a line, in place, without its quotes; NULL after the last one. */
static char *next_field(char **rest)
{
    char *from = *rest, *to, *start;
    int is_quoted = 0;

    if (from == NULL)
        return NULL;
    start = to = from;
    while (*from != '\0' && *from != '\n' && (is_quoted || *from != ',')) {
        if (*from != '"') {
            *to++ = *from;
        } else if (is_quoted && from[1] == '"') {
            *to++ = '"';
            from++;
        } else {
            is_quoted = !is_quoted;
        }
        from++;
    }
    *rest = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return start;
}

static int parse_number(const char *text, double *number)
{
    char *end;

    while (*text == ' ')
        text++;
    if (*text == '\0')
        return 0;
    *number = strtod(text, &end);
    while (*end == ' ')
        end++;
    return *end == '\0';
}

static void read_head(struct table *table, char *line)
{
    char *field;

    while (table->count < MAX_COLUMNS && (field = next_field(&line)) != NULL) {
        table->columns[table->count].name = copy(field);
        table->count++;
    }
}

static void take_cell(struct column *column, const char *field)
{
    double number;

    if (field == NULL || !parse_number(field, &number)) {
        column->cells.missing++;
        return;
    }
    if (column->cells.count == 0 || number < column->low)
        column->low = number;
    if (column->cells.count == 0 || number > column->high)
        column->high = number;
    column->sum += number;
    add_value(&column->cells, number);
}

static void read_row(struct table *table, char *line)
{
    int i;

    for (i = 0; i < table->count; i++)
        take_cell(&table->columns[i], next_field(&line));
    table->lines++;
}

static void read_table(struct table *table)
{
    char line[512];

    if (fgets(line, sizeof line, stdin) == NULL)
        return;
    read_head(table, line);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (line[0] == '\n' || line[0] == '#')
            continue;
        read_row(table, line);
    }
}

static void sort(double *values, size_t count)
{
    size_t i, hole;

    for (i = 1; i < count; i++) {
        double value = values[i];

        for (hole = i; hole > 0 && values[hole - 1] > value; hole--)
            values[hole] = values[hole - 1];
        values[hole] = value;
    }
}

static double median(struct cells *cells)
{
    size_t middle = cells->count / 2;

    sort(cells->values, cells->count);
    if (cells->count % 2 == 1)
        return cells->values[middle];
    return (cells->values[middle - 1] + cells->values[middle]) / 2;
}

static double deviation(const struct column *column)
{
    const double *value = column->cells.values;
    const double *end = value + column->cells.count;
    double mean = column->sum / column->cells.count;
    double squares = 0;

    if (column->cells.count < 2)
        return 0;
    for (; value < end; value++)
        squares += (*value - mean) * (*value - mean);
    return sqrt(squares / (column->cells.count - 1));
}

static int choose(struct table *table, const char *name)
{
    int i;

    for (i = 0; i < table->count; i++) {
        if (strcmp(table->columns[i].name, name) == 0) {
            table->columns[i].is_chosen = 1;
            return 1;
        }
    }
    return 0;
}

static void print_head(const struct settings *settings)
{
    static const char *const heads[] = {"count", "missing", "low", "high", "mean", "deviation", "median"};
    int count = settings->with_median ? 7 : 6;
    int i;

    printf("%-*s", settings->width, "column");
    for (i = 0; i < count; i++)
        printf(" %*s", settings->width, heads[i]);
    printf("\n");
}

static void print_column(struct column *column, const struct settings *settings)
{
    const struct cells *cells = &column->cells;
    int width = settings->width;

    printf("%-*.*s %*zu %*zu", width, width, column->name, width, cells->count, width, cells->missing);
    if (cells->count > 0) {
        printf(" %*.2f %*.2f", width, column->low, width, column->high);
        printf(" %*.3f", width, column->sum / cells->count);
        printf(" %*.3f", width, deviation(column));
        if (settings->with_median)
            printf(" %*.2f", width, median(&column->cells));
    }
    printf("\n");
}

static void free_table(struct table *table)
{
    int i;

    for (i = 0; i < table->count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].cells.values);
    }
}

int main(int argc, char **argv)
{
    static struct table table;
    struct settings settings = {DEFAULT_WIDTH, 0};
    int chosen = 0, unknown = 0;
    int i;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "-m") == 0)
            settings.with_median = 1;
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            settings.width = atoi(argv[++i]);
        else
            return 2;
    }
    if (settings.width < 3 || settings.width > 40)
        settings.width = DEFAULT_WIDTH;
    read_table(&table);
    for (; i < argc; i++) {
        if (choose(&table, argv[i]))
            chosen++;
        else
            unknown++;
    }
    print_head(&settings);
    for (i = 0; i < table.count; i++)
        if (chosen == 0 || table.columns[i].is_chosen)
            print_column(&table.columns[i], &settings);
    printf("%d lines\n", table.lines);
    if (unknown > 0)
        printf("%d unknown columns\n", unknown);
    free_table(&table);
    return unknown > 0;
}
