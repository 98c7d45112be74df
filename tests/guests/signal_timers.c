/* Timers, and the calls that their signals interrupt. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static int ends[2];

static void tick(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    ticks++;
    printf("tick %d code %#x\n", number, info->si_code);
    errno = saved;
}

static void tick_and_write(int number, siginfo_t *info, void *context)
{
    tick(number, info, context);
    write(ends[1], "x", 1);
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

static void start(int which, long first, long interval)
{
    struct itimerval timer = {{interval / 1000000, interval % 1000000}, {first / 1000000, first % 1000000}};
    setitimer(which, &timer, NULL);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    char byte = '-';
    pipe(ends);
    install(SIGALRM, tick, 0);
    printf("%u\n", alarm(100));
    printf("%u\n", alarm(1) > 98);
    printf("pause %d %s\n", pause(), strerror(errno));
    start(ITIMER_REAL, 100000, 0);
    struct timespec request = {5, 0}, remaining = {0, 0};
    int result = nanosleep(&request, &remaining);
    printf("nanosleep %d %s, %ld left\n", result, strerror(errno), remaining.tv_sec);
    start(ITIMER_REAL, 100000, 0);
    result = poll(NULL, 0, -1);
    printf("poll %d %s\n", result, strerror(errno));
    start(ITIMER_REAL, 100000, 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    result = select(ends[0] + 1, &set, NULL, NULL, NULL);
    printf("select %d %s\n", result, strerror(errno));
    start(ITIMER_REAL, 100000, 0);
    result = read(ends[0], &byte, 1);
    printf("read %d %s\n", result, strerror(errno));
    install(SIGALRM, tick_and_write, SA_RESTART);
    start(ITIMER_REAL, 100000, 0);
    result = read(ends[0], &byte, 1);
    printf("read again %d %c\n", result, byte);
    install(SIGALRM, tick_and_write, 0);
    start(ITIMER_REAL, 100000, 0);
    struct pollfd entry = {ends[0], POLLIN, 0};
    result = poll(&entry, 1, 10000);
    printf("poll %d %s, then", result, strerror(errno));
    result = poll(&entry, 1, 10000);
    printf(" %d %#x\n", result, entry.revents);

    /* At intervals, waited for by pausing, then by computing. */
    install(SIGALRM, tick, 0);
    ticks = 0;
    start(ITIMER_REAL, 20000, 20000);
    while (ticks < 3)
        pause();
    start(ITIMER_REAL, 0, 0);
    ticks = 0;
    start(ITIMER_REAL, 5000, 0);
    while (!ticks)
        ;
    install(SIGVTALRM, tick, 0);
    install(SIGPROF, tick, 0);
    ticks = 0;
    start(ITIMER_VIRTUAL, 5000, 0);
    while (!ticks)
        ;
    ticks = 0;
    start(ITIMER_PROF, 5000, 0);
    while (!ticks)
        ;
    /* One that is blocked is waited for without a handler. */
    sigset_t alarms, all_but;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    start(ITIMER_REAL, 50000, 0);
    siginfo_t info;
    result = sigwaitinfo(&alarms, &info);
    printf("sigwaitinfo %d code %#x\n", result, info.si_code);
    start(ITIMER_REAL, 50000, 0);
    sigfillset(&all_but);
    sigdelset(&all_but, SIGALRM);
    result = ppoll(NULL, 0, NULL, &all_but);
    printf("ppoll %d %s\n", result, strerror(errno));
    start(ITIMER_REAL, 50000, 0);
    result = sigsuspend(&all_but);
    printf("sigsuspend %d %s\n", result, strerror(errno));
    struct itimerval now;
    getitimer(ITIMER_REAL, &now);
    printf("%ld %ld\n", (long)now.it_value.tv_sec, (long)now.it_value.tv_usec);
    sleep(1);
    printf("%d ticks\n", (int)ticks);
    return 0;
}
