/* System calls on open files. */
#include "case.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <termios.h>

CASE(open)
{
    TELL(syscall(SYS_open, "absent", O_RDONLY));
    WORKS(syscall(SYS_open, "made", O_RDWR | O_CREAT, 0666));
    TELL(syscall(SYS_open, "made", O_RDWR | O_CREAT | O_EXCL, 0666));
    TELL(syscall(SYS_open, "made/below", O_RDONLY));
    TELL(syscall(SYS_open, "", O_RDONLY));
    TELL(syscall(SYS_open, ".", O_WRONLY));
    TELL(syscall(SYS_open, "made", O_RDONLY | O_DIRECTORY));
    TELL(syscall(SYS_open, (char *)8, O_RDONLY));
    file("f", "longer text");
    int fd = WORKS(syscall(SYS_open, "f", O_WRONLY | O_TRUNC));
    TELL(read(fd, &fd, 1));
    show("f");
    symlink("f", "l"); symlink("l2", "l2");
    WORKS(syscall(SYS_open, "l", O_RDONLY));
    TELL(syscall(SYS_open, "l", O_RDONLY | O_NOFOLLOW));
    TELL(syscall(SYS_open, "l2", O_RDONLY));
    char longest[5000];
    memset(longest, 'x', sizeof longest); longest[300] = 0;
    TELL(syscall(SYS_open, longest, O_RDONLY));
    longest[300] = 'x'; longest[4999] = 0;
    TELL(syscall(SYS_open, longest, O_RDONLY));
    close(0);
    TELL(syscall(SYS_open, "f", O_RDONLY));
}

CASE(openat)
{
    mkdir("d", 0755); file("d/f", "below");
    int d = open("d", O_RDONLY | O_DIRECTORY);
    char text[10] = {0};
    int fd = WORKS(openat(d, "f", O_RDONLY));
    printf("%zd %s\n", read(fd, text, 9), text);
    TELL(openat(d, "absent", O_RDONLY));
    TELL(openat(fd, "f", O_RDONLY));
    TELL(openat(77, "f", O_RDONLY));
    WORKS(openat(AT_FDCWD, "d/../d/./f", O_RDONLY));
    WORKS(openat(d, "new", O_CREAT | O_WRONLY, 0600));
    show("d/new");
}

CASE(creat) { file("f", "old"); int fd = WORKS(syscall(SYS_creat, "f", 0600)); write(fd, "n", 1); show("f"); }

CASE(read)
{
    file("f", "0123456789");
    int fd = open("f", O_RDONLY);
    char text[20] = {0};
    TELL(read(fd, text, 4)); TELL(read(fd, text + 4, 0)); TELL(read(fd, text + 4, 100)); TELL(read(fd, text, 10));
    puts(text);
    TELL(read(fd, (void *)8, 10) >= -1);
    lseek(fd, 0, SEEK_SET);
    TELL(read(fd, (void *)8, 10));
    TELL(read(99, text, 1)); TELL(read(-1, text, 1));
    TELL(read(open(".", O_RDONLY), text, 1));
    TELL(read(open("/dev/null", O_RDONLY), text, 5));
    TELL(read(open("/dev/zero", O_RDONLY), text, 5));
    printf("%d%d\n", text[0], text[4]);
}

CASE(write)
{
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    TELL(write(fd, "hello", 5)); TELL(write(fd, "", 0)); TELL(write(fd, " world", 6));
    show("f");
    TELL(write(open("f", O_RDONLY), "x", 1));
    TELL(write(fd, (void *)8, 5)); TELL(write(99, "x", 1));
    int append = open("f", O_WRONLY | O_APPEND);
    TELL(lseek(append, 0, SEEK_SET)); TELL(write(append, "!", 1)); TELL(lseek(append, 0, SEEK_CUR));
    show("f");
    TELL(write(open("/dev/null", O_WRONLY), "gone", 4));
    TELL(write(open("/dev/full", O_WRONLY), "full", 4));
}

CASE(pread64)
{
    file("f", "0123456789");
    int fd = open("f", O_RDONLY);
    char text[20] = {0};
    TELL(pread(fd, text, 4, 3)); puts(text);
    TELL(pread(fd, text, 4, 8)); TELL(pread(fd, text, 4, 100)); TELL(pread(fd, text, 4, -1)); TELL(lseek(fd, 0, SEEK_CUR));
    int ends[2]; pipe(ends);
    TELL(pread(ends[0], text, 1, 0));
}

CASE(pwrite64)
{
    file("f", "0123456789");
    int fd = open("f", O_RDWR);
    TELL(pwrite(fd, "abc", 3, 4)); TELL(lseek(fd, 0, SEEK_CUR)); TELL(pwrite(fd, "z", 1, 12)); TELL(pwrite(fd, "z", 1, -5));
    char text[20] = {0};
    TELL(pread(fd, text, 20, 0));
    for (int i = 0; i < 13; i++) printf("%d ", text[i]);
    putchar('\n');
}

