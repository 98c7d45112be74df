/* System calls about time. The guest's clock is its own, so only what holds for every clock is printed. */
#include "case.h"
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

static long nanoseconds(clockid_t clock) { struct timespec t; return syscall(SYS_clock_gettime, clock, &t) ? -1 : t.tv_sec * 1000000000L + t.tv_nsec; }

CASE(clock_gettime)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME};
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        long a = nanoseconds(clocks[i]), b = nanoseconds(clocks[i]);
        printf("%d: %d %d\n", (int)clocks[i], a >= 0, b >= a);
    }
    TELL(nanoseconds(99)); TELL(syscall(SYS_clock_gettime, 0, 8));
    printf("%d\n", nanoseconds(CLOCK_REALTIME) > 900000000000000000);
}
CASE(clock_getres) { struct timespec t = {-1, -1}; TELL(syscall(SYS_clock_getres, CLOCK_MONOTONIC, &t)); printf("%d\n", t.tv_sec == 0 && t.tv_nsec >= 1); TELL(syscall(SYS_clock_getres, 99, &t)); TELL(syscall(SYS_clock_getres, 1, NULL)); }
CASE(gettimeofday)
{
    struct timeval a, b; TELL(syscall(SYS_gettimeofday, &a, NULL)); TELL(syscall(SYS_gettimeofday, &b, NULL));
    printf("%d %d\n", b.tv_sec * 1000000 + b.tv_usec >= a.tv_sec * 1000000 + a.tv_usec, a.tv_usec >= 0 && a.tv_usec < 1000000);
}
CASE(time) { time_t a, b = syscall(SYS_time, &a); printf("%d %d\n", a == b, a >= nanoseconds(CLOCK_REALTIME) / 1000000000 - 1); }
CASE(nanosleep)
{
    struct timespec t = {0, 20000000}, bad = {0, 2000000000}, rest; long a = nanoseconds(CLOCK_MONOTONIC);
    TELL(syscall(SYS_nanosleep, &t, &rest)); printf("%d\n", nanoseconds(CLOCK_MONOTONIC) - a >= 20000000); TELL(syscall(SYS_nanosleep, &bad, &rest)); TELL(syscall(SYS_nanosleep, 8, &rest));
}
CASE(clock_nanosleep)
{
    struct timespec t = {0, 10000000}, until; long a = nanoseconds(CLOCK_MONOTONIC); TELL(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL));
    printf("%d\n", nanoseconds(CLOCK_MONOTONIC) - a >= 10000000); clock_gettime(CLOCK_REALTIME, &until); until.tv_sec++; TELL(syscall(SYS_clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL));
    printf("%d\n", nanoseconds(CLOCK_REALTIME) >= until.tv_sec * 1000000000 + until.tv_nsec); TELL(syscall(SYS_clock_nanosleep, 99, 0, &t, NULL));
}
CASE(times) { struct tms t; printf("%d\n", syscall(SYS_times, &t) != -1); printf("%d\n", t.tms_utime >= 0 && t.tms_cutime == 0); }

CASES(ENTRY(clock_gettime), ENTRY(clock_getres), ENTRY(gettimeofday), ENTRY(time), ENTRY(nanosleep), ENTRY(clock_nanosleep), ENTRY(times))
