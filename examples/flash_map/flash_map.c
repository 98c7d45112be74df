/* Lays out the segments of a firmware image and prints the map of its words.
 *
 * Each segment is described by a line "name words"; it begins one word after the end of the one before, and
 * that word in between is a guard, shown as "guard". All other words are shown with the number of their segment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SEGMENTS = 16,
    MAX_WORDS = 64,
    NAME_SIZE = 24,
    GUARD = -1,
};

struct segment {
    char name[NAME_SIZE];
    int words;
};

struct image {
    struct segment segments[MAX_SEGMENTS];
    int count;
    int start[MAX_SEGMENTS + 1];
    int owner[MAX_WORDS];
    int used;
};

static int read_segments(FILE *in, struct image *image)
{
    while (image->count < MAX_SEGMENTS) {
        struct segment *segment = &image->segments[image->count];
        int fields = fscanf(in, "%23s %d", segment->name, &segment->words);
        if (fields == EOF)
            break;
        if (fields != 2 || segment->words <= 0)
            return -1;
        image->count++;
    }
    return image->count;
}

/* Gives every word to a segment; a guard belongs to the segment that it stands before. */
static int place(struct image *image)
{
    int next = 0;
    for (int i = 0; i < image->count; i++) {
        int size = image->segments[i].words + 1;
        if (next + size > MAX_WORDS)
            return -1;
        image->start[i] = next;
        for (int word = 0; word < size; word++)
            image->owner[next + word] = i + 1;
        next += size;
    }
    image->start[image->count] = next;
    image->used = next;
    return 0;
}

static void mark_guards(struct image *image)
{
    for (int i = 0; i < image->count; i++) {
        int first = image->start[i + 1];
        if (first < MAX_WORDS)
            image->owner[first] = GUARD;
    }
}

static void print_map(const struct image *image)
{
    for (int word = 0; word < image->used; word++) {
        if (image->owner[word] == GUARD)
            printf("%04x guard\n", word * 4);
        else
            printf("%04x %d\n", word * 4, image->owner[word]);
    }
}

int main(int argc, char **argv)
{
    static struct image image;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    if (read_segments(in, &image) < 0) {
        fprintf(stderr, "segment %d is not \"name words\"\n", image.count + 1);
        return 2;
    }
    if (place(&image) < 0) {
        fprintf(stderr, "the image is full\n");
        return 1;
    }
    mark_guards(&image);
    print_map(&image);
    return 0;
}
