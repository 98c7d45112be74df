/* Fails in the way that its first argument names. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int divide(int a, int b) {
    return a / b;
}

static int sum(const int *numbers, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += numbers[i]; /* adding */
    }
    return total;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int zero = argc - 2;
    if (!strcmp(how, "null")) {
        *(volatile int *) (long) zero = 1;
    } else if (!strcmp(how, "divide")) {
        return divide(1, zero);
    } else if (!strcmp(how, "abort")) {
        abort();
    } else if (!strcmp(how, "assert")) {
        assert(zero > 0 && "more than nothing");
    } else if (!strcmp(how, "spin")) {
        for (volatile int i = 0;; i++) {
        }
    } else if (!strcmp(how, "wait")) {
        pause();
    } else if (!strcmp(how, "print")) {
        fputs("first\n", stdout);
        fflush(stdout);
        fputs(argv[2], stdout);
    } else if (!strcmp(how, "complain")) {
        fputs(argv[2], stderr);
    } else if (!strcmp(how, "file")) {
        FILE *file = fopen("made-by-the-program", "w");
        fputs(argv[2], file);
        fclose(file);
        if (chdir("/") != 0)
            return 9;
    } else if (!strcmp(how, "exit")) {
        return atoi(argv[2]);
    } else if (!strcmp(how, "sum")) {
        int numbers[] = { 1, 2, 3, 4 };
        printf("%d\n", sum(numbers, 4));
    }
    return 0;
}
