/* System calls about signals. */
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

CASE(setitimer) { struct itimerval t = {{2, 500}, {5000, 0}}, old; TELL(setitimer(ITIMER_REAL, &t, &old)); printf("%ld\n", (long)old.it_value.tv_sec); t.it_value.tv_usec = 1000000; TELL(setitimer(ITIMER_REAL, &t, NULL)); TELL(setitimer(7, &t, NULL)); t.it_value.tv_sec = t.it_value.tv_usec = 0; TELL(setitimer(ITIMER_REAL, &t, &old)); printf("%ld %ld %d\n", (long)old.it_interval.tv_sec, (long)old.it_interval.tv_usec, old.it_value.tv_sec > 4000); TELL(setitimer(ITIMER_VIRTUAL, &old, NULL)); TELL(setitimer(ITIMER_PROF, &old, &t)); }
CASE(getitimer) { struct itimerval t = {{0, 0}, {50, 0}}; setitimer(ITIMER_REAL, &t, NULL); TELL(getitimer(ITIMER_REAL, &t)); printf("%d\n", t.it_value.tv_sec >= 49); TELL(getitimer(ITIMER_PROF, &t)); printf("%ld\n", (long)t.it_value.tv_sec); TELL(getitimer(3, &t)); }
CASE(pause) { signal(SIGALRM, handler); alarm(1); TELL(pause()); }
CASE(rt_sigreturn) { signal(SIGUSR1, handler); TELL(raise(SIGUSR1)); TELL(kill(getpid(), SIGUSR1)); }
CASE(rt_sigsuspend) { sigset_t set, old; sigemptyset(&set); sigaddset(&set, SIGUSR1); signal(SIGUSR1, handler); sigprocmask(SIG_BLOCK, &set, &old); raise(SIGUSR1); TELL(sigsuspend(&old)); sigpending(&set); printf("%d\n", sigismember(&set, SIGUSR1)); }
CASE(rt_sigtimedwait) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, NULL); siginfo_t info; struct timespec time = {0, 1000}; TELL(sigtimedwait(&set, &info, &time)); raise(SIGUSR1); TELL(sigtimedwait(&set, &info, &time)); printf("%d\n", info.si_code); time.tv_nsec = -1; TELL(sigtimedwait(&set, &info, &time)); }
CASE(rt_sigqueueinfo) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGRTMIN); sigprocmask(SIG_BLOCK, &set, NULL); siginfo_t info; for (int i = 0; i < 3; i++) TELL(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i})); for (int i = 0; i < 3; i++) { TELL(sigwaitinfo(&set, &info)); printf("%d %d\n", info.si_value.sival_int, info.si_code); } TELL(sigqueue(getpid(), 99, (union sigval){0})); }

CASES(ENTRY(setitimer), ENTRY(getitimer), ENTRY(pause), ENTRY(rt_sigreturn), ENTRY(rt_sigsuspend), ENTRY(rt_sigtimedwait), ENTRY(rt_sigqueueinfo), ENTRY(rt_sigaction), ENTRY(rt_sigprocmask), ENTRY(rt_sigpending), ENTRY(sigaltstack), ENTRY(kill), ENTRY(tgkill), ENTRY(alarm))
