/* Arguments and environment, as handed over by the kernel and as changed by the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    printf("%d", argc);
    for (int i = 1; i < argc; i++)
        printf(" <%s>", argv[i]);
    printf(" %d\n", argv[argc] == NULL);
    for (char **entry = environ; *entry; entry++)
        puts(*entry);
    printf("%s %d\n", getenv("HOME"), getenv("ABSENT") == NULL);
    setenv("ADDED", "one", 0);
    setenv("ADDED", "two", 0);
    setenv("HOME", "/elsewhere", 1);
    putenv("PUT=three");
    unsetenv("TERM");
    printf("%s %s %s %d\n", getenv("ADDED"), getenv("HOME"), getenv("PUT"), getenv("TERM") == NULL);
    clearenv();
    printf("%d\n", environ == NULL || *environ == NULL);
    printf("%ld %ld %d\n", sysconf(_SC_PAGESIZE), getauxval(AT_PAGESZ), getauxval(AT_SECURE) == 0);
    printf("%d %d\n", strcmp((char *)getauxval(AT_EXECFN), argv[0]), getauxval(AT_RANDOM) != 0);
    printf("%s %s\n", program_invocation_name == argv[0] ? "same" : "other", strrchr(argv[0], '/') + 1 == program_invocation_short_name ? "short" : "long");
    return 0;
}
