#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
static sigjmp_buf back;
static volatile int told, unrelated;
static int *volatile place;
static void on_fault(int number)
{
    int factor = 6;
    told = factor * 7;
    unrelated = 1;
    siglongjmp(back, 1);
}
static void on_signal(int number, siginfo_t *info, void *context)
{
    told += 10;
    unrelated = number;
}
static void skip(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    long answer = 33;
    context->uc_mcontext.gregs[REG_RAX] = answer;
    context->uc_mcontext.gregs[REG_RIP] += 2;
}
static void tick(int number)
{
    unrelated++;
}
static int faulting(int input)
{
    int before = input + 1;
    place = input > 100 ? &before : NULL;
    if (sigsetjmp(back, 0) == 0)
        *place = before;
    return told + before;
}
static int dividing(int input)
{
    int divisor = input - 5;
    if (sigsetjmp(back, 0) == 0)
        told = 100 / divisor;
    return told;
}
static int raising(int input)
{
    int kept = input * 3;
    told = 2;
    raise(SIGUSR1);
    return told + kept;
}
static long skipping(int input)
{
    long result;
    asm volatile("movl $1, %%eax; cltd; xorl %%ecx, %%ecx; idivl %%ecx" : "=a"(result) : : "ecx", "edx", "cc");
    return result + input;
}
static double computing(int input)
{
    double sum = 0;
    struct itimerval often = {{0, 2}, {0, 2}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 4000; i++)
        sum += input * 0.5 + (i & 3);
    setitimer(ITIMER_REAL, &never, NULL);
    return sum;
}
int main(int count, char **arguments)
{
    const char *way = arguments[1];
    int input = atoi(arguments[2]);
    struct sigaction action = {.sa_handler = on_fault};
    if (strcmp(way, "raise") == 0)
        action.sa_sigaction = on_signal, action.sa_flags = SA_SIGINFO;
    if (strcmp(way, "skip") == 0)
        action.sa_sigaction = skip, action.sa_flags = SA_SIGINFO;
    if (strcmp(way, "compute") == 0)
        action.sa_handler = tick;
    int numbers[] = {SIGSEGV, SIGFPE, SIGUSR1, SIGALRM};
    for (int i = 0; i < 4; i++)
        sigaction(numbers[i], &action, NULL);
    double result = 0;
    if (strcmp(way, "fault") == 0)
        result = faulting(input);
    if (strcmp(way, "divide") == 0)
        result = dividing(input);
    if (strcmp(way, "raise") == 0)
        result = raising(input);
    if (strcmp(way, "skip") == 0)
        result = skipping(input);
    if (strcmp(way, "compute") == 0)
        result = computing(input);
    printf("%.0f\n", result);
    return 0;
}
