/* What a handler is told of a fault, and what it can change: siginfo, the registers in the context, the float state. */
#define _GNU_SOURCE
#include <fenv.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern char load_at[], store_at[], divide_at[], illegal_at[], trap_at[], general_at[], float_at[], after_load[], after_store[],
    after_divide[], after_illegal[], after_general[], after_float[];

static struct {
    const char *name;
    char *at, *after;
} places[] = {
    {"load", load_at, after_load},          {"store", store_at, after_store},
    {"divide", divide_at, after_divide},    {"illegal", illegal_at, after_illegal},
    {"general", general_at, after_general}, {"float", float_at, after_float},
};

static char *page;
static unsigned seen;

static void handler(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t rip = registers[REG_RIP];
    seen++;
    printf("signal %d %d errno %d code %d", number, info->si_signo, info->si_errno, info->si_code);
    uintptr_t address = (uintptr_t)info->si_addr;
    if (address == rip)
        printf(" address of the instruction");
    else if (page && address >= (uintptr_t)page && address < (uintptr_t)page + 8192)
        printf(" address page+%lu", address - (uintptr_t)page);
    else
        printf(" address %#lx", address);
    printf(" trap %lld error %lld", (long long)registers[REG_TRAPNO], (long long)registers[REG_ERR]);
    if (registers[REG_TRAPNO] == 14 && registers[REG_CR2] == address)
        printf(" cr2 the same");
    if (number == SIGTRAP) {
        printf(" after trap %d\n", rip == (uintptr_t)trap_at + 1);
        return;
    }
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if ((uintptr_t)places[i].at == rip) {
            printf(" at %s", places[i].name);
            registers[REG_RIP] = (uintptr_t)places[i].after;
        }
    printf(" selectors %#llx flags %#llx\n", (long long)registers[REG_CSGSFS] & 0xffff, (long long)registers[REG_EFL] & 0x8d5);
    registers[REG_RBX] += 5;
    registers[REG_R12] = 0x1234567890;
    context->uc_mcontext.fpregs->_xmm[5].element[1] = 77;
}

/* Faults of all kinds, with known registers around them. */
static void show(const char *what, long rbx, long r12)
{
    printf("%s: rbx %ld r12 %#lx\n", what, rbx, r12);
}

#define AROUND(WHAT, CODE, ...)                                                                                        \
    do {                                                                                                               \
        long rbx = 10, r12 = 1, low;                                                                                   \
        asm volatile("movq %[rbx], %%rbx; movq %[r12], %%r12; pxor %%xmm5, %%xmm5; cmpq $11, %%rbx\n" CODE             \
                     "movq %%rbx, %[rbx]; movq %%r12, %[r12]; pshufd $1, %%xmm5, %%xmm5; movq %%xmm5, %[low]"          \
                     : [rbx] "+r"(rbx), [r12] "+r"(r12), [low] "=r"(low)                                               \
                     : __VA_ARGS__                                                                                     \
                     : "rbx", "r12", "rax", "rdx", "rcx", "xmm5", "xmm6", "xmm7", "memory", "cc");                                     \
        show(WHAT, rbx, r12);                                                                                          \
        printf("xmm5 %ld\n", low);                                                                                     \
    } while (0)

__attribute__((noinline)) static void load(char *from) { AROUND("load", "load_at: movb (%[from]), %%al; after_load:\n", [from] "r"(from)); }
__attribute__((noinline)) static void store(char *to) { AROUND("store", "store_at: movb $1, (%[to]); after_store:\n", [to] "r"(to)); }
__attribute__((noinline)) static void divide(long by)
{
    AROUND("divide", "xorl %%edx, %%edx; movl $7, %%eax; movq %[by], %%rcx; divide_at: idivl %%ecx; after_divide:\n", [by] "r"(by));
}
__attribute__((noinline)) static void illegal(void) { AROUND("illegal", "illegal_at: ud2; after_illegal:\n", "i"(0)); }
__attribute__((noinline)) static void trap(void) { AROUND("trap", "trap_at: int3\n", "i"(0)); }
__attribute__((noinline)) static void general(void)
{
    AROUND("general", "movabsq $0x8000000000000000, %%rcx; general_at: movb (%%rcx), %%al; after_general:\n", "i"(0));
}
__attribute__((noinline)) static void misaligned(char *from)
{
    AROUND("misaligned", "movq %[from], %%rcx; incq %%rcx; movaps (%%rcx), %%xmm6\n", [from] "r"(from));
}
__attribute__((noinline)) static void divide_floats(double a, double b)
{
    AROUND("float", "movsd %[a], %%xmm6; movsd %[b], %%xmm7; float_at: divsd %%xmm7, %%xmm6; after_float:\n", [a] "m"(a), [b] "m"(b));
}

static sigjmp_buf back;
static void leave(int number, siginfo_t *info, void *context)
{
    printf("leaving: signal %d code %d\n", number, info->si_code);
    siglongjmp(back, number);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (int i = 0; i < 5; i++)
        sigaction(numbers[i], &action, NULL);
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 1;
    load(NULL);
    load((char *)12);
    store((char *)8);
    mprotect(page, 4096, PROT_READ);
    load(page + 3);
    store(page + 3);
    mprotect(page, 4096, PROT_NONE);
    load(page + 5);
    store(page + 5);
    munmap(page + 4096, 4096);
    load(page + 4099);
    general();
    divide(0);
    illegal();
    trap();
    char name[] = "file-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    ftruncate(file, 100);
    munmap(page, 4096);
    page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    load(page + 4100);
    store(page + 4100);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
    divide_floats(1, 0);
    divide_floats(0, 0);
    divide_floats(1e300, 1e-300);
    fedisableexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    divide_floats(1, 3);
    printf("%u signals\n", seen);
    action.sa_sigaction = leave;
    for (int i = 0; i < 5; i++)
        sigaction(numbers[i], &action, NULL);
    static char aligned[32] __attribute__((aligned(16)));
    if (sigsetjmp(back, 1) == 0)
        misaligned(aligned);
    if (sigsetjmp(back, 1) == 0)
        ((void (*)(void))16)();
    for (volatile int i = 0; i < 3; i++) {
        int number = sigsetjmp(back, 1);
        if (number == 0)
            *(volatile int *)(uintptr_t)(i * 8) = 1;
        printf("%d: %d\n", i, number);
    }
    return 0;
}
