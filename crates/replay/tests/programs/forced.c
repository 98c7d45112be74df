/* Values that code two conditions deep would have changed. The first argument says which way is taken. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int outer, inner, value = 1, other, count;
static int *nowhere;

static int nested(void)
{
    int result = 1;
    if (outer)
        if (inner)
            result = 2;
    return result;
}

static int wild(void)
{
    int result = 1;
    if (outer)
        if (inner) {
            *nowhere = 1;
            result = 2;
        }
    return result;
}

static int loud(void)
{
    int result = 1;
    if (outer)
        if (inner) {
            write(2, "x", 1);
            result = 2;
        }
    return result;
}

static void spin(void)
{
    for (volatile int i = 0; i < 1000000; i++)
        other++;
}

static int slow(void)
{
    int result = 1;
    if (outer)
        if (inner) {
            spin();
            result = 2;
        }
    return result;
}

static int loop(void)
{
    int result = 1;
    if (outer)
        for (int i = 0; i < count; i++)
            if (i == 5)
                result = 2;
    return result;
}

static int table(void)
{
    int result = 1;
    if (outer)
        switch (count) {
        case 0: other = 1; break;
        case 1: other = 3; break;
        case 2: other = 5; break;
        case 3: other = 9; break;
        case 4: result = 2; break;
        case 5: other = 4; break;
        }
    return result;
}

static int rounds(void)
{
    int result = 1, sum = 0;
    for (int i = 0; i < 1000; i++) {
        if (outer)
            if (inner)
                other = i;
        sum += i;
    }
    if (outer)
        result = 2;
    return result + sum;
}

static int cases(void)
{
    int result = 1;
    switch (count + 3) {
    case 0: other = 1; break;
    case 1: other = 3; break;
    case 2: other = 5; break;
    case 3: other = 9; break;
    case 4: result = 2; break;
    case 5: other = 4; break;
    }
    return result;
}

static int inside(void)
{
    int result = 1;
    switch (count + 3) {
    case 0: other = 1; break;
    case 1: other = 3; break;
    case 2: other = 5; break;
    case 3: other = 9; break;
    case 4: if (inner) result = 2; break;
    case 5: other = 4; break;
    }
    return result;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*run)(void); } ways[] = {
        { "nested", nested }, { "wild", wild }, { "loud", loud }, { "slow", slow },
        { "loop", loop }, { "table", table }, { "rounds", rounds },
        { "cases", cases }, { "inside", inside },
    };
    for (int i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            value = ways[i].run();
    printf("%d\n", value);
    return 0;
}
