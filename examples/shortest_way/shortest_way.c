/* Prints the shortest way between two places; edges "from to length" on standard input. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 16, FAR = INT_MAX / 2 };

struct map {
    char names[MAX_PLACES][16];
    int count;
    int length[MAX_PLACES][MAX_PLACES];
};

static int place(struct map *map, const char *name)
{
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->names[i], name) == 0)
            return i;
    if (map->count == MAX_PLACES)
        exit(2);
    snprintf(map->names[map->count], sizeof map->names[0], "%s", name);
    for (int i = 0; i < MAX_PLACES; i++)
        map->length[map->count][i] = map->length[i][map->count] = FAR;
    return map->count++;
}

static int nearest(const int *distance, const int *is_done, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!is_done[i] && (best < 0 || distance[i] <= distance[best]))
            best = i;
    return best;
}

static int shortest(const struct map *map, int from, int to, int *before)
{
    int distance[MAX_PLACES], is_done[MAX_PLACES] = {0};
    for (int i = 0; i < map->count; i++) {
        distance[i] = map->length[from][i];
        before[i] = from;
    }
    distance[from] = 0;
    is_done[from] = 1;
    for (int at = nearest(distance, is_done, map->count); at >= 0; at = nearest(distance, is_done, map->count)) {
        is_done[at] = 1;
        if (distance[at] >= FAR)
            break;
        for (int i = 0; i < map->count; i++) {
            int length = distance[at] + map->length[at][i];
            if (is_done[i] && length < distance[i]) {
                distance[i] = length;
                before[i] = at;
            }
        }
    }
    return distance[to];
}

static void print_way(const struct map *map, const int *before, int from, int to)
{
    if (to != from) {
        print_way(map, before, from, before[to]);
        printf(" > ");
    }
    printf("%s", map->names[to]);
}

int main(int argc, char **argv)
{
    static struct map map;
    int before[MAX_PLACES];
    char one[16], other[16];
    int length;
    while (scanf("%15s %15s %d", one, other, &length) == 3) {
        int from = place(&map, one), to = place(&map, other);
        map.length[from][to] = map.length[to][from] = length;
    }
    if (argc != 3)
        return 2;
    int from = place(&map, argv[1]), to = place(&map, argv[2]);
    int far = shortest(&map, from, to, before);
    if (far >= FAR)
        printf("no way\n");
    else {
        print_way(&map, before, from, to);
        printf(": %d\n", far);
    }
    return 0;
}
