/* Signal handlers that run and return. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static sigjmp_buf back;
static void count(int signal) { seen += signal; }
static void leave(int signal, siginfo_t *info, void *context) { siglongjmp(back, signal); }

int main(void)
{
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    printf("%d\n", (int)seen);
    struct sigaction jump = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &jump, NULL);
    int signal = sigsetjmp(back, 1);
    if (signal == 0)
        *(volatile int *)8 = 1;
    printf("%d\n", signal);
    alarm(1);
    action.sa_handler = count;
    sigaction(SIGALRM, &action, NULL);
    pause();
    printf("%d\n", (int)seen);
    return 0;
}
