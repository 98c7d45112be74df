/* Much output, in many small and a few large pieces, to both streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    for (int i = 0; i < 60000; i++)
        printf("%d squared is %ld, in hex %lx\n", i, (long)i * i, (long)i * i);
    fflush(stdout);
    size_t size = 3 << 20;
    char *block = malloc(size);
    for (size_t i = 0; i < size; i++)
        block[i] = "0123456789abcdef"[i * 7 % 16];
    for (size_t done = 0; done < size;)
        done += write(1, block + done, size - done);
    for (int i = 0; i < 300; i++)
        fprintf(stderr, "complaint %d\n", i), putchar(i), write(1, "", 1);
    return 0;
}
