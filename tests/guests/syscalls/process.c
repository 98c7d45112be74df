/* System calls about the process: who and where it is, what it may use. Identities are the machine's own, so only their relations are printed. */
#include "case.h"
#include <asm/prctl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

CASE(getpid) { printf("%d %d\n", syscall(SYS_getpid) > 0, syscall(SYS_getpid) == getpid()); }
CASE(gettid) { printf("%d\n", syscall(SYS_gettid) == getpid()); }
CASE(getppid) { printf("%d %d\n", getppid() >= 0, getppid() != getpid()); }
CASE(getpgrp) { printf("%d %d\n", getpgrp() >= 0, getpgid(0) == getpgrp()); }
/* A container shows a session or parent from outside as 0. */
CASE(getsid) { printf("%d\n", getsid(0) >= 0); }
CASE(getuid) { uid_t r, e, s; printf("%d %d\n", getuid() == geteuid(), getgid() == getegid()); TELL(getresuid(&r, &e, &s)); printf("%d\n", r == e && e == s); TELL(getresgid(&r, &e, &s)); printf("%d\n", getgroups(0, NULL) >= 0); }
CASE(uname) { struct utsname u; TELL(uname(&u)); printf("%s %s %d %d\n", u.sysname, u.machine, u.release[0] >= '3', strlen(u.nodename) > 0); TELL(syscall(SYS_uname, 8)); }
CASE(prlimit64)
{
    struct rlimit l; TELL(getrlimit(RLIMIT_STACK, &l)); printf("%d\n", l.rlim_cur >= 1 << 20); TELL(getrlimit(RLIMIT_NOFILE, &l)); printf("%d\n", l.rlim_cur >= 256);
    l.rlim_cur = 64; TELL(setrlimit(RLIMIT_NOFILE, &l)); TELL(getrlimit(RLIMIT_NOFILE, &l)); printf("%d\n", (int)l.rlim_cur); TELL(getrlimit(99, &l)); int fd, last = 0; while ((fd = dup(1)) >= 0) last = fd; printf("%d %s\n", last, strerrorname_np(errno));
}
CASE(getrlimit) { struct rlimit l; TELL(syscall(SYS_getrlimit, RLIMIT_STACK, &l)); printf("%d\n", l.rlim_cur <= l.rlim_max); TELL(syscall(SYS_getrlimit, 99, &l)); }
CASE(getrusage) { struct rusage u; TELL(getrusage(RUSAGE_SELF, &u)); printf("%d\n", u.ru_utime.tv_sec >= 0 && u.ru_maxrss >= 0); TELL(getrusage(RUSAGE_CHILDREN, &u)); TELL(getrusage(99, &u)); }
CASE(sysinfo) { struct sysinfo s; TELL(sysinfo(&s)); printf("%d %d\n", s.totalram > 0, s.mem_unit > 0); TELL(syscall(SYS_sysinfo, 8)); }
CASE(prctl)
{
    char name[17] = {0}; TELL(prctl(PR_SET_NAME, "a longer name than fits")); TELL(prctl(PR_GET_NAME, name)); puts(name); TELL(prctl(PR_GET_DUMPABLE)); TELL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); TELL(prctl(99999));
}
CASE(arch_prctl)
{
    unsigned long fs = 0, gs = 1; TELL(syscall(SYS_arch_prctl, ARCH_GET_FS, &fs)); unsigned long self; __asm__("mov %%fs:0, %0" : "=r"(self)); printf("%d\n", fs == self); TELL(syscall(SYS_arch_prctl, ARCH_SET_GS, 0x12345000));
    TELL(syscall(SYS_arch_prctl, ARCH_GET_GS, &gs)); printf("%lx\n", gs); TELL(syscall(SYS_arch_prctl, 0x9999, 0));
}
CASE(set_tid_address) { int t; printf("%d\n", syscall(SYS_set_tid_address, &t) == getpid()); }
CASE(set_robust_list) { struct { void *a; long b; void *c; } head = {&head}; TELL(syscall(SYS_set_robust_list, &head, 24)); TELL(syscall(SYS_set_robust_list, &head, 5)); }
CASE(sched_yield) { TELL(sched_yield()); }
CASE(getrandom)
{
    unsigned char a[64] = {0}, b[64] = {0}; int zeroes = 0; TELL(syscall(SYS_getrandom, a, 64, 0)); TELL(syscall(SYS_getrandom, b, 64, 1)); for (int i = 0; i < 64; i++) zeroes += a[i] == 0; printf("%d %d\n", zeroes < 10, memcmp(a, b, 64) != 0);
    TELL(syscall(SYS_getrandom, a, 0, 0)); TELL(syscall(SYS_getrandom, 8, 10, 0)); TELL(syscall(SYS_getrandom, a, 1, 0x999)); int fd = open("/dev/urandom", O_RDONLY); TELL(read(fd, b, 64)); printf("%d\n", memcmp(a, b, 64) != 0);
}
CASE(futex)
{
    int word = 5; struct timespec soon = {0, 1000000};
    TELL(syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL)); TELL(syscall(SYS_futex, &word, FUTEX_WAIT, 4, NULL)); TELL(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &soon)); TELL(syscall(SYS_futex, &word, 99, 0));
    TELL(syscall(SYS_futex, 8, FUTEX_WAIT, 0, &soon));
}
CASE(getcpu) { unsigned cpu = 99, node = 99; TELL(syscall(SYS_getcpu, &cpu, &node, NULL)); printf("%d\n", cpu < 1024); }
CASE(sched_getaffinity) { cpu_set_t set; CPU_ZERO(&set); printf("%d\n", sched_getaffinity(0, sizeof set, &set)); printf("%d %ld\n", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN)); }
CASE(getpriority) { errno = 0; printf("%d\n", getpriority(PRIO_PROCESS, 0) == 0 && errno == 0); }
CASE(personality) { printf("%d\n", syscall(SYS_personality, 0xffffffff) >= 0); }
CASE(exit_group) { puts("before"); fflush(stdout); syscall(SYS_exit_group, 0); puts("after"); }
CASE(exit) { puts("before"); fflush(stdout); syscall(SYS_exit, 0); puts("after"); }
CASE(rseq) { TELL(syscall(SYS_rseq, 0, 0, 0, 0)); }
CASE(clone3) { TELL(syscall(SYS_clone3, 0, 0)); }
CASE(unknown) { TELL(syscall(9999)); }
CASE(socket) { TELL(syscall(SYS_socket, 2, 1, 0)); }

CASES(ENTRY(getpid), ENTRY(gettid), ENTRY(getppid), ENTRY(getpgrp), ENTRY(getsid), ENTRY(getuid), ENTRY(uname), ENTRY(prlimit64), ENTRY(getrlimit), ENTRY(getrusage), ENTRY(sysinfo), ENTRY(prctl),
      ENTRY(arch_prctl), ENTRY(set_tid_address), ENTRY(set_robust_list), ENTRY(sched_yield), ENTRY(getrandom), ENTRY(futex), ENTRY(getcpu), ENTRY(sched_getaffinity), ENTRY(getpriority),
      ENTRY(personality), ENTRY(exit_group), ENTRY(exit), ENTRY(rseq), ENTRY(clone3), ENTRY(unknown), ENTRY(socket))
