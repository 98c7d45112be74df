/* Copies a text and leaves out the notes of its authors: all from a line "@note" to the next line "@end".
 * A line "@draft" leaves out all that follows, unless drafts are asked for by -d.
 */
#include <stdio.h>
#include <string.h>

enum mode { TEXT, NOTE, DRAFT };

struct filter {
    enum mode mode;
    int keeps_drafts;
    long copied;
    long left_out;
};

/* Takes the end of the line off. */
static void chomp(char *line)
{
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n')
        line[length - 1] = '\0';
}

static void copy(struct filter *filter, const char *line)
{
    if (filter->mode == TEXT) {
        puts(line);
        filter->copied++;
    } else {
        filter->left_out++;
    }
}

static void directive(struct filter *filter, const char *line)
{
    if (strcmp(line, "@note") == 0) {
        if (filter->mode == TEXT)
            filter->mode = NOTE;
    } else if (strcmp(line, "@end") == 0) {
        if (filter->mode == NOTE)
            filter->mode = TEXT;
    } else if (strcmp(line, "@draft") == 0) {
        if (!filter->keeps_drafts)
            filter->mode = DRAFT;
    } else {
        copy(filter, line);
    }
}

int main(int argc, char **argv)
{
    struct filter filter = {.mode = TEXT};
    char line[512];
    if (argc > 1 && strcmp(argv[1], "-d") == 0)
        filter.keeps_drafts = 1;
    else if (argc > 1) {
        fprintf(stderr, "usage: strip_notes [-d] < TEXT\n");
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        chomp(line);
        if (line[0] == '@')
            directive(&filter, line);
        else
            copy(&filter, line);
    }
    if (filter.mode == NOTE)
        fprintf(stderr, "a note has no end\n");
    return filter.copied + filter.left_out == 0;
}
