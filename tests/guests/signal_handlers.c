/* Signals that a program sends itself: handlers, masks, what waits, what is told. */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t depth, count, sends_on = 1;

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags, int blocked)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    if (blocked)
        sigaddset(&action.sa_mask, blocked);
    sigaction(number, &action, NULL);
}

static void tell(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    printf("%*shandler of %d: code %d from %s value %d, blocked:", depth * 2, "", number, info->si_code,
           info->si_pid == getpid() && info->si_uid == getuid() ? "itself" : "elsewhere", info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
    for (int i = 1; i < 64; i++)
        if (sigismember(&mask, i) == 1)
            printf(" %d", i);
    printf("\n");
    errno = saved;
    count++;
}

static void nested(int number, siginfo_t *info, void *context)
{
    printf("%*snested %d in\n", depth * 2, "", number);
    if (depth < 3) {
        depth++;
        raise(number);
        depth -= sends_on;
    }
    printf("%*snested %d out\n", depth * 2, "", number);
}

static void other(int number, siginfo_t *info, void *context)
{
    tell(number, info, context);
    depth++;
    raise(SIGUSR2);
    depth--;
    printf("end of %d\n", number);
}

static void plain(int number) { printf("plain %d\n", number), count++; }

static void floats(int number)
{
    /* A handler starts with a fresh float state, and what it does to it is its own. */
    printf("in the handler: rounding %d except %d\n", fegetround(), fetestexcept(FE_ALL_EXCEPT));
    fesetround(FE_UPWARD);
    volatile double x = 1, y = 3;
    volatile long double z = x / y;
    printf("%.20Lf\n", z);
}

static sigjmp_buf buffer;
static void jump(int number, siginfo_t *info, void *context) { siglongjmp(buffer, number); }

static void show_pending(const char *when)
{
    sigset_t set;
    sigpending(&set);
    printf("%s:", when);
    for (int i = 1; i <= 64; i++)
        if (sigismember(&set, i) == 1)
            printf(" %d", i);
    printf("\n");
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    install(SIGUSR1, tell, 0, SIGTERM);
    install(SIGUSR2, tell, 0, 0);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    kill(0, 0);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2);
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 42});

    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR2);
    raise(SIGUSR2);
    raise(SIGUSR1);
    install(SIGRTMIN + 3, tell, 0, 0);
    for (int i = 0; i < 3; i++)
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = i});
    show_pending("pending");
    sigprocmask(SIG_SETMASK, &old, NULL);
    show_pending("then");

    install(SIGTERM, nested, SA_NODEFER, 0);
    raise(SIGTERM);
    install(SIGTERM, nested, 0, 0);
    sends_on = 0;
    raise(SIGTERM);
    depth = 0;
    install(SIGHUP, other, 0, SIGUSR2);
    raise(SIGHUP);
    install(SIGHUP, other, 0, 0);
    raise(SIGHUP);

    install(SIGINT, tell, SA_RESETHAND, 0);
    raise(SIGINT);
    struct sigaction now;
    sigaction(SIGINT, NULL, &now);
    printf("reset: %d flags %#x\n", now.sa_handler == SIG_DFL, now.sa_flags & (SA_SIGINFO | SA_RESETHAND));
    void (*before)(int) = signal(SIGINT, plain);
    printf("%d\n", before == SIG_DFL);
    raise(SIGINT);
    raise(SIGINT);
    signal(SIGINT, SIG_IGN);
    raise(SIGINT);
    raise(SIGCHLD);

    /* Ignoring forgets what waits. */
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    show_pending("ignored");
    install(SIGUSR1, tell, 0, 0);

    /* Waiting for signals. */
    raise(SIGUSR1);
    sigset_t none;
    sigemptyset(&none);
    int result = sigsuspend(&none);
    printf("sigsuspend %d %s\n", result, strerror(errno));
    raise(SIGUSR2);
    siginfo_t info;
    memset(&info, 0, sizeof info);
    result = sigwaitinfo(&set, &info);
    printf("sigwaitinfo %d %d %d\n", result, info.si_signo, info.si_code);
    struct timespec short_time = {0, 1000000};
    result = sigtimedwait(&set, &info, &short_time);
    printf("sigtimedwait %d %s\n", result, strerror(errno));
    raise(SIGUSR1);
    int number;
    result = sigwait(&set, &number);
    printf("sigwait %d %d\n", result, number);
    sigprocmask(SIG_SETMASK, &old, NULL);

    /* The float state. */
    signal(SIGUSR1, floats);
    fesetround(FE_DOWNWARD);
    feclearexcept(FE_ALL_EXCEPT);
    volatile double x = 1, y = 3, z = x / y;
    raise(SIGUSR1);
    printf("after: rounding %d inexact %d %.20f\n", fegetround() == FE_DOWNWARD, fetestexcept(FE_INEXACT) != 0, z);
    fesetround(FE_TONEAREST);

    /* Leaving a handler without returning. */
    for (volatile int i = 0; i < 3; i++) {
        install(SIGUSR1, jump, 0, 0);
        if (sigsetjmp(buffer, 1) == 0)
            raise(SIGUSR1);
        sigprocmask(SIG_SETMASK, NULL, &set);
        printf("back, blocked %d\n", sigismember(&set, SIGUSR1));
    }
    if (sigsetjmp(buffer, 0) == 0)
        raise(SIGUSR1);
    sigprocmask(SIG_SETMASK, NULL, &set);
    printf("back, blocked %d\n", sigismember(&set, SIGUSR1));
    printf("%d handled\n", (int)count);
    printf("%d %d\n", kill(getpid(), 65), errno == EINVAL);
    struct sigaction no = {.sa_handler = plain};
    printf("%d %d\n", sigaction(SIGKILL, &no, NULL), errno == EINVAL);
    return 0;
}
