/* A sum that is only sometimes set to zero: the first round of the loop uses what was there. */
#include <stdio.h>

static int total(const int *prices, int count, int discount)
{
    int sum;
    if (discount > 10)
        sum = 0;
    for (int i = 0; i < count; i++)
        sum += prices[i];
    return sum - discount;
}

int main(int argc, char **argv)
{
    int prices[] = { 3, 4, 5 };
    printf("%d\n", total(prices, 3, argc));
    return 0;
}
