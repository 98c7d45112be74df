/* Ways that control goes: each is asked for by name. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf place;
static int cells[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };

static int depth(int n)
{
    if (n == 0)
        return 3;
    int below = depth(n - 1);
    return below + 1;
}

static int find(int wanted)
{
    for (int i = 0; i < 8; i++) {
        if (cells[i] == wanted)
            return i;
    }
    return -1;
}

static void leave(int how)
{
    if (how % 2)
        longjmp(place, how);
    cells[7] = how;
}

static int jump(int count)
{
    volatile int sum = 0;
    volatile int other = 0;
    for (volatile int i = 0; i < count; i++) {
        int code = setjmp(place);
        if (code == 0)
            leave(i);
        else
            sum += code;
        other++;
    }
    return sum;
}

static int machine(const char *text)
{
    static void *const table[] = { &&add, &&twice, &&stop };
    int value = 1;
    int steps = 0;
    goto *table[*text - 'a'];
add:
    value += 5;
    steps++;
    goto *table[*++text - 'a'];
twice:
    value *= 2;
    steps++;
    goto *table[*++text - 'a'];
stop:
    return value;
}

static int loop(int count)
{
    int odd = 0;
    int unused = 0;
    for (int i = 0; i < count; i++) {
        if (i & 1)
            odd++;
        unused += odd;
    }
    return odd;
}

static int nest(int count)
{
    int sum = 0;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            for (int c = 0; c < count; c++)
                while (1) {
                    if (c > b)
                        break;
                    if (a > c)
                        goto next;
                    sum++;
                    break;
                next:
                    sum += 2;
                    break;
                }
    return sum;
}

static int even(int n);

static int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

static int even(int n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

int main(int argc, char **argv)
{
    int given = atoi(argv[2]);
    int result = 0;
    if (!strcmp(argv[1], "depth"))
        result = depth(given);
    if (!strcmp(argv[1], "find"))
        result = find(given);
    if (!strcmp(argv[1], "jump"))
        result = jump(given);
    if (!strcmp(argv[1], "machine"))
        result = machine(argv[2]);
    if (!strcmp(argv[1], "loop"))
        result = loop(given);
    if (!strcmp(argv[1], "nest"))
        result = nest(given);
    if (!strcmp(argv[1], "even"))
        result = even(given);
    printf("%d\n", result);
    return 0;
}
