/* Standard input, read in every way there is. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    int number, numbers = 0;
    long total = 0;
    char word[50], *line = NULL;
    size_t capacity = 0;
    while (scanf("%d", &number) == 1)
        total += number, numbers++;
    printf("%d numbers, sum %ld\n", numbers, total);
    printf("%d %s\n", scanf(" %49s", word), word);
    printf("%c|\n", getchar());
    for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 1;)
        printf("%zd %s", length, line);
    int count[4] = {0};
    for (int c; (c = getc_unlocked(stdin)) != EOF;)
        count[isalpha(c) ? 0 : isdigit(c) ? 1 : isspace(c) ? 2 : 3]++;
    printf("%d %d %d %d eof %d again %d\n", count[0], count[1], count[2], count[3], !!feof(stdin), getchar());
    printf("%d %zd\n", isatty(0), read(0, word, 10));
    return 0;
}
