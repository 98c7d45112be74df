/* System calls about memory. */
#include "case.h"
#include <sys/mman.h>

enum { PAGE = 4096 };
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static char *pages(int count) { return mmap(NULL, count * PAGE, RW, ANONYMOUS, -1, 0); }

CASE(mmap)
{
    char *a = pages(4);
    printf("%d %d\n", a[0], a[4 * PAGE - 1]);
    memset(a, 7, 4 * PAGE);
    char *b = mmap(a + PAGE, PAGE, RW, ANONYMOUS | MAP_FIXED, -1, 0);
    printf("%d %d %d %d\n", b == a + PAGE, a[PAGE - 1], b[0], a[2 * PAGE]);
    TELL(mmap(a, PAGE, RW, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    TELL(mmap(NULL, 0, RW, ANONYMOUS, -1, 0));
    TELL(mmap(a + 1, PAGE, RW, ANONYMOUS | MAP_FIXED, -1, 0));
    TELL(mmap(NULL, PAGE, RW, MAP_PRIVATE, -1, 0));
    TELL(mmap(NULL, (size_t)1 << 62, RW, ANONYMOUS, -1, 0));
    file("f", "mapped content");
    int fd = open("f", O_RDWR);
    char *c = mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0);
    printf("%s %d\n", c, c[PAGE - 1]);
    memcpy(c, "MAPPED", 6);
    show("f");
    TELL(mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 1));
    fd = open("f", O_WRONLY);
    TELL(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0));
    char *d = mmap((void *)0x10000000, PAGE, RW, ANONYMOUS, -1, 0);
    printf("%d\n", d == (void *)0x10000000);
}

CASE(munmap)
{
    char *a = pages(5);
    TELL(munmap(a + PAGE, PAGE));
    TELL(munmap(a + PAGE, PAGE));
    TELL(munmap(a + 1, PAGE));
    TELL(munmap(a, 0));
    a[0] = a[2 * PAGE] = 1;
    TELL(write(1, a + PAGE, 1));
    TELL(munmap(a, 5 * PAGE));
}

CASE(mprotect)
{
    char *a = pages(3);
    TELL(mprotect(a, PAGE, PROT_READ));
    TELL(read(open("/dev/zero", O_RDONLY), a, 1));
    TELL(mprotect(a, PAGE, RW));
    TELL(read(open("/dev/zero", O_RDONLY), a, 1));
    TELL(mprotect(a + PAGE, PAGE, PROT_NONE));
    TELL(write(open("/dev/null", O_WRONLY), a + PAGE, 1) >= -1);
    TELL(mprotect(a + 1, PAGE, RW));
    munmap(a + 2 * PAGE, PAGE);
    TELL(mprotect(a + PAGE, 2 * PAGE, RW));
    TELL(mprotect(a, 0, RW));
}

CASE(mremap)
{
    char *a = pages(4);
    for (int i = 0; i < 4; i++)
        a[i * PAGE] = (char)(i + 1);
    char *b = mremap(a, 4 * PAGE, 400 * PAGE, MREMAP_MAYMOVE);
    printf("%d %d %d %d %d\n", b[0], b[PAGE], b[2 * PAGE], b[3 * PAGE], b[399 * PAGE]);
    printf("%d\n", mremap(b, 400 * PAGE, 2 * PAGE, 0) == b);
    char *place = pages(10);
    char *c = mremap(b, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + PAGE);
    printf("%d %d %d\n", c == place + PAGE, c[0], c[PAGE]);
    TELL((long)mremap(b, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE));
    TELL((long)mremap(place + 1, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
    TELL((long)mremap(place, PAGE, 0, MREMAP_MAYMOVE));
    TELL((long)mremap(c, PAGE, 2 * PAGE, 0) == -1 ? -1 : 0);
}

CASE(brk)
{
    char *start = (char *)syscall(SYS_brk, 0);
    char *end = (char *)syscall(SYS_brk, start + 5 * PAGE + 100);
    printf("%ld\n", (long)(end - start));
    start[0] = end[-1] = 3;
    syscall(SYS_brk, start + PAGE);
    end = (char *)syscall(SYS_brk, start + 5 * PAGE + 100);
    printf("%d %d\n", start[0], end[-1]);
    printf("%d\n", (char *)syscall(SYS_brk, 16) == end);
    printf("%d\n", (char *)syscall(SYS_brk, (uintptr_t)1 << 60) == end);
    printf("%d\n", (char *)syscall(SYS_brk, start) == start);
}

CASE(madvise)
{
    char *a = pages(4);
    memset(a, 5, 4 * PAGE);
    TELL(madvise(a + PAGE, 2 * PAGE, MADV_DONTNEED));
    printf("%d %d %d %d\n", a[0], a[PAGE], a[2 * PAGE], a[3 * PAGE]);
    TELL(madvise(a, PAGE, MADV_WILLNEED));
    TELL(madvise(a, PAGE, MADV_SEQUENTIAL));
    TELL(madvise(a + 1, PAGE, MADV_NORMAL));
    TELL(madvise(a, PAGE, 9999));
    munmap(a + PAGE, PAGE);
    TELL(madvise(a, 2 * PAGE, MADV_DONTNEED));
}

CASES(ENTRY(mmap), ENTRY(munmap), ENTRY(mprotect), ENTRY(mremap), ENTRY(brk), ENTRY(madvise))
