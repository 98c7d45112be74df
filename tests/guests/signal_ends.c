/* Ways in which signals end a program, kind and unkind ones. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(const char *text) { write(1, text, strlen(text)); }
static volatile int zero;
static volatile long rounds;

static void install(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void raise_again(int number)
{
    say("handler\n");
    signal(number, SIG_DFL);
    raise(number);
    say("still in the handler\n");
}

static void give_up(int number)
{
    say("handler\n");
    signal(number, SIG_DFL);
}

static void just_return(int number) { say("once\n"); }
static void leave(int number) { say("leaving\n"), _exit(7); }
static void fault_again(int number) { say("handler\n"), *(volatile int *)8 = 1; }
static void recurse(int number) { rounds++, raise(number); }
static void on_other_stack(int number) { say("told on the other stack\n"), _exit(9); }

static void send(int number)
{
    /* With a stack pointer at nowhere. */
    asm volatile("movq %0, %%rsp; movq $62, %%rax; syscall; ud2" : : "r"(64l), "D"((long)getpid()), "S"((long)number) : "memory");
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    alarm(0);
    if (!strcmp(way, "reraise")) {
        install(SIGSEGV, raise_again, 0);
        *(volatile int *)0 = 1;
    } else if (!strcmp(way, "default-then-fault")) {
        install(SIGSEGV, give_up, 0);
        *(volatile int *)0 = 1;
    } else if (!strcmp(way, "once")) {
        install(SIGFPE, just_return, SA_RESETHAND);
        printf("%d\n", 7 / zero);
    } else if (!strcmp(way, "exit")) {
        install(SIGILL, leave, 0);
        __builtin_trap();
    } else if (!strcmp(way, "fault-in-handler")) {
        install(SIGSEGV, fault_again, 0);
        *(volatile int *)0 = 1;
    } else if (!strcmp(way, "blocked")) {
        install(SIGSEGV, leave, 0);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        *(volatile int *)0 = 1;
    } else if (!strcmp(way, "ignored")) {
        signal(SIGFPE, SIG_IGN);
        printf("%d\n", 7 / zero);
    } else if (!strcmp(way, "abort")) {
        install(SIGABRT, just_return, 0);
        abort();
    } else if (!strcmp(way, "no-stack")) {
        install(SIGUSR1, just_return, 0);
        send(SIGUSR1);
    } else if (!strcmp(way, "no-stack-but-another")) {
        static char space[65536];
        stack_t stack = {.ss_sp = space, .ss_size = sizeof space};
        sigaltstack(&stack, NULL);
        install(SIGUSR1, just_return, 0);
        install(SIGSEGV, on_other_stack, SA_ONSTACK);
        send(SIGUSR1);
    } else if (!strcmp(way, "bad-other-stack")) {
        stack_t stack = {.ss_sp = (void *)0x10000, .ss_size = 65536};
        sigaltstack(&stack, NULL);
        install(SIGUSR1, just_return, SA_ONSTACK);
        raise(SIGUSR1);
    } else if (!strcmp(way, "bad-handler")) {
        install(SIGUSR1, (void (*)(int))0x10, 0);
        raise(SIGUSR1);
    } else if (!strcmp(way, "bad-handlers")) {
        install(SIGSEGV, (void (*)(int))0x10, SA_NODEFER);
        *(volatile int *)0 = 1;
    } else if (!strcmp(way, "rubbish")) {
        static char rubbish[4096];
        memset(rubbish, 0xa5, sizeof rubbish);
        asm volatile("movq %0, %%rsp; movq $15, %%rax; syscall" : : "r"(rubbish + 1024) : "memory");
    } else if (!strcmp(way, "endless")) {
        install(SIGUSR1, recurse, SA_NODEFER);
        raise(SIGUSR1);
    } else if (!strcmp(way, "alarm")) {
        alarm(1);
        pause();
    } else if (!strcmp(way, "pipe")) {
        int ends[2];
        pipe(ends);
        close(ends[0]);
        install(SIGPIPE, leave, 0);
        write(ends[1], "x", 1);
    }
    printf("%ld\n", rounds);
    return 0;
}
