/* A text that is put together in a buffer. */
#include <stdio.h>
#include <string.h>

static char buffer[64];

int main(int argc, char **argv)
{
    const char *text = buffer, *last;
    strcpy(buffer, "hello ");
    if (argc > 1)
        strcat(buffer, argv[1]);
    last = text + strlen(text) - 1;
    printf("%s %c\n", text, *last);
    return 0;
}
