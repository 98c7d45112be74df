/* A loop that writes one element too many, into a neighbour on the stack. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct {
        char name[8];
        int count;
    } entry;
    entry.count = 1;
    const char *from = argv[1];
    int i;
    for (i = 0; from[i]; i++)
        entry.name[i] = from[i];
    printf("%d\n", entry.count);
    if (argc > 2)
        strcpy(entry.name, argv[2]);
    printf("%d\n", entry.count);
    return 0;
}
