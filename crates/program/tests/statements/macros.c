/* Code that macros stand for belongs to the line that uses them. */
#include <stdlib.h>

#define LARGER(a, b) \
    ((a) > (b)       \
         ? (a)       \
         : (b))
#define LARGEST(a, b, c) LARGER(LARGER(a, b), c)
#define SWAP(a, b)       \
    do {                 \
        int saved = (a); \
        (a) = (b);       \
        (b) = saved;     \
    } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define CHECK(condition) \
    if (!(condition))    \
        abort()
#define DEFINE(name, value) \
    int name(void)          \
    {                       \
        int kept = value;   \
        return kept;        \
    }

DEFINE(seven, 7)

int values(int a, int b)
{
    int c = LARGER(a, b);
    c = LARGEST(a,
                b + 1,
                c * 2);
    SWAP(a, b);
    SWAP(b,
         c);
    return a + b + c;
}

int conditions(int a, int b)
{
    int sum = 0;
    if (LARGER(a, b) > 3 && b < 10)
        sum++;
    for (int i = 0; i < LARGER(a, b); i += LARGER(1, 2))
        sum += i;
    EACH(i, a)
        sum += i;
    EACH(j, a) EACH(k, b) for (int i = 0; i < j; i++)
        sum += i * k;
    while (LARGEST(sum, a, b) < 5) sum++;
    CHECK(sum >= 0);
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    return values(argc, 2) + conditions(argc, 2) + seven();
}
