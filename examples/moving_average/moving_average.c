/* Smooths a series of measurements: prints the average of each window of WIDTH neighbours. */
#include <stdio.h>
#include <stdlib.h>

struct series {
    double *values;
    size_t count;
    size_t capacity;
};

static void append(struct series *series, double value)
{
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? 2 * series->capacity : 4;
        double *grown = realloc(series->values, capacity * sizeof *grown);
        if (!grown) {
            perror("realloc");
            exit(1);
        }
        series->values = grown;
        series->capacity = capacity;
    }
    series->values[series->count++] = value;
}

static int read_series(FILE *in, struct series *series)
{
    char line[64];
    while (fgets(line, sizeof line, in)) {
        char *end;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        double value = strtod(line, &end);
        if (end == line)
            return -1;
        append(series, value);
    }
    return 0;
}

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* One value for each full window. */
static struct series smooth(const struct series *series, size_t width)
{
    struct series smoothed = {0};
    if (series->count < width)
        return smoothed;
    smoothed.count = series->count - width + 1;
    smoothed.values = malloc(smoothed.count * sizeof *smoothed.values);
    if (!smoothed.values) {
        perror("malloc");
        exit(1);
    }
    for (size_t first = 0; first + width <= series->count + 1; first++)
        smoothed.values[first] = mean(series->values + first, width);
    return smoothed;
}

int main(int argc, char **argv)
{
    struct series series = {0};
    size_t width = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
    if (width == 0) {
        fprintf(stderr, "usage: moving_average [WIDTH] < VALUES\n");
        return 2;
    }
    if (read_series(stdin, &series) < 0) {
        fprintf(stderr, "value %zu is no number\n", series.count + 1);
        return 2;
    }
    struct series smoothed = smooth(&series, width);
    for (size_t i = 0; i < smoothed.count; i++)
        printf("%.2f\n", smoothed.values[i]);
    free(smoothed.values);
    free(series.values);
    return 0;
}
