/* Thread-local variables of the one thread: initialised, zero, aligned, in every access model that the linkage uses. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static __thread int counter = 41;
__thread char zeroes[300];
__thread long aligned __attribute__((aligned(64))) = 7;
static __thread struct { int a; char text[20]; } record = {5, "initial"};

__attribute__((noinline)) static int bump(void) { return ++counter; }

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum += zeroes[i];
    printf("%d %d %ld %d %d %s\n", bump(), sum, aligned, (int)((uintptr_t)&aligned % 64), record.a, record.text);
    strcpy(record.text, "changed");
    int *there = &counter;
    *there += 10;
    errno = 0;
    fopen("/absent/file", "r");
    printf("%d %s %d\n", bump(), record.text, errno == ENOENT);
    return 0;
}
