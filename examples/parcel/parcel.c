/* Prints the labels of parcels, "service weight-in-grams name": what the service costs and how the parcel is handled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPRESS = 1,
    INSURED = 2,
    SIGNED = 4,
};

struct service {
    const char *code;
    int features;
    int cents_per_kilo;
};

static const struct service services[] = {
    {"eco", 0, 190},
    {"std", INSURED, 250},
    {"doc", SIGNED, 300},
    {"exp", INSURED, 520},
};

struct parcel {
    const struct service *service;
    int grams;
    char name[40];
};

static const struct service *find_service(const char *code)
{
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (strcmp(services[i].code, code) == 0)
            return &services[i];
    return NULL;
}

static int parse(const char *line, struct parcel *parcel)
{
    char code[8];
    if (sscanf(line, "%7s %d %39[^\n]", code, &parcel->grams, parcel->name) != 3 || parcel->grams <= 0)
        return -1;
    parcel->service = find_service(code);
    return parcel->service ? 0 : -1;
}

static int price(const struct parcel *parcel)
{
    int kilos = (parcel->grams + 999) / 1000;
    int cents = kilos * parcel->service->cents_per_kilo;
    if (parcel->service->features & EXPRESS)
        cents += 400;
    if (parcel->service->features & INSURED)
        cents += 100;
    return cents;
}

static void print_label(const struct parcel *parcel)
{
    int cents = price(parcel);
    printf("%s\n", parcel->name);
    printf("  %d.%02d", cents / 100, cents % 100);
    if (parcel->service->features & EXPRESS)
        printf(" overnight");
    if (parcel->service->features & SIGNED)
        printf(" sign here: ______");
    printf("\n");
}

int main(void)
{
    char line[100];
    int number = 0;
    while (fgets(line, sizeof line, stdin)) {
        struct parcel parcel;
        number++;
        if (parse(line, &parcel) < 0) {
            fprintf(stderr, "line %d: not understood\n", number);
            return 2;
        }
        print_label(&parcel);
    }
    return 0;
}
