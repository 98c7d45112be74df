/* Looks up weights in a tariff of steps "up-to-grams cents", sorted by weight, and prints the postage of each. */
#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 32 };

struct step {
    long grams;
    long cents;
};

struct tariff {
    struct step steps[MAX_STEPS];
    int count;
};

static int read_tariff(const char *path, struct tariff *tariff)
{
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        return -1;
    }
    long grams, cents;
    while (tariff->count < MAX_STEPS && fscanf(in, "%ld %ld", &grams, &cents) == 2) {
        if (tariff->count > 0 && grams <= tariff->steps[tariff->count - 1].grams) {
            fprintf(stderr, "%s: step %d is out of order\n", path, tariff->count + 1);
            fclose(in);
            return -1;
        }
        tariff->steps[tariff->count++] = (struct step){grams, cents};
    }
    fclose(in);
    return tariff->count > 0 ? 0 : -1;
}

/* The first step that is enough for the weight; the last one if there is none. */
static const struct step *find_step(const struct tariff *tariff, long grams)
{
    int low = 0, high = tariff->count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (tariff->steps[middle].grams < grams)
            low = middle;
        else
            high = middle;
    }
    return &tariff->steps[low];
}

int main(int argc, char **argv)
{
    static struct tariff tariff;
    if (argc < 3) {
        fprintf(stderr, "usage: tariff FILE GRAMS...\n");
        return 2;
    }
    if (read_tariff(argv[1], &tariff) < 0)
        return 2;
    for (int i = 2; i < argc; i++) {
        char *end;
        long grams = strtol(argv[i], &end, 10);
        if (*end || grams <= 0) {
            fprintf(stderr, "%s: no weight\n", argv[i]);
            return 2;
        }
        const struct step *step = find_step(&tariff, grams);
        if (grams > step->grams)
            printf("%ld g is too heavy\n", grams);
        else
            printf("%ld g: %ld.%02ld\n", grams, step->cents / 100, step->cents % 100);
    }
    return 0;
}
