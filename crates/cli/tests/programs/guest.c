/* Does one small thing; the first argument says which. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int echo(void) {
    char buffer[4096];
    ssize_t count;
    while ((count = read(0, buffer, sizeof buffer)) > 0)
        if (write(1, buffer, count) != count)
            return 1;
    return count < 0;
}

static int change_files(void) {
    int file = open("made.txt", O_WRONLY | O_CREAT | O_TRUNC, 0640);
    if (file < 0 || write(file, "made\n", 5) != 5 || close(file))
        return 1;
    if (mkdir("directory", 0755) || rename("made.txt", "directory/moved.txt"))
        return 2;
    file = open("kept.txt", O_WRONLY | O_APPEND);
    if (file < 0 || write(file, "more\n", 5) != 5)
        return 3;
    return unlink("gone.txt") || symlink("/etc/passwd", "link") ? 4 : 0;
}

int main(int argc, char **argv) {
    char *what = argv[1];
    if (!strcmp(what, "exit"))
        return atoi(argv[2]);
    if (!strcmp(what, "print")) {
        fprintf(stderr, "to stderr\n");
        printf("%d arguments, last %s\n", argc, argv[argc - 1]);
        return 0;
    }
    if (!strcmp(what, "env")) {
        char *value = getenv(argv[2]);
        puts(value ? value : "(not set)");
        return 0;
    }
    if (!strcmp(what, "echo"))
        return echo();
    if (!strcmp(what, "ask")) {
        char name[100];
        fputs("name? ", stdout);
        fflush(stdout);
        if (!fgets(name, sizeof name, stdin))
            return 1;
        printf("hello %s", name);
        return 0;
    }
    if (!strcmp(what, "tty"))
        return 10 + isatty(0) + 2 * isatty(1);
    if (!strcmp(what, "yes"))
        while (puts("yes") != EOF)
            ;
    if (!strcmp(what, "files"))
        return change_files();
    return 99;
}
