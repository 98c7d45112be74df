/* Prints the lines of a log that contain a text.
 *
 *   log_sift [-i] [-n] [-w] TEXT [FILE]
 *
 * -i  upper and lower case are the same
 * -n  numbers before the lines
 * -w  the text has to be a word of its own
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
    int ignore_case;
    int numbers;
    int whole_words;
};

static int same_letter(char one, char other, const struct options *options)
{
    if (options->ignore_case)
        return tolower((unsigned char)one) == tolower((unsigned char)other);
    return one == other;
}

static int starts_with(const char *line, const char *text, const struct options *options)
{
    for (; *text; line++, text++)
        if (!*line || !same_letter(*line, *text, options))
            return 0;
    return 1;
}

static int is_word_letter(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* Where the text begins in the line, or NULL. */
static const char *find(const char *line, const char *text, const struct options *options)
{
    size_t length = strlen(text);
    for (const char *at = line; *at; at++) {
        if (!starts_with(at, text, options))
            continue;
        if (options->whole_words) {
            int begins = at == line || !is_word_letter(at[-1]);
            int ends = !is_word_letter(at[length]);
            if (!begins || !ends)
                return NULL;
        }
        return at;
    }
    return NULL;
}

static long sift(FILE *in, const char *text, const struct options *options)
{
    char line[1024];
    long number = 0, found = 0;
    while (fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (!find(line, text, options))
            continue;
        found++;
        if (options->numbers)
            printf("%ld:", number);
        puts(line);
    }
    return found;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    int option;
    while ((option = getopt(argc, argv, "inw")) != -1) {
        switch (option) {
        case 'i':
            options.ignore_case = 1;
            break;
        case 'n':
            options.numbers = 1;
            break;
        case 'w':
            options.whole_words = 1;
            break;
        default:
            return 2;
        }
    }
    if (optind == argc) {
        fprintf(stderr, "usage: log_sift [-i] [-n] [-w] TEXT [FILE]\n");
        return 2;
    }
    FILE *in = optind + 1 < argc ? fopen(argv[optind + 1], "r") : stdin;
    if (!in) {
        perror(argv[optind + 1]);
        return 2;
    }
    return sift(in, argv[optind], &options) ? 0 : 1;
}
