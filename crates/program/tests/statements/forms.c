/* Statements over several lines, several on a line, bodies and conditions, inlined functions. */
#include <stdio.h>

static inline int twice(int a)
{
    int b = a * 2;
    return b;
}

static inline __attribute__((always_inline)) int fourfold(int a)
{
    return twice(a) +
           twice(a);
}

int calls(int a,
          int b)
{
    printf("%d %d %d\n",
           a,
           twice(b),
           a + b); /* a remark */
    int c = twice(a) + fourfold(b); // another one
    int d = fourfold(
        c
    );
    return c +
           d;
}

int choices(int a, int b)
{
    int c = 0;
    if (a > 1 &&
        (b > 2 ||
         a > 3))
        c = 1;
    else if (b)
    {
        c = 2;
    } else {
        c = a ? b
              : 4;
    }
    if (a) c++; else c--;
    if (a == 7) { c = 4; b = 5; }
    switch (a + b) {
    case 1:
        c = 3;
        break;
    case 2: c = 4; break;
    case 3:
    case 4: {
        c += 2;
    }
    default:
        c++;
    }
    return c > 2 ? c : -c;
}

int declarations(int n)
{
    int a = n, b = a + 1;
    int c,
        d = b;
    int list[] = { n,
                   n + 1,
                   n + 2 };
    static int kept = 3;
    struct { int x, y; } point = {
        .x = n,
        .y = a,
    };
    a++; b--; c = a + b;
    kept += list[1] + point.x;
    return a + b + c +
           d + kept;
}

int conditional_text(int n)
{
#if defined(UNLIKELY) && UNLIKELY > 3
    n = 3;
#else
    n = 4;
#endif
    return n + ({
        int m = n;
        m * 2;
    });
}

int main(int argc, char **argv) { (void)argv; int a = calls(argc, 2); a += choices(argc, 3); return a + declarations(a) + conditional_text(a); }
