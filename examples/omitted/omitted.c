/* A value that is wrong because code that would have set it did not run. */
#include <assert.h>

int main(void)
{
    int a = 2;
    int b = 1;
    int c = 1;
    int d = 0;
    if (a > 0) {
        if (b < 0)
            if (c != 2)
                c = 2;
        d = c + 3;
    }
    assert(d == 5);
    return 0;
}
