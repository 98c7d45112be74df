/* Ways to end well: statuses, handlers and their order, streams flushed or not. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void first(void) { puts("first handler"); }
static void second(void) { puts("second handler"); }
static void exits_again(void) { puts("exits again"); exit(9); }
static void told(int status, void *what) { printf("told %d %s\n", status, (char *)what); }
__attribute__((constructor)) static void before(void) { puts("constructor"); }
__attribute__((destructor)) static void after(void) { puts("destructor"); }

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    atexit(first);
    on_exit(told, "once");
    atexit(second);
    printf("main, %s\n", how);
    if (!strcmp(how, "return"))
        return 3;
    if (!strcmp(how, "exit"))
        exit(255);
    if (!strcmp(how, "large"))
        exit(0x1234);
    if (!strcmp(how, "negative"))
        exit(-1);
    if (!strcmp(how, "at-once")) {
        fflush(stdout);
        printf("lost");
        _exit(7);
    }
    if (!strcmp(how, "quick"))
        quick_exit(8);
    if (!strcmp(how, "again"))
        atexit(exits_again);
    return 0;
}
