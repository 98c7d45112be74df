/* A guest that does its worst: hostile PORT PID DESCRIPTOR, in a directory with a tree to destroy.
   Tries everything that could reach the host, then shows its own view, in which its changes to files must hold.
   If a sandbox failed, the harm would stay within the tree, the connection to PORT and the process PID: nothing else is aimed at. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define TRY(...) printf("tried %s: %ld %s\n", #__VA_ARGS__, (errno = 0, (long)(__VA_ARGS__)), errno ? strerrorname_np(errno) : "")

static char here[4096], path[8192];
static const char *at(const char *prefix, const char *name) { snprintf(path, sizeof path, "%s%s/%s", prefix, here, name); return path; }

static void overwrite(const char *name, int flags, const char *text)
{
    int fd = open(name, flags, 0644);
    ssize_t written = fd < 0 ? -1 : write(fd, text, strlen(text));
    printf("tried to write %s with %o: %d %zd\n", strlen(name) > 40 ? "a long path" : name, flags, fd >= 0, written);
    if (fd >= 0)
        close(fd);
}

static void files(void)
{
    overwrite("tree/overwritten", O_WRONLY, "OVERWRITTEN");
    overwrite("tree/truncated", O_WRONLY | O_TRUNC, "");
    overwrite("tree/appended", O_WRONLY | O_APPEND, " and more");
    overwrite("tree/created", O_WRONLY | O_CREAT | O_EXCL, "created");
    overwrite("tree/d/../d/../overwritten", O_RDWR, "OVERWRITTEN");
    overwrite("tree/link", O_RDWR, "through a link");
    overwrite("tree/out", O_RDWR | O_TRUNC, "through a link that leads out");
    overwrite(at("", "tree/absolute"), O_WRONLY | O_TRUNC, "ABSOLUTE");
    overwrite(at("/proc/self/root", "tree/by-root"), O_WRONLY | O_TRUNC, "by root");
    overwrite("/proc/self/cwd/tree/by-cwd", O_WRONLY | O_TRUNC, "by cwd");
    overwrite(at("/../../..", "tree/by-dots"), O_WRONLY | O_TRUNC, "by dots");
    overwrite("tree/fifo", O_WRONLY | O_NONBLOCK, "to a fifo");
    int fd = open("tree/by-fd", O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    overwrite(path, O_WRONLY | O_TRUNC, "by fd");
    TRY(open("tree", O_TMPFILE | O_RDWR, 0600) >= 0);
    TRY(unlink("tree/deleted"));
    TRY(unlinkat(AT_FDCWD, "tree/empty", AT_REMOVEDIR));
    TRY(rename("tree/renamed", "tree/new-name"));
    TRY(rename("tree/d", "tree/moved"));
    TRY(rename(at("", "tree/replacing"), "tree/replaced"));
    TRY(link("tree/linked", "tree/hard"));
    TRY(symlink("/etc/passwd", "tree/soft"));
    TRY(mkdir("tree/made", 0777));
    TRY(mknod("tree/node", S_IFREG | 0666, 0));
    TRY(mknod("tree/pipe", S_IFIFO | 0666, 0));
    TRY(chmod("tree/chmodded", 07777));
    TRY(fchmod(open("tree/fchmodded", O_RDONLY), 0));
    TRY(lchown("tree/chowned", 65534, 65534));
    struct timespec times[2] = {{1, 0}, {1, 0}};
    TRY(utimensat(AT_FDCWD, "tree/timed", times, 0));
    TRY(futimens(open("tree/timed", O_RDONLY), times));
    TRY(truncate("tree/shortened", 1));
    fd = open("tree/shared", O_RDWR);
    TRY(ftruncate(open("tree/lengthened", O_RDWR), 100000));
    TRY(fallocate(open("tree/lengthened", O_RDWR), 0, 0, 200000));
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    printf("tried a shared mapping: %d\n", map != MAP_FAILED);
    if (map != MAP_FAILED) {
        memcpy(map, "SHARED", 6);
        msync(map, 4096, MS_SYNC);
        munmap(map, 4096);
    }
    TRY(pwrite(open("tree/pwritten", O_RDWR), "PW", 2, 0));
    struct iovec part = {"PV", 2};
    TRY(pwritev(open("tree/pwritten", O_RDWR), &part, 1, 2));
    int from = open("tree/linked", O_RDONLY);
    TRY(copy_file_range(from, NULL, open("tree/copied-into", O_RDWR), NULL, 4, 0));
    TRY(sendfile(open("tree/copied-into", O_RDWR), from, NULL, 4));
    TRY(setxattr("tree/chmodded", "user.mark", "x", 1, 0));
    TRY(mount("none", "tree/made", "tmpfs", 0, NULL));
    TRY(mount("tree/made", "tree/moved", NULL, MS_BIND, NULL));
    TRY(umount("tree/made"));
    TRY(chroot("tree"));
    TRY(syscall(SYS_open_by_handle_at, -1, NULL, 0));
}

static void others(int port, int pid, int descriptor)
{
    TRY(write(descriptor, "inherited", 9));
    TRY(ftruncate(descriptor, 0));
    for (int fd = 3; fd < 30; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int again = open(path, O_WRONLY);
        if (again >= 0 && fd == descriptor)
            TRY(write(again, "reopened", 8));
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    TRY(connect(s, (struct sockaddr *)&address, sizeof address));
    TRY(sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&address, sizeof address));
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "tree/socket"};
    TRY(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&local, sizeof local));
    TRY(ptrace(PTRACE_ATTACH, pid, 0, 0));
    TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
    TRY(kill(pid, SIGKILL));
    TRY(kill(pid, SIGSTOP));
    TRY(syscall(SYS_tgkill, pid, pid, SIGKILL));
    TRY(syscall(SYS_tkill, pid, SIGKILL));
    int handle = syscall(SYS_pidfd_open, pid, 0);
    TRY(syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0));
    /* To all others only a signal that does no harm: the process PID ends when it gets one. */
    TRY(kill(getppid(), SIGCONT));
    TRY(kill(1, SIGCONT));
    TRY(kill(0, SIGCONT));
    TRY(kill(-1, SIGCONT));
    TRY(kill(-pid, SIGCONT));
    uint64_t word = 0;
    struct iovec local_part = {&word, 8}, remote_part = {(void *)0x400000, 8};
    TRY(process_vm_writev(pid, &local_part, 1, &remote_part, 1, 0));
    TRY(process_vm_readv(pid, &local_part, 1, &remote_part, 1, 0));
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    TRY(open(path, O_RDWR) >= 0);
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    TRY(open(path, O_RDWR) >= 0);
    int memory = open("/proc/self/mem", O_RDWR);
    TRY(pwrite(memory, "x", 1, (off_t)(uintptr_t)&word));
    TRY(pwrite(memory, "x", 1, (off_t)(uintptr_t)&others));
    TRY(setpriority(PRIO_PROCESS, pid, 19));
    TRY(ioctl(0, TIOCSTI, "x"));
    TRY(syscall(SYS_io_uring_setup, 8, NULL));
    TRY(syscall(SYS_shmget, 0x77686f, 4096, 01600));
    TRY(syscall(SYS_unshare, 0x20000));
    TRY(syscall(SYS_setns, 0, 0));
    TRY(syscall(SYS_bpf, 0, NULL, 0));
    TRY(syscall(SYS_iopl, 3));
    TRY(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}));
}

