/* Time as far as it is the same on every machine: calendar arithmetic, and clocks that never run backwards. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double since(const struct timespec *a, const struct timespec *b) { return b->tv_sec - a->tv_sec + (b->tv_nsec - a->tv_nsec) / 1e9; }

int main(void)
{
    static const time_t moments[] = {0, 1, 951782399, 951782400, 1000000000, 1709164800, 2147483647, -86400, 4102444800};
    for (unsigned i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct tm tm;
        char text[100];
        gmtime_r(&moments[i], &tm);
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %j %U %%", &tm);
        printf("%s %d %s", text, timegm(&tm) == moments[i], asctime(&tm));
    }
    struct tm odd = {.tm_year = 124, .tm_mon = 13, .tm_mday = 35, .tm_hour = -5, .tm_isdst = -1};
    printf("%ld %d\n", (long)mktime(&odd), odd.tm_yday);
    struct tm parsed = {0};
    printf("%s| %d\n", strptime("2024-02-29 12:34:56 rest", "%Y-%m-%d %H:%M:%S", &parsed), parsed.tm_sec);

    struct timespec before, after, resolution, pause = {0, 50000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    printf("%d\n", nanosleep(&pause, NULL));
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%d\n", since(&before, &after) >= 0.05);
    clock_getres(CLOCK_REALTIME, &resolution);
    printf("%d\n", resolution.tv_sec == 0 && resolution.tv_nsec > 0);
    struct timeval day;
    gettimeofday(&day, NULL);
    time_t now = time(NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    printf("%d %d %d\n", now - day.tv_sec <= 1, after.tv_sec >= now && after.tv_sec - now <= 1, day.tv_usec < 1000000);
    int backwards = 0;
    for (int i = 0; i < 1000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &before);
        clock_gettime(CLOCK_MONOTONIC, &after);
        backwards += since(&before, &after) < 0;
    }
    printf("%d %d %d\n", backwards, clock() >= 0, usleep(1000));
    return sleep(1);
}