CASE(readv)
{
    file("f", "0123456789");
    int fd = open("f", O_RDONLY);
    char a[4] = {0}, b[4] = {0}, c[10] = {0};
    struct iovec parts[] = {{a, 3}, {NULL, 0}, {b, 2}, {c, 9}};
    TELL(readv(fd, parts, 4)); printf("%s %s %s\n", a, b, c);
    TELL(readv(fd, parts, 0)); TELL(readv(fd, parts, -1)); TELL(readv(fd, parts, 4));
    TELL(preadv(fd, parts, 1, 6)); puts(a);
}

CASE(writev)
{
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    struct iovec parts[] = {{"one ", 4}, {"", 0}, {"two ", 4}, {"three", 5}};
    TELL(writev(fd, parts, 4)); TELL(writev(fd, parts, 2000)); TELL(pwritev(fd, parts, 1, 8));
    show("f");
    fflush(stdout);
    struct iovec out[] = {{"to stdout ", 10}, {"in parts\n", 9}};
    TELL(writev(1, out, 2));
}

CASE(lseek)
{
    file("f", "0123456789");
    int fd = open("f", O_RDWR);
    TELL(lseek(fd, 4, SEEK_SET)); TELL(lseek(fd, 3, SEEK_CUR)); TELL(lseek(fd, -1, SEEK_END)); TELL(lseek(fd, -100, SEEK_CUR)); TELL(lseek(fd, 0, 77));
    TELL(lseek(fd, 100, SEEK_END)); TELL(write(fd, "x", 1));
    struct stat s; fstat(fd, &s); printf("%ld\n", (long)s.st_size);
    int ends[2]; pipe(ends);
    TELL(lseek(ends[0], 0, SEEK_CUR)); TELL(lseek(99, 0, SEEK_SET));
}

CASE(close) { int fd = dup(1); TELL(close(fd)); TELL(close(fd)); TELL(close(-1)); printf("%d\n", dup(1) == fd); }

CASE(dup)
{
    file("f", "0123456789");
    int a = open("f", O_RDONLY), b = WORKS(dup(a));
    lseek(a, 5, SEEK_SET); TELL(lseek(b, 0, SEEK_CUR));
    close(a); char c; TELL(read(b, &c, 1)); printf("%c\n", c);
    TELL(dup(99));
}

CASE(dup2)
{
    file("f", "abc"); file("g", "xyz");
    int a = open("f", O_RDONLY), b = open("g", O_RDONLY); char c;
    printf("%d\n", dup2(a, b) == b); read(b, &c, 1); printf("%c\n", c);
    printf("%d\n", dup2(a, a) == a); TELL(dup2(99, a)); TELL(dup2(a, 50)); TELL(dup2(a, -1));
    fflush(stdout);
    int saved = dup(1), out = open("out", O_CREAT | O_WRONLY, 0644);
    dup2(out, 1); puts("redirected"); fflush(stdout); dup2(saved, 1);
    show("out");
}

CASE(dup3)
{
    int a = open(".", O_RDONLY);
    TELL(dup3(a, 40, O_CLOEXEC)); TELL(fcntl(40, F_GETFD)); TELL(dup3(a, a, 0)); TELL(dup3(a, 41, 12345));
}

