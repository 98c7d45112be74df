/* Ends badly in as many ways as there are; the first argument says in which. */
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int value;
};

static int sum(struct node *list) {
    int total = 0;
    while (1) {
        total += list->value;
        list = list->next;
    }
    return total;
}

static int divide(int a, int b) {
    return a / b;
}

static int recurse(int depth) {
    volatile int kept[10];
    kept[0] = depth;
    return recurse(depth + 1) + kept[0];
}

static void call(void (*function)(void)) {
    function();
}

/* One instruction, so that it does not matter when it is stopped. */
static int spin(void) {
    while (1)
        ;
}


int main(int argc, char **argv) {
    struct node last = {NULL, 1};
    char *way = argv[1];
    if (!strcmp(way, "null"))
        return *(volatile int *)(argc - 2L);
    if (!strcmp(way, "offset"))
        return sum(&last);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "divide"))
        return divide(argc, argc - 2);
    if (!strcmp(way, "quotient"))
        return divide(-2147483646 - argc, argc - 3);
    if (!strcmp(way, "recursion"))
        return recurse(argc);
    if (!strcmp(way, "call"))
        call(NULL);
    if (!strcmp(way, "constant"))
        *(char *)"constant" = 1;
    if (!strcmp(way, "pointer"))
        return *(int *)(0x4141414141414140 + argc);
    if (!strcmp(way, "stack"))
        ((void (*)(void))&last)();
    if (!strcmp(way, "trap"))
        __builtin_trap();
    if (!strcmp(way, "align"))
        __asm__("movaps 8(%rsp), %xmm0\n movaps (%rsp), %xmm0");
    if (!strcmp(way, "avx"))
        __asm__("vaddps %ymm0, %ymm0, %ymm0");
    if (!strcmp(way, "spin"))
        return spin();
    if (!strcmp(way, "memory"))
        while (1)
            for (char *block = malloc(1 << 20), *byte = block; byte < block + (1 << 20); byte += 4096)
                *byte = 1;
    return 0;
}
