/* A filter: it makes up lines of text, tidies each of them, and writes it out before it looks at the next.
   filter LINES: a line takes about 3,000 instructions at -O0. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 120, WIDTH = 57 };

/* What counts as too wide. With -DLIMIT=WIDTH+1 that is wrong, and shows in one line of the first 800. */
#ifndef LIMIT
#define LIMIT WIDTH
#endif

static uint32_t state = 1;
static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Words with too many spaces between them, some of them in capitals, and sometimes a remark. */
static void make_line(char *line)
{
    int length = 20 + next() % 40;
    for (int i = 0; i < length; i++) {
        unsigned kind = next() % 8;
        line[i] = kind < 2 ? ' ' : kind == 2 ? 'A' + next() % 26 : 'a' + next() % 26;
    }
    if (next() % 4 == 0)
        line[length / 2] = '#';
    line[length] = '\0';
}

static void cut_remark(char *line)
{
    char *remark = strchr(line, '#');
    if (remark)
        *remark = '\0';
}

/* One space between words, none at the ends. */
static void squeeze(char *line)
{
    char *to = line;
    int pending = 0;
    for (char *from = line; *from; from++) {
        if (isspace((unsigned char)*from)) {
            pending = to != line;
            continue;
        }
        if (pending)
            *to++ = ' ';
        pending = 0;
        *to++ = *from;
    }
    *to = '\0';
}

/* Only first letters may be capitals. */
static void lower(char *line)
{
    int inside = 0;
    for (; *line; line++) {
        if (inside && *line >= 'A' && *line <= 'Z')
            *line += 'a' - 'A';
        inside = *line != ' ';
    }
}

static void cut_wide(char *line)
{
    if (strlen(line) > LIMIT)
        line[WIDTH] = '\0';
}

int main(int argc, char **argv)
{
    int lines = argc > 1 ? atoi(argv[1]) : 100;
    char line[LONGEST];
    for (int number = 1; number <= lines; number++) {
        make_line(line);
        cut_remark(line);
        squeeze(line);
        lower(line);
        cut_wide(line);
        if (*line)
            printf("%d %s\n", number, line);
        fflush(stdout);
    }
    return 0;
}
