/* Ways to end badly, one an argument. Output before the end must not get lost, and the status tells the signal. */
#define _GNU_SOURCE
#include <assert.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero, hundred = 100;
static int *volatile null;
static volatile uintptr_t odd_address = 0x8000000000000000u;
static const char constant[] = "constant";

static int endless(volatile int *depth)
{
    volatile char frame[500];
    frame[*depth % 500] = 1;
    ++*depth;
    return endless(depth) + frame[7];
}

__attribute__((noinline)) static void die_by(const char *how)
{
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(zero == 1 && "the impossible");
    if (!strcmp(how, "null-read")) printf("%d\n", *null);
    if (!strcmp(how, "null-write")) *null = 1;
    if (!strcmp(how, "null-call")) ((void (*)(void))(uintptr_t)null)();
    if (!strcmp(how, "wild")) *(volatile char *)0x123456789000 = 1;
    if (!strcmp(how, "non-canonical")) printf("%d\n", *(volatile char *)odd_address);
    if (!strcmp(how, "constant")) *(volatile char *)constant = 'C';
    if (!strcmp(how, "code")) *(volatile char *)(uintptr_t)&die_by = 0;
    if (!strcmp(how, "data-as-code")) ((void (*)(void))(uintptr_t)&zero)();
    if (!strcmp(how, "divide")) printf("%d\n", hundred / zero);
    if (!strcmp(how, "divide-overflow")) printf("%d\n", (INT32_MIN + zero) / (zero - 1));
    if (!strcmp(how, "illegal")) __asm__ volatile("ud2");
    if (!strcmp(how, "trap")) __asm__ volatile("int3");
    if (!strcmp(how, "privileged")) __asm__ volatile("hlt");
    if (!strcmp(how, "misaligned")) __asm__ volatile("lea 1(%%rsp), %%rax; movaps (%%rax), %%xmm0" ::: "rax", "xmm0");
    if (!strcmp(how, "stack")) { int depth = 0; printf("%d\n", endless(&depth)); }
    if (!strcmp(how, "past-the-map")) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page + 4096, 4096);
        memset(page, 1, 4097);
    }
    if (!strcmp(how, "term")) raise(SIGTERM);
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "usr1")) kill(0, SIGUSR1);
    if (!strcmp(how, "pipe")) { int ends[2]; pipe(ends); close(ends[0]); write(ends[1], "x", 1); }
    if (!strcmp(how, "double-free")) { char *volatile p = malloc(2000), *volatile q = malloc(1); free(p); free(p); free(q); }
    if (!strcmp(how, "stack-smash")) { volatile char small[8]; for (int i = 0; i < 64 + zero; i++) small[i] = 'x'; }
}

int main(int argc, char **argv)
{
    puts("still alive");
    fprintf(stderr, "about to die by %s\n", argv[1]);
    fflush(stdout);
    die_by(argv[1]);
    puts("survived");
    return 0;
}
