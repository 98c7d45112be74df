/* A child process, its exit status, and a pipe between the two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int ends[2], status;
    char text[20] = {0};
    pipe(ends);
    pid_t child = fork();
    if (child == 0) {
        write(ends[1], "from the child", 14);
        _exit(5);
    }
    waitpid(child, &status, 0);
    read(ends[0], text, sizeof text - 1);
    printf("%s, status %d\n", text, WEXITSTATUS(status));
    return system("exit 3") >> 8;
}