static void show(const char *name)
{
    char text[100] = {0}, link[100] = {0};
    struct stat status;
    if (lstat(name, &status)) {
        printf("view %s: %s\n", name, strerrorname_np(errno));
        return;
    }
    int fd = S_ISREG(status.st_mode) ? open(name, O_RDONLY) : -1;
    if (fd >= 0)
        read(fd, text, sizeof text - 1), close(fd);
    if (S_ISLNK(status.st_mode))
        readlink(name, link, sizeof link - 1);
    printf("view %s: %o %ld <%s>%s\n", name, status.st_mode, S_ISREG(status.st_mode) ? (long)status.st_size : 0L, text, link);
}

int main(int argc, char **argv)
{
    umask(022);
    getcwd(here, sizeof here);
    files();
    others(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    static const char *names[] = {"overwritten", "truncated", "appended", "created", "target", "absolute", "by-cwd", "by-dots", "by-fd", "deleted", "empty", "renamed",
                                  "new-name", "d", "moved", "moved/below", "replacing", "replaced", "linked", "hard", "soft", "made", "chmodded", "shortened", "pwritten", "copied-into"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char name[100];
        snprintf(name, sizeof name, "tree/%s", names[i]);
        show(name);
    }
    show("outside");
    fflush(stdout);
    char *words[] = {"rm", "-rf", "tree", NULL};
    execv("/bin/rm", words);
    pid_t child = fork();
    if (child == 0) {
        execv("/bin/rm", words);
        _exit(0);
    }
    TRY(vfork());
    return 0;
}
