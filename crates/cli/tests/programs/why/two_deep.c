/* A price from which two deductions were left out: one by one condition, one by two. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int amount = atoi(argv[1]);
    int is_member = amount > 100;
    int is_first = amount > 50;
    int price = amount * 7;
    if (amount > 10)
        price -= 5;
    if (is_member)
        if (is_first)
            price -= 3;
    printf("%d\n", price);
    return 0;
}