CASE(fcntl)
{
    int fd = open("f", O_CREAT | O_RDWR | O_APPEND, 0644);
    TELL(fcntl(fd, F_GETFD)); TELL(fcntl(fd, F_SETFD, FD_CLOEXEC)); TELL(fcntl(fd, F_GETFD));
    printf("%o\n", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
    TELL(fcntl(fd, F_SETFL, O_NONBLOCK));
    printf("%o\n", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
    TELL(fcntl(fd, F_DUPFD, 30)); TELL(fcntl(fd, F_DUPFD_CLOEXEC, 30)); TELL(fcntl(99, F_GETFD)); TELL(fcntl(fd, 9999));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    TELL(fcntl(fd, F_SETLK, &lock));
}

CASE(pipe)
{
    int ends[2]; char text[20] = {0};
    TELL(syscall(SYS_pipe, ends));
    TELL(write(ends[1], "first", 5)); TELL(write(ends[1], "second", 6)); TELL(read(ends[0], text, 7)); puts(text);
    TELL(read(ends[0], text, 20)); close(ends[1]); TELL(read(ends[0], text, 20));
    TELL(read(ends[1], text, 1)); TELL(write(ends[0], "x", 1));
}

CASE(pipe2)
{
    int ends[2]; char c;
    TELL(pipe2(ends, O_NONBLOCK | O_CLOEXEC)); TELL(read(ends[0], &c, 1)); TELL(fcntl(ends[0], F_GETFD)); TELL(pipe2(ends, 12345));
    static char block[1 << 20];
    TELL(write(ends[1], block, sizeof block)); TELL(write(ends[1], block, 1));
}

CASE(ftruncate)
{
    file("f", "0123456789");
    int fd = open("f", O_RDWR); char text[12] = {0};
    TELL(ftruncate(fd, 4)); show("f"); TELL(ftruncate(fd, 8)); TELL(pread(fd, text, 12, 0)); printf("%s %d\n", text, text[7]);
    TELL(ftruncate(fd, -1)); TELL(ftruncate(open("f", O_RDONLY), 1)); TELL(ftruncate(99, 1));
}

CASE(fsync) { int fd = open("f", O_CREAT | O_RDWR, 0644); TELL(fsync(fd)); TELL(fdatasync(fd)); TELL(fsync(99)); }

CASE(fallocate)
{
    int fd = open("f", O_CREAT | O_RDWR, 0644); struct stat s;
    TELL(fallocate(fd, 0, 0, 1000)); fstat(fd, &s); printf("%ld\n", (long)s.st_size); TELL(fallocate(fd, 0, -1, 5)); TELL(fallocate(99, 0, 0, 5));
}

CASE(ioctl)
{
    struct winsize size; struct termios terminal; int waiting = -1, ends[2];
    TELL(ioctl(1, TIOCGWINSZ, &size)); TELL(ioctl(0, TCGETS, &terminal)); TELL(ioctl(99, TCGETS, &terminal)); TELL(isatty(1));
    pipe(ends); write(ends[1], "abc", 3); TELL(ioctl(ends[0], FIONREAD, &waiting)); printf("%d\n", waiting);
}

CASE(poll)
{
    int ends[2]; pipe(ends);
    struct pollfd fds[] = {{ends[0], POLLIN}, {ends[1], POLLOUT}, {99, POLLIN}, {-1, POLLIN}};
    TELL(poll(fds, 4, 0)); printf("%x %x %x %x\n", fds[0].revents, fds[1].revents, fds[2].revents, fds[3].revents);
    write(ends[1], "x", 1); TELL(poll(fds, 1, 1000)); printf("%x\n", fds[0].revents);
    close(ends[1]); TELL(poll(fds, 1, -1)); printf("%x\n", fds[0].revents);
    struct timespec zero = {0, 0}; TELL(ppoll(fds, 1, &zero, NULL));
    TELL(poll(NULL, 0, 10));
}

CASE(select)
{
    int ends[2]; pipe(ends);
    fd_set in, out; FD_ZERO(&in); FD_ZERO(&out); FD_SET(ends[0], &in); FD_SET(ends[1], &out);
    struct timeval soon = {0, 1000};
    TELL(select(ends[1] + 1, &in, &out, NULL, &soon)); printf("%d %d\n", !!FD_ISSET(ends[0], &in), !!FD_ISSET(ends[1], &out));
    write(ends[1], "x", 1); FD_SET(ends[0], &in);
    TELL(select(ends[1] + 1, &in, NULL, NULL, NULL)); printf("%d\n", !!FD_ISSET(ends[0], &in));
    struct timespec zero = {0, 0}; FD_ZERO(&in); TELL(pselect(0, NULL, NULL, NULL, &zero, NULL));
    /* Linux leaves out descriptors beyond its table, which has 64 entries or more. */
    FD_SET(60, &in); TELL(select(61, &in, NULL, NULL, &soon));
}

CASE(sendfile)
{
    file("f", "0123456789"); int in = open("f", O_RDONLY), out = open("g", O_CREAT | O_WRONLY, 0644); off_t from = 3;
    TELL(sendfile(out, in, NULL, 4)); TELL(sendfile(out, in, &from, 100)); printf("%ld %ld\n", (long)from, (long)lseek(in, 0, SEEK_CUR)); show("g");
}

CASE(copy_file_range)
{
    file("f", "0123456789"); int in = open("f", O_RDONLY), out = open("g", O_CREAT | O_RDWR, 0644); off_t from = 2, to = 1;
    TELL(copy_file_range(in, NULL, out, NULL, 3, 0)); TELL(copy_file_range(in, &from, out, &to, 100, 0)); printf("%ld %ld\n", (long)from, (long)to); show("g");
}

CASE(flock)
{
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    TELL(syscall(SYS_flock, fd, 2)); TELL(syscall(SYS_flock, fd, 8)); TELL(syscall(SYS_flock, 99, 2));
}

CASE(memfd_create)
{
    int fd = WORKS(syscall(SYS_memfd_create, "name", 0)); char text[10] = {0};
    TELL(write(fd, "memory", 6)); TELL(pread(fd, text, 9, 0)); puts(text);
}

CASES(ENTRY(open), ENTRY(openat), ENTRY(creat), ENTRY(read), ENTRY(write), ENTRY(pread64), ENTRY(pwrite64), ENTRY(readv), ENTRY(writev), ENTRY(lseek), ENTRY(close),
      ENTRY(dup), ENTRY(dup2), ENTRY(dup3), ENTRY(fcntl), ENTRY(pipe), ENTRY(pipe2), ENTRY(ftruncate), ENTRY(fsync), ENTRY(fallocate), ENTRY(ioctl), ENTRY(poll),
      ENTRY(select), ENTRY(sendfile), ENTRY(copy_file_range), ENTRY(flock), ENTRY(memfd_create))
