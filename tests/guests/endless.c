/* Programs that would never end, or never stop taking, and one that needs a newer processor, one an argument. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argv[1];
    if (!strcmp(how, "loop"))
        for (volatile unsigned long i = 0;; i++)
            ;
    if (!strcmp(how, "output"))
        for (;;)
            puts("and on it goes");
    if (!strcmp(how, "memory"))
        for (;;)
            memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(how, "file"))
        for (FILE *file = fopen("large", "w");;)
            if (fwrite("0123456789abcdef", 1, 16, file) != 16)
                return perror("large"), 3;
    if (!strcmp(how, "descriptors"))
        while (dup(1) >= 0)
            ;
    if (!strcmp(how, "wait")) {
        int ends[2];
        char byte;
        pipe(ends);
        read(ends[0], &byte, 1);
    }
    if (!strcmp(how, "pause"))
        pause();
    if (!strcmp(how, "sleep"))
        for (int i = 0; i < 1000; i++)
            sleep(1000000);
    if (!strcmp(how, "avx")) {
        __asm__ volatile("vaddps %ymm0, %ymm1, %ymm2");
        puts("added");
    }
    return 0;
}
