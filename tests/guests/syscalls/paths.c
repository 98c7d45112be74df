/* System calls on names. */
#include "case.h"
#include <dirent.h>
#include <limits.h>
#include <sys/statfs.h>

static void print_stat(const char *what, long result, const struct stat *s)
{
    if (result)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: mode %o links %ld size %ld uid %d block %ld\n", what, s->st_mode, (long)s->st_nlink, S_ISDIR(s->st_mode) ? 0 : (long)s->st_size, s->st_uid == geteuid(),
               (long)s->st_blksize);
}
#define STAT(...) { struct stat s; print_stat(#__VA_ARGS__, __VA_ARGS__, &s); }

static void things(void)
{
    file("f", "content"); mkdir("d", 0750); file("d/g", "below"); symlink("f", "l"); symlink("absent", "dangling"); link("f", "h"); chmod("d/g", 04755);
}

CASE(stat)
{
    things();
    STAT(syscall(SYS_stat, "f", &s)); STAT(syscall(SYS_stat, "d", &s)); STAT(syscall(SYS_stat, "l", &s)); STAT(syscall(SYS_stat, "dangling", &s));
    STAT(syscall(SYS_stat, "d/g", &s)); STAT(syscall(SYS_stat, "f/x", &s)); STAT(syscall(SYS_stat, "", &s)); STAT(syscall(SYS_stat, "d/", &s)); STAT(syscall(SYS_stat, "f/", &s));
    STAT(syscall(SYS_stat, "d/../l", &s)); TELL(syscall(SYS_stat, "f", 8));
    struct stat a, b; stat("f", &a); stat("h", &b); printf("%d %d\n", a.st_ino == b.st_ino, a.st_dev == b.st_dev);
    stat("/dev/null", &a); printf("%o %lx\n", a.st_mode, (long)a.st_rdev);
}
CASE(lstat) { things(); STAT(syscall(SYS_lstat, "l", &s)); STAT(syscall(SYS_lstat, "dangling", &s)); STAT(syscall(SYS_lstat, "f", &s)); STAT(syscall(SYS_lstat, "absent", &s)); }
CASE(fstat)
{
    things(); int fd = open("f", O_RDONLY), ends[2]; pipe(ends);
    STAT(syscall(SYS_fstat, fd, &s)); STAT(syscall(SYS_fstat, open("d", O_RDONLY), &s)); STAT(syscall(SYS_fstat, 99, &s));
    struct stat s; fstat(ends[0], &s); printf("%d\n", S_ISFIFO(s.st_mode)); unlink("f"); unlink("h"); fstat(fd, &s); printf("%ld %ld\n", (long)s.st_nlink, (long)s.st_size);
}
CASE(newfstatat)
{
    things(); int d = open("d", O_RDONLY);
    STAT(fstatat(d, "g", &s, 0)); STAT(fstatat(AT_FDCWD, "l", &s, AT_SYMLINK_NOFOLLOW)); STAT(fstatat(d, "", &s, AT_EMPTY_PATH)); STAT(fstatat(d, "", &s, 0)); STAT(fstatat(99, "g", &s, 0));
    STAT(fstatat(d, "g", &s, 0x8000));
}
CASE(statx)
{
    things(); struct statx x;
    TELL(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &x)); printf("%o %u %llu %d\n", x.stx_mode, x.stx_nlink, (unsigned long long)x.stx_size, (x.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
    TELL(statx(AT_FDCWD, "l", AT_SYMLINK_NOFOLLOW, STATX_TYPE, &x)); printf("%o\n", x.stx_mode & S_IFMT);
    TELL(statx(open("d", O_RDONLY), "", AT_EMPTY_PATH, STATX_MODE, &x)); printf("%o\n", x.stx_mode); TELL(statx(AT_FDCWD, "absent", 0, STATX_ALL, &x));
}
CASE(access)
{
    things();
    TELL(syscall(SYS_access, "f", F_OK)); TELL(syscall(SYS_access, "f", R_OK | W_OK)); TELL(syscall(SYS_access, "f", X_OK)); TELL(syscall(SYS_access, "d/g", X_OK));
    TELL(syscall(SYS_access, "absent", F_OK)); TELL(syscall(SYS_access, "dangling", F_OK)); TELL(syscall(SYS_access, "f", 77)); TELL(syscall(SYS_access, "d", X_OK));
}
CASE(faccessat)
{
    things(); int d = open("d", O_RDONLY);
    TELL(syscall(SYS_faccessat, d, "g", R_OK)); TELL(syscall(SYS_faccessat, AT_FDCWD, "absent", R_OK)); TELL(faccessat(AT_FDCWD, "f", X_OK, AT_EACCESS));
    TELL(faccessat(AT_FDCWD, "dangling", F_OK, AT_SYMLINK_NOFOLLOW)); TELL(syscall(SYS_faccessat, 99, "g", R_OK));
}

static int compare(const void *a, const void *b) { return strcmp(a, b); }
CASE(getdents64)
{
    things(); for (int i = 0; i < 90; i++) { char name[20]; snprintf(name, sizeof name, "d/n%02d", i); file(name, ""); }
    int d = open("d", O_RDONLY); static char buffer[512], names[200][40]; int count = 0; long got; uint64_t cookies = 0;
    while ((got = syscall(SYS_getdents64, d, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < got;) { struct dirent64 *e = (void *)(buffer + at); snprintf(names[count++], 40, "%s:%d", e->d_name, e->d_type); at += e->d_reclen; }
    qsort(names, count, sizeof *names, compare);
    for (int i = 0; i < count; i++) printf("%s ", names[i]);
    printf("\n%d\n", count); TELL(syscall(SYS_getdents64, d, buffer, sizeof buffer)); lseek(d, 0, SEEK_SET); printf("%d\n", syscall(SYS_getdents64, d, buffer, sizeof buffer) > 0);
    lseek(d, 0, SEEK_SET); TELL(syscall(SYS_getdents64, d, buffer, 10)); TELL(syscall(SYS_getdents64, open("f", O_RDONLY), buffer, 512)); TELL(syscall(SYS_getdents64, 99, buffer, 512));
}
CASE(readlink)
{
    things(); char text[100] = {0};
    TELL(syscall(SYS_readlink, "l", text, 100)); puts(text); TELL(syscall(SYS_readlink, "dangling", text, 3)); puts(text);
    TELL(syscall(SYS_readlink, "f", text, 100)); TELL(syscall(SYS_readlink, "absent", text, 100)); TELL(syscall(SYS_readlink, "l", text, 0));
    TELL(readlinkat(AT_FDCWD, "l", text, 100)); char exe[PATH_MAX] = {0}, *slash; readlink("/proc/self/exe", exe, sizeof exe); printf("%d\n", (slash = strrchr(exe, '/')) && !strncmp(slash, "/paths", 6));
}
CASE(getcwd)
{
    char a[PATH_MAX], b[PATH_MAX]; mkdir("d", 0755);
    long length = syscall(SYS_getcwd, a, sizeof a); printf("%d\n", length == (long)strlen(a) + 1); chdir("d"); getcwd(b, sizeof b); puts(b + strlen(a)); TELL(syscall(SYS_getcwd, b, 3));
    chdir("/"); TELL(syscall(SYS_getcwd, b, 100)); puts(b);
}
CASE(chdir)
{
    things(); TELL(chdir("d")); show("g"); show("../f"); TELL(chdir("absent")); TELL(chdir("g")); TELL(chdir("..")); TELL(chdir("l")); TELL(chdir(""));
}
CASE(fchdir) { things(); TELL(fchdir(open("d", O_RDONLY))); show("g"); TELL(fchdir(open("g", O_RDONLY))); TELL(fchdir(99)); }
CASE(rename)
{
    things();
    TELL(syscall(SYS_rename, "f", "moved")); show("f"); show("moved"); TELL(syscall(SYS_rename, "moved", "d/g")); show("d/g"); TELL(syscall(SYS_rename, "absent", "x"));
    TELL(syscall(SYS_rename, "d", "e")); show("e/g"); mkdir("full", 0755); file("full/x", ""); mkdir("empty", 0755); TELL(syscall(SYS_rename, "e", "full")); TELL(syscall(SYS_rename, "e", "empty"));
    show("empty/g"); TELL(syscall(SYS_rename, "empty", "empty/inside")); TELL(syscall(SYS_rename, "l", "empty")); TELL(syscall(SYS_rename, "full", "l")); TELL(syscall(SYS_rename, "h", "h"));
    TELL(syscall(SYS_rename, "l", "l3")); char t[20] = {0}; readlink("l3", t, 19); puts(t);
}
CASE(renameat2)
{
    things(); file("x", "x"); int d = open("d", O_RDONLY);
    TELL(renameat(d, "g", AT_FDCWD, "g2")); show("g2"); TELL(renameat2(AT_FDCWD, "f", AT_FDCWD, "x", RENAME_NOREPLACE)); TELL(renameat2(AT_FDCWD, "f", AT_FDCWD, "y", RENAME_NOREPLACE)); show("y");
    TELL(renameat2(AT_FDCWD, "x", AT_FDCWD, "y", RENAME_EXCHANGE)); show("x"); show("y");
}
CASE(unlink)
{
    things(); int fd = open("d/g", O_RDONLY); char text[10] = {0};
    TELL(syscall(SYS_unlink, "d/g")); TELL(syscall(SYS_unlink, "d/g")); TELL(read(fd, text, 9)); puts(text); TELL(syscall(SYS_unlink, "d")); TELL(syscall(SYS_unlink, "l")); show("f"); TELL(syscall(SYS_unlink, "dangling"));
    TELL(syscall(SYS_unlink, "f")); show("h"); file("f", "again"); show("f"); show("h");
}
CASE(unlinkat)
{
    things(); int d = open("d", O_RDONLY); TELL(unlinkat(d, "g", AT_REMOVEDIR)); TELL(unlinkat(d, "g", 0)); TELL(unlinkat(AT_FDCWD, "d", 0)); TELL(unlinkat(AT_FDCWD, "d", AT_REMOVEDIR)); TELL(unlinkat(d, "g", 1234));
}
CASE(mkdir)
{
    things(); TELL(syscall(SYS_mkdir, "new", 0777)); STAT(stat("new", &s)); TELL(syscall(SYS_mkdir, "new", 0777)); TELL(syscall(SYS_mkdir, "a/b", 0777)); TELL(syscall(SYS_mkdir, "f/b", 0777)); TELL(syscall(SYS_mkdir, "new/deep/", 0700));
    STAT(stat("new/deep", &s)); TELL(mkdirat(open("new", O_RDONLY), "at", 0755)); STAT(stat("new", &s)); TELL(syscall(SYS_mkdir, "dangling", 0777)); umask(077); TELL(syscall(SYS_mkdir, "m", 0777)); STAT(stat("m", &s));
}
CASE(rmdir) { things(); TELL(rmdir("d")); unlink("d/g"); TELL(rmdir("d")); TELL(rmdir("d")); TELL(rmdir("f")); TELL(rmdir("l")); mkdir("d", 0700); STAT(stat("d", &s)); TELL(rmdir("d/.")); }
CASE(link)
{
    things(); TELL(syscall(SYS_link, "f", "two")); STAT(stat("two", &s)); TELL(syscall(SYS_link, "f", "two")); TELL(syscall(SYS_link, "absent", "x")); TELL(syscall(SYS_link, "d", "x"));
    int fd = open("two", O_WRONLY | O_TRUNC); write(fd, "shared", 6); show("f"); TELL(linkat(AT_FDCWD, "l", AT_FDCWD, "viaL", AT_SYMLINK_FOLLOW)); STAT(lstat("viaL", &s));
}
CASE(symlink)
{
    things(); TELL(syscall(SYS_symlink, "d/g", "s")); show("s"); TELL(syscall(SYS_symlink, "d/g", "s")); TELL(syscall(SYS_symlink, "", "t")); TELL(symlinkat("../f", open("d", O_RDONLY), "up")); show("d/up");
    symlink("d", "dl"); show("dl/g"); file("dangling", "through"); show("absent"); symlink("loop2", "loop1"); symlink("loop1", "loop2"); TELL(open("loop1", O_RDONLY)); STAT(lstat("s", &s));
}
CASE(chmod)
{
    things(); TELL(syscall(SYS_chmod, "f", 0600)); STAT(stat("f", &s)); STAT(stat("h", &s)); TELL(syscall(SYS_chmod, "l", 0444)); STAT(stat("f", &s)); TELL(syscall(SYS_chmod, "absent", 0)); TELL(syscall(SYS_chmod, "d", 01777)); STAT(stat("d", &s));
    TELL(fchmodat(AT_FDCWD, "f", 0707, 0)); STAT(stat("f", &s));
}
CASE(fchmod) { things(); int fd = open("f", O_RDONLY); TELL(fchmod(fd, 0111)); STAT(fstat(fd, &s)); TELL(fchmod(99, 0)); }
CASE(chown)
{
    things(); TELL(syscall(SYS_chown, "f", geteuid(), getegid())); TELL(syscall(SYS_chown, "f", -1, -1)); TELL(syscall(SYS_chown, "absent", -1, -1)); TELL(fchown(open("f", O_RDONLY), -1, -1)); TELL(lchown("dangling", -1, -1));
    TELL(fchownat(AT_FDCWD, "l", -1, -1, 0));
}
CASE(utimensat)
{
    things(); struct stat s; struct timespec t[2] = {{1000, 5}, {2000, 7}};
    TELL(utimensat(AT_FDCWD, "f", t, 0)); stat("f", &s); printf("%ld.%ld %ld.%ld\n", (long)s.st_atim.tv_sec, s.st_atim.tv_nsec, (long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    t[0].tv_nsec = UTIME_OMIT; t[1].tv_sec = 3000; TELL(utimensat(AT_FDCWD, "l", t, 0)); stat("f", &s); printf("%ld %ld\n", (long)s.st_atim.tv_sec, (long)s.st_mtim.tv_sec);
    TELL(utimensat(AT_FDCWD, "l", t, AT_SYMLINK_NOFOLLOW)); lstat("l", &s); printf("%ld\n", (long)s.st_mtim.tv_sec); TELL(futimens(open("f", O_RDONLY), NULL)); stat("f", &s); printf("%d\n", s.st_mtim.tv_sec > 3000);
    TELL(utimensat(AT_FDCWD, "absent", t, 0));
}
CASE(truncate)
{
    things(); TELL(truncate("f", 3)); show("f"); show("h"); TELL(truncate("f", 5)); STAT(stat("f", &s)); TELL(truncate("d", 0)); TELL(truncate("absent", 0)); TELL(truncate("f", -1)); TELL(truncate("l", 0)); STAT(stat("f", &s));
}
CASE(umask) { umask(0); TELL(umask(027)); TELL(umask(077)); file("f", ""); STAT(stat("f", &s)); }
CASE(statfs) { struct statfs s; TELL(statfs(".", &s)); printf("%d %d\n", s.f_bsize > 0, s.f_namelen > 0); TELL(statfs("absent", &s)); TELL(fstatfs(open(".", O_RDONLY), &s)); }
CASE(getxattr) { things(); char t[10]; TELL(syscall(SYS_getxattr, "f", "user.none", t, 10)); TELL(syscall(SYS_lgetxattr, "f", "system.posix_acl_access", t, 10)); TELL(syscall(SYS_listxattr, "f", t, 10) >= -1); }
CASE(mknod) { TELL(mknod("p", S_IFIFO | 0600, 0)); struct stat s; stat("p", &s); printf("%d\n", S_ISFIFO(s.st_mode)); TELL(mknod("r", S_IFREG | 0600, 0)); show("r"); TELL(mknod("r", S_IFIFO | 0600, 0)); TELL(mknod("none/r", S_IFREG | 0600, 0)); TELL(open("p", O_WRONLY | O_NONBLOCK)); TELL(unlink("p")); }

CASES(ENTRY(stat), ENTRY(lstat), ENTRY(fstat), ENTRY(newfstatat), ENTRY(statx), ENTRY(access), ENTRY(faccessat), ENTRY(getdents64), ENTRY(readlink), ENTRY(getcwd), ENTRY(chdir),
      ENTRY(fchdir), ENTRY(rename), ENTRY(renameat2), ENTRY(unlink), ENTRY(unlinkat), ENTRY(mkdir), ENTRY(rmdir), ENTRY(link), ENTRY(symlink), ENTRY(chmod), ENTRY(fchmod), ENTRY(chown),
      ENTRY(utimensat), ENTRY(truncate), ENTRY(umask), ENTRY(statfs), ENTRY(getxattr), ENTRY(mknod))
