/* A wrong value read through a pointer. */
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    int x = 2, y = 3;
    int *p = malloc(2 * sizeof(int));
    int *pp = p + 1;
    x = x + 2;
    p[1] = x;
    p[0] = y;
    if (x > 4)
        p[1] = 3;
    assert(*pp == 3);
    return 0;
}
