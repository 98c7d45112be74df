/* Build with -DFAULT for the failing version, without for the reference.
   The loop sums a list; x says whether the next element is to be skipped. */
#include <stdio.h>

struct element { int val; struct element *next; };

int main(void)
{
    struct element third = {3, NULL}, second = {2, &third}, first = {1, &second};
    struct element *p = &first;
    int sum = 0, x;
    while (p) {
        sum += p->val;
#ifdef FAULT
        x = p->val < 2;
#else
        x = p->val == 2;
#endif
        if (x)
            p = p->next;
        p = p->next;
    }
    printf("%d\n", sum);
    return 0;
}
