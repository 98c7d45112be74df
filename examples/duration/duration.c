/* Adds up the lengths of the tracks of an album, "minutes:seconds title", and prints how long it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct album {
    int tracks;
    int seconds;
    int longest;
    char longest_title[60];
};

static int parse_length(const char *text, const char **title)
{
    char *end;
    long minutes = strtol(text, &end, 10);
    if (end == text || *end != ':' || minutes < 0)
        return -1;
    const char *start = end + 1;
    long seconds = strtol(start, &end, 10);
    if (end == start || seconds < 0 || seconds > 59)
        return -1;
    while (*end == ' ')
        end++;
    *title = end;
    return (int)(60 * minutes + seconds);
}

static void add_track(struct album *album, int seconds, const char *title)
{
    album->tracks++;
    album->seconds += seconds;
    if (seconds > album->longest) {
        album->longest = seconds;
        snprintf(album->longest_title, sizeof album->longest_title, "%s", title);
    }
}

static void print_length(const char *what, int seconds)
{
    int hours = seconds / 3600;
    int minutes = seconds / 60 - hours;
    if (hours > 0)
        printf("%s: %d:%02d:%02d\n", what, hours, minutes, seconds % 60);
    else
        printf("%s: %d:%02d\n", what, minutes, seconds % 60);
}

int main(void)
{
    struct album album = {0};
    char line[100];
    int number = 0;
    while (fgets(line, sizeof line, stdin)) {
        const char *title;
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        int seconds = parse_length(line, &title);
        if (seconds < 0) {
            fprintf(stderr, "line %d: no length\n", number);
            return 2;
        }
        add_track(&album, seconds, title);
    }
    if (album.tracks == 0) {
        printf("empty\n");
        return 0;
    }
    printf("longest: %s\n", album.longest_title);
    print_length("average", album.seconds / album.tracks);
    print_length("total", album.seconds);
    return 0;
}
