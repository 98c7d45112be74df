/* Memory maps: anonymous, of files, protected, moved, grown, and filled with code made on the spot. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static unsigned sum(const unsigned char *bytes, size_t count)
{
    unsigned total = 0;
    for (size_t i = 0; i < count; i++)
        total = total * 31 + bytes[i];
    return total;
}

int main(void)
{
    unsigned char *area = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%u\n", sum(area, 64 * PAGE));
    for (int i = 0; i < 64 * PAGE; i++)
        area[i] = (unsigned char)(i / 7);
    printf("%u\n", sum(area, 64 * PAGE));
    printf("%d %d\n", munmap(area + 8 * PAGE, 4 * PAGE), munmap(area + 8 * PAGE, 4 * PAGE));
    unsigned char *fixed = mmap(area + 9 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("%d %d\n", fixed == area + 9 * PAGE, fixed[0]);
    printf("%d %d\n", mprotect(area, 4 * PAGE, PROT_READ), mprotect(area + 8 * PAGE, PAGE, PROT_READ));
    printf("%s\n", strerror(errno));
    unsigned char *moved = mremap(area + 16 * PAGE, 16 * PAGE, 48 * PAGE, MREMAP_MAYMOVE);
    printf("%u %d\n", sum(moved, 16 * PAGE), moved[40 * PAGE]);
    madvise(moved, 2 * PAGE, MADV_DONTNEED);
    printf("%u\n", sum(moved, 4 * PAGE));

    int fd = open("mapped", O_RDWR | O_CREAT, 0644);
    for (int i = 0; i < 3000; i++)
        dprintf(fd, "record %d\n", i);
    unsigned char *file = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
    printf("%u\n", sum(file, 5 * PAGE));
    memcpy(file, "private!", 8);
    char back[9] = {0};
    pread(fd, back, 8, PAGE);
    printf("%d\n", memcmp(back, "private!", 8) != 0);
    close(fd);
    printf("%.8s %u\n", file, sum(file + PAGE, PAGE));
    fd = open("/proc/self/exe", O_RDONLY);
    unsigned char *self = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    printf("%.3s\n", self + 1);
    printf("%d %s\n", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED, strerror(errno));
    printf("%d %s\n", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED, strerror(errno));

    /* mov eax, N; ret, rewritten again and again: stale translations would show. */
    unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int total = 0;
    for (int i = 0; i < 1000; i++) {
        unsigned char bytes[] = {0xb8, (unsigned char)i, (unsigned char)(i >> 8), 0, 0, 0xc3};
        memcpy(code, bytes, sizeof bytes);
        total += ((int (*)(void))(uintptr_t)code)();
    }
    mprotect(code, PAGE, PROT_READ | PROT_EXEC);
    printf("%d %d\n", total, ((int (*)(void))(uintptr_t)code)());

    unsigned char *start = sbrk(0);
    sbrk(10 * PAGE);
    start[0] = start[10 * PAGE - 1] = 9;
    printf("%d %d\n", (int)((unsigned char *)sbrk(0) - start), start[0] + start[10 * PAGE - 1]);
    sbrk(-10 * PAGE);
    printf("%d\n", sbrk(0) == start);
    return 0;
}
