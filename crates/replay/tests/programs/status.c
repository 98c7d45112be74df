#include <stdlib.h>

static int twice(int n)
{
    return n * 2;
}
int main(int argc, char **argv)
{
    int status = twice(atoi(argv[1]));
    return status + 1;
}
