/* A file of system call cases: `PROGRAM NAME` runs the case NAME, which prints what came back. Raw calls go through syscall(2), so that
   the C library cannot put another one in its place. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct named_case { const char *name; void (*run)(void); };

#define CASE(call) static void case_##call(void)
#define ENTRY(call) {#call, case_##call}

/* Calls it, prints its text with the result or the error's name, and gives the result. */
#define TELL(...) tell(#__VA_ARGS__, (long)(__VA_ARGS__))
static long tell(const char *text, long result)
{
    if (result == -1)
        printf("%s: %s\n", text, strerrorname_np(errno));
    else
        printf("%s: %ld\n", text, result);
    return result;
}

/* The same for results that are not the same everywhere, such as descriptors and addresses. */
#define WORKS(...) works(#__VA_ARGS__, (long)(__VA_ARGS__))
static long works(const char *text, long result)
{
    printf("%s: %s\n", text, result == -1 ? strerrorname_np(errno) : "ok");
    return result;
}

static void file(const char *name, const char *content)
{
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (fd < 0 || write(fd, content, strlen(content)) < 0 || close(fd))
        perror(name), exit(99);
}

static void show(const char *name)
{
    char text[200] = {0};
    int fd = open(name, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    printf("%s: %zd \"%s\"\n", name, length, text);
    if (fd >= 0)
        close(fd);
}

static int run_case(const struct named_case *cases, int count, const char *name)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* or printing would allocate, which the cases on memory would see */
    umask(022);
    for (int i = 0; i < count; i++)
        if (!strcmp(cases[i].name, name)) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "no case %s\n", name);
    return 98;
}

#define CASES(...)                                                                         \
    int main(int argc, char **argv)                                                        \
    {                                                                                      \
        static const struct named_case cases[] = {__VA_ARGS__};                            \
        return run_case(cases, sizeof cases / sizeof *cases, argc > 1 ? argv[1] : "");     \
    }
