/* Control flow out of the ordinary: setjmp and longjmp, function pointers, computed gotos, jump tables, recursion of several kinds. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf outer, inner;

static void deep(int depth)
{
    char padding[100];
    memset(padding, depth, sizeof padding);
    if (depth == 0)
        longjmp(outer, 42);
    deep(depth - 1);
    printf("never %d\n", padding[5]);
}

static int jumps(void)
{
    volatile int count = 0;
    int value = setjmp(outer);
    if (value == 0)
        deep(50);
    printf("jumped with %d\n", value);
    while (setjmp(inner) < 5) {
        count++;
        longjmp(inner, count);
    }
    printf("round %d times\n", count);
    if (setjmp(inner) == 0)
        longjmp(inner, 0);
    else
        puts("zero becomes one");
    sigjmp_buf masked;
    int again = sigsetjmp(masked, 1);
    if (again < 2)
        siglongjmp(masked, again + 1);
    return again;
}

/* A little machine with a computed goto a step. */
static long interpret(const unsigned char *code)
{
    static void *const steps[] = {&&halt, &&push, &&add, &&multiply, &&jump_if_less, &&duplicate, &&swap, &&subtract};
    long stack[32], *top = stack;
    const unsigned char *at = code;
    long counter = 0;
#define NEXT goto *steps[*at++]
    NEXT;
push: *top++ = *at++; NEXT;
add: top--; top[-1] += *top; NEXT;
multiply: top--; top[-1] = top[-1] * *top % 1000003; NEXT;
subtract: top--; top[-1] -= *top; NEXT;
duplicate: *top = top[-1]; top++; NEXT;
swap: { long t = top[-1]; top[-1] = top[-2]; top[-2] = t; } NEXT;
jump_if_less: if (++counter < 100000) at = code + *at; else at++; NEXT;
halt: return top[-1];
}

static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
static int depth_of(volatile int *limit, int depth) { volatile char frame[64]; frame[depth % 64] = 1; return depth == *limit ? frame[depth % 64] : depth_of(limit, depth + 1) + 1; }

static int moves;
static void hanoi(int n, int from, int to, int over)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, over, to);
    moves = (moves * 3 + from * 2 + to) % 1000003;
    hanoi(n - 1, over, to, from);
}

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; }
static int apply(int (*f)(int, int), int a, int b) { return f(a, b); }

static const char *name_of(int n)
{
    switch (n) {
    case 0: return "zero"; case 1: return "one"; case 2: return "two"; case 3: return "three"; case 4: return "four"; case 5: return "five";
    case 6: return "six"; case 7: return "seven"; case 100: return "hundred"; case -5: return "minus five"; case 1000000: return "million";
    default: return "many";
    }
}

int main(void)
{
    printf("%d\n", jumps());
    static const unsigned char code[] = {1, 1, 5, 1, 3, 3, 1, 7, 2, 6, 7, 1, 13, 2, 4, 2, 0};
    printf("%ld\n", interpret(code));
    printf("%d %d %d %d\n", ackermann(2, 300), fibonacci(24), is_even(10001), is_odd(7));
    volatile int limit = 30000;
    printf("%d\n", depth_of(&limit, 0));
    hanoi(14, 1, 2, 3);
    printf("%d\n", moves);
    int (*table[])(int, int) = {add, subtract, multiply};
    int value = 7;
    for (int i = 0; i < 30; i++)
        value = apply(table[i % 3], value, i) % 1000;
    printf("%d\n", value);
    static const int asked[] = {-5, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 1000000};
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
        printf("%s ", name_of(asked[i]));
    putchar('\n');
    return 0;
}
