/* Most of the work is done by others. */
#include <stdio.h>
#include <stdlib.h>

int scale(int value);

int main(int argc, char **argv)
{
    int scaled = scale(atoi(argv[1]));
    printf("%d\n", scaled);
    return 0;
}
