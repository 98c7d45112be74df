/* Prints measurements, lines "station value value …", as a table: a row for each station, with its mean at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATIONS = 20, MAX_VALUES = 12, NAME_SIZE = 16 };

struct station {
    char name[NAME_SIZE];
    double values[MAX_VALUES];
    int count;
};

struct table {
    struct station stations[MAX_STATIONS];
    int count;
    int columns;
};

static int parse(char *line, struct station *station)
{
    char *word = strtok(line, " \t\n");
    if (!word)
        return -1;
    snprintf(station->name, NAME_SIZE, "%s", word);
    while ((word = strtok(NULL, " \t\n")) != NULL) {
        char *end;
        if (station->count == MAX_VALUES)
            return -1;
        station->values[station->count++] = strtod(word, &end);
        if (*end)
            return -1;
    }
    return 0;
}

static int read_table(FILE *in, struct table *table)
{
    char line[200];
    while (table->count < MAX_STATIONS && fgets(line, sizeof line, in)) {
        struct station *station = &table->stations[table->count];
        if (parse(line, station) < 0)
            return -1;
        if (station->count > table->columns)
            table->columns = station->count;
        table->count++;
    }
    return table->count;
}

static double mean(const struct station *station)
{
    double sum = 0;
    for (int i = 0; i < station->count; i++)
        sum += station->values[i];
    return station->count > 0 ? sum / station->count : 0;
}

static void print_row(const struct station *station, int columns)
{
    printf("%-8s", station->name);
    for (int column = 0; column < columns; column++) {
        if (column < station->count)
            printf(" %6.1f", station->values[column]);
        else
            printf(" %6s", "-");
        if (column < columns)
            printf(",");
    }
    printf(" mean %.2f\n", mean(station));
}

int main(void)
{
    static struct table table;
    if (read_table(stdin, &table) < 0) {
        fprintf(stderr, "station %d is not understood\n", table.count + 1);
        return 2;
    }
    for (int i = 0; i < table.count; i++)
        print_row(&table.stations[i], table.columns);
    return 0;
}
