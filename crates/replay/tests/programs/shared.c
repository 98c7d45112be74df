/* One value that several statements use. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int base = atoi(argv[1]);
    int more = base + 1;
    int twice = base * 2;
    int far = more * twice;
    int sum = far + base;
    printf("%d\n", sum);
    return 0;
}
