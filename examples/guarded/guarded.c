/* A value that is wrong because its guard holds. */
#include <assert.h>

int main(void)
{
    int x = 0;
    int y = 1;
    if (y == 1)
        x = x + 1;
    assert(x == 0);
    return 0;
}
