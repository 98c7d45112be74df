/* Handlers on a stack of their own. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static char *stack;
static size_t size = 65536;
static sigjmp_buf back;
static volatile int levels;

static int is_on_stack(void *pointer) { return (char *)pointer >= stack && (char *)pointer < stack + size; }

static void say_state(const char *when)
{
    stack_t now;
    sigaltstack(NULL, &now);
    printf("%s: %s size %zu flags %d\n", when, now.ss_sp == stack ? "ours" : now.ss_sp ? "another" : "none", now.ss_size, now.ss_flags);
}

static void overflowed(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    int local;
    long distance = (char *)context->uc_mcontext.gregs[REG_RSP] - (char *)info->si_addr;
    printf("signal %d on our stack %d, near the stack pointer %d\n", number, is_on_stack(&local), distance > -65536 && distance < 65536);
    printf("context: %s %zu %d\n", context->uc_stack.ss_sp == stack ? "ours" : "other", context->uc_stack.ss_size, context->uc_stack.ss_flags);
    say_state("in the handler");
    stack_t none = {.ss_flags = SS_DISABLE};
    printf("disabling it there: %d %d\n", sigaltstack(&none, NULL), errno == EPERM);
    siglongjmp(back, 1);
}

static void again(int number)
{
    int local;
    printf("level %d on our stack %d\n", levels, is_on_stack(&local));
    if (levels++ < 2)
        raise(number);
}

__attribute__((noinline)) static int deep(int n)
{
    volatile char space[1000];
    space[n % 1000] = n;
    return n < 0 ? 0 : deep(n + 1) + space[n % 1000];
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    say_state("at first");
    stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t ours = {.ss_sp = stack, .ss_size = size};
    printf("%d\n", sigaltstack(&ours, NULL));
    say_state("set");
    stack_t small = {.ss_sp = stack, .ss_size = 100};
    int result = sigaltstack(&small, NULL);
    printf("too small: %d %d\n", result, errno == ENOMEM);
    stack_t odd = {.ss_sp = stack, .ss_size = size, .ss_flags = 64};
    result = sigaltstack(&odd, NULL);
    printf("odd: %d %d\n", result, errno == EINVAL);
    struct sigaction action = {.sa_sigaction = overflowed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(back, 1) == 0)
            printf("%d\n", deep(0));
        else
            printf("back from too deep\n");
    say_state("afterwards");
    struct sigaction nest = {.sa_handler = again, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGUSR1, &nest, NULL);
    raise(SIGUSR1);
    nest.sa_flags = SA_NODEFER;
    levels = 0;
    sigaction(SIGUSR1, &nest, NULL);
    raise(SIGUSR1);
    nest.sa_flags = SA_NODEFER | SA_ONSTACK;
    levels = 0;
    sigaction(SIGUSR1, &nest, NULL);
    stack_t disarmed = {.ss_sp = stack, .ss_size = size, .ss_flags = 1u << 31};
    printf("%d\n", sigaltstack(&disarmed, NULL));
    raise(SIGUSR1);
    say_state("rearmed");
    stack_t none = {.ss_flags = SS_DISABLE};
    printf("%d\n", sigaltstack(&none, NULL));
    say_state("disabled");
    levels = 2;
    raise(SIGUSR1);
    return 0;
}
