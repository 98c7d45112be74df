/* Prints everything that differs from run to run on a real machine: clocks, random numbers, identities, addresses, the cycle counter. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec now;
    struct timeval day;
    struct rusage usage;
    struct sysinfo info;
    unsigned char random[16];
    for (int clock = 0; clock < 8; clock++)
        if (!clock_gettime(clock, &now))
            printf("clock %d: %ld.%09ld\n", clock, (long)now.tv_sec, now.tv_nsec);
    gettimeofday(&day, NULL);
    printf("%ld.%06ld %ld %ld\n", (long)day.tv_sec, (long)day.tv_usec, (long)time(NULL), (long)clock());
    getrandom(random, sizeof random, 0);
    for (int i = 0; i < 16; i++)
        printf("%02x", random[i]);
    FILE *file = fopen("/dev/urandom", "r");
    printf(" %d %d", fgetc(file), fgetc(file));
    memcpy(random, (void *)getauxval(AT_RANDOM), 16);
    for (int i = 0; i < 16; i++)
        printf("%02x", random[i]);
    printf("\n%d %d %d %p %p %p %p\n", getpid(), getppid(), getpgrp(), (void *)&now, (void *)main, malloc(10), (void *)argv);
    getrusage(RUSAGE_SELF, &usage);
    sysinfo(&info);
    printf("%ld %ld %ld %lu\n", (long)usage.ru_utime.tv_usec, usage.ru_maxrss, (long)info.uptime, info.freeram);
    char name[] = "made-XXXXXX";
    struct stat status;
    int made = mkstemp(name);
    fstat(made, &status);
    printf("%s %ld %ld.%ld\n", name, (long)status.st_ino, (long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    uint64_t total = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        total = total * 31 + ((uint64_t)high << 32 | low);
    }
    printf("%016lx\n", total);
    return 0;
}
