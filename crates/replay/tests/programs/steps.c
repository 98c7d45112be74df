/* Where values come from, by different ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int table[4] = { 10, 20, 30, 40 };
static int kept;

static void keep(int value)
{
    kept = value * 2;
}

static int look_up(int index)
{
    return table[index];
}

int main(int argc, char **argv)
{
    int number = atoi(argv[1]);
    int unused = number + 5;
    char *text = malloc(16);
    int other = 7;
    strcpy(text, argv[2]);
    printf("first %d\n", unused);
    if (number > 1)
        keep(other);
    int found = look_up(number);
    text[1] = 'x';
    printf("%s %d %d\n", text, found, kept);
    return 0;
}
