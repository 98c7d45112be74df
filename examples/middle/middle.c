/* Prints the middle one of three numbers. Two faults, both triggered on 2 1 3. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int x = atoi(argv[1]), y = atoi(argv[2]), z = atoi(argv[3]);
    int m = y;                     /* fault: should be z */
    if (y < z) {
        if (x < y)
            m = y;
        else if (x > z)            /* fault: should be x < z */
            m = x;
    } else {
        if (x > y)
            m = y;
        else if (x > z)
            m = x;
    }
    printf("%d\n", m);
    return 0;
}
