/* Functions that are left by jumps: chains of tail calls, chains that could have been others, and calls of oneself. */
#include <stdio.h>

#define APART __attribute__((noinline, noclone))

static volatile int sink;
static int depth;

/* Everything ends here. */
APART static int stop(int number) {
    sink = number; /* stop */
    sink += depth;
    return sink + 1;
}

/* One way from the first to the last. */
APART static int last(int number) {
    sink = number + 3;
    return stop(number * 3);
}

APART static int middle(int number) {
    sink = number + 2;
    return last(number + 7);
}

APART static int first(int number) {
    int doubled = number * 2;
    sink = doubled;
    return middle(doubled);
}

/* Two ways that meet again: only their ends are sure. */
APART static int left(int number) {
    sink = number + 11;
    return last(number + 1);
}

APART static int right(int number) {
    sink = number + 12;
    return last(number + 2);
}

APART static int fork(int number) {
    sink = number;
    if (number & 1)
        return left(number);
    return right(number);
}

APART static int to_fork(int number) {
    sink = number + 13;
    return fork(number + 4);
}

/* Two calls of the same function: nobody knows which was made. */
APART static int twice(int number) {
    sink = number;
    if (number & 1)
        return stop(number + 5);
    sink = number + 1;
    return stop(number + 6);
}

/* It calls itself, by another. */
APART static int ping(int number);

APART static int pong(int number) {
    sink = number;
    return ping(number - 1);
}

APART static int ping(int number) {
    sink = number;
    if (number <= 0)
        return stop(number);
    return pong(number - 1);
}

/* A jump to who knows where. */
APART static int anywhere(int (*function)(int), int number) {
    sink = number;
    return function(number + 9);
}

/* A jump into the library. */
APART static int say(const char *text) {
    sink = 1;
    return puts(text);
}

int main(void) {
    int total = 0;
    for (int round = 0; round < 2000; round++) {
        depth = round;
        total += first(round) + 1;
        total += to_fork(round) + 2;
        total += fork(round) + 3;
        total += twice(round) + 4;
        total += ping(round & 3) + 5;
        total += anywhere(stop, round) + 6;
        total += stop(round) + 7;
        if (round % 100 == 0)
            total += say("round") + 8;
    }
    printf("%d\n", total);
    return 0;
}
