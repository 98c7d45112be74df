/* System calls about signals, as far as they go without handlers being run. */
#include "case.h"
#include <signal.h>
#include <sys/time.h>

static void handler(int signal) {}

CASE(rt_sigaction)
{
    struct sigaction set = {.sa_handler = handler, .sa_flags = SA_RESTART}, got;
    TELL(sigaction(SIGUSR1, &set, NULL)); TELL(sigaction(SIGUSR1, NULL, &got)); printf("%d %d\n", got.sa_handler == handler, got.sa_flags == SA_RESTART); TELL(sigaction(SIGTERM, NULL, &got)); printf("%d\n", got.sa_handler == SIG_DFL);
    TELL(sigaction(SIGKILL, &set, NULL)); TELL(sigaction(99, &set, NULL)); set.sa_handler = SIG_IGN; TELL(sigaction(SIGTERM, &set, &got)); TELL(raise(SIGTERM)); puts("ignored");
}
CASE(rt_sigprocmask)
{
    sigset_t set, old; sigemptyset(&set); sigaddset(&set, SIGUSR2); sigaddset(&set, SIGKILL);
    TELL(sigprocmask(SIG_BLOCK, &set, NULL)); TELL(sigprocmask(SIG_SETMASK, NULL, &old)); printf("%d %d %d\n", sigismember(&old, SIGUSR2), sigismember(&old, SIGKILL), sigismember(&old, SIGTERM)); TELL(sigprocmask(77, &set, NULL));
    TELL(sigprocmask(SIG_UNBLOCK, &set, &old)); TELL(sigprocmask(SIG_BLOCK, NULL, &old)); printf("%d\n", sigismember(&old, SIGUSR2));
}
CASE(rt_sigpending) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, NULL); raise(SIGUSR1); sigemptyset(&set); TELL(sigpending(&set)); printf("%d\n", sigismember(&set, SIGUSR1)); }
CASE(sigaltstack) { stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, old; TELL(sigaltstack(&stack, &old)); printf("%d\n", old.ss_flags); TELL(sigaltstack(NULL, &old)); printf("%d\n", old.ss_sp == stack.ss_sp); stack.ss_size = 10; TELL(sigaltstack(&stack, NULL)); }
CASE(kill) { TELL(kill(getpid(), 0)); TELL(kill(getpid(), 999)); signal(SIGUSR1, SIG_IGN); TELL(kill(getpid(), SIGUSR1)); TELL(kill(getpid(), SIGCHLD)); TELL(kill(getpid(), SIGCONT)); }
CASE(tgkill) { TELL(syscall(SYS_tgkill, getpid(), gettid(), 0)); signal(SIGUSR1, SIG_IGN); TELL(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1)); TELL(syscall(SYS_tgkill, -1, gettid(), 0)); }
CASE(alarm) { TELL(alarm(1000)); printf("%d\n", alarm(0) >= 999); struct itimerval t = {{0, 0}, {5000, 0}}, old; TELL(setitimer(ITIMER_REAL, &t, NULL)); TELL(getitimer(ITIMER_REAL, &old)); printf("%d\n", old.it_value.tv_sec > 4000); }

CASES(ENTRY(rt_sigaction), ENTRY(rt_sigprocmask), ENTRY(rt_sigpending), ENTRY(sigaltstack), ENTRY(kill), ENTRY(tgkill), ENTRY(alarm))
