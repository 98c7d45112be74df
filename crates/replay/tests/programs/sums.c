/* Instructions that read and write memory at once, loops, recursion. */
#include <stdio.h>

static int total;

static void add(int value)
{
    total += value;
}

static int depth(int n)
{
    if (n == 0)
        return 100;
    return depth(n - 1) + 1;
}

int main(void)
{
    int sum = 3;
    int other = 9;
    for (int i = 0; i < 4; i++) {
        sum += i;
        other -= 2;
    }
    add(sum);
    printf("%d\n", sum);
    printf("%d\n", total + depth(3));
    return other;
}
