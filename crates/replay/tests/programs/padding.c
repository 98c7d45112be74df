/* Numbers in columns. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int width = atoi(argv[1]);
    int value = atoi(argv[2]);
    const char *name = argv[3];
    printf("%*d|%*s\n", width, value, -width, name);
    printf("%.*d\n", width, value);
    return 0;
}
