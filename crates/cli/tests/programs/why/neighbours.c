/* Texts beside others: an argument, and a block of the heap that is not written to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *copy = malloc(6);
    int same = strcmp(argv[1], "alpha") == 0;
    int length = strlen(argv[1]);
    if (strncmp(argv[1], "be", 2) == 0)
        length++;
    memcpy(copy, argv[1], 2);
    printf("%d %d %c\n", same, length, copy[0]);
    return 0;
}
