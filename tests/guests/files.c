/* Files through stdio and through descriptors: written, read back, moved about in, renamed and removed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long size_of(const char *path) { struct stat s; return stat(path, &s) ? -errno : s.st_size; }

static void streams(void)
{
    FILE *file = fopen("stream.txt", "w+");
    for (int i = 0; i < 5000; i++)
        fprintf(file, "line %d of many\n", i);
    printf("%ld bytes\n", ftell(file));
    rewind(file);
    char line[100];
    int lines = 0;
    while (fgets(line, sizeof line, file))
        lines++;
    printf("%d lines, eof %d\n", lines, feof(file));
    fseek(file, 1000, SEEK_SET);
    fputs("OVERWRITTEN", file);
    fseek(file, -15, SEEK_END);
    printf("%s", fgets(line, sizeof line, file));
    fseek(file, 995, SEEK_SET);
    size_t got = fread(line, 1, 30, file);
    printf("%zu %.30s\n", got, line);
    ungetc('!', file);
    printf("%c%c\n", fgetc(file), fgetc(file));
    fclose(file);
    file = fopen("stream.txt", "a");
    setvbuf(file, NULL, _IONBF, 0);
    fputs("appended\n", file);
    fclose(file);
    printf("%ld\n", size_of("stream.txt"));
    file = fopen("stream.txt", "r");
    fscanf(file, "line %d of %99s", &lines, line);
    printf("%d %s\n", lines, line);
    fclose(file);
    char *text = NULL; size_t capacity = 0;
    file = fopen("stream.txt", "rb");
    ssize_t length = getdelim(&text, &capacity, 'y', file);
    printf("%zd %s\n", length, text);
    fclose(file);
    file = fopen("absent.txt", "r");
    printf("%d %s\n", file == NULL, strerror(errno));
    file = tmpfile();
    fputs("temporary", file);
    rewind(file);
    printf("%s\n", fgets(line, sizeof line, file));
    fclose(file);
    file = fmemopen(line, sizeof line, "w");
    fprintf(file, "in memory %d", 5);
    fclose(file);
    puts(line);
}

static void descriptors(void)
{
    int fd = open("raw.bin", O_RDWR | O_CREAT | O_EXCL, 0640);
    printf("%d again %d %s\n", fd >= 0, open("raw.bin", O_RDWR | O_CREAT | O_EXCL, 0640), strerror(errno));
    char block[4096];
    for (int i = 0; i < 20; i++) {
        memset(block, 'a' + i, sizeof block);
        write(fd, block, sizeof block);
    }
    pwrite(fd, "patch", 5, 10000);
    memset(block, 0, sizeof block);
    pread(fd, block, 10, 9998);
    printf("%s at %ld\n", block, (long)lseek(fd, 0, SEEK_CUR));
    lseek(fd, 1 << 20, SEEK_SET);
    write(fd, "end", 3);
    printf("%ld\n", size_of("raw.bin"));
    pread(fd, block, 4, (1 << 20) - 2);
    printf("%d %d %c%c\n", block[0], block[1], block[2], block[3]);
    ftruncate(fd, 5);
    printf("%ld\n", size_of("raw.bin"));
    lseek(fd, 0, SEEK_SET);
    printf("%zd %.5s\n", read(fd, block, 100), block);
    int copy = dup(fd);
    lseek(copy, 2, SEEK_SET);
    printf("%ld\n", (long)lseek(fd, 0, SEEK_CUR));
    close(fd);
    unlink("raw.bin");
    printf("%ld %zd\n", size_of("raw.bin"), read(copy, block, 100));
    close(copy);
    printf("%zd %s\n", write(copy, "x", 1), strerror(errno));
    int ends[2];
    pipe(ends);
    write(ends[1], "through a pipe", 14);
    close(ends[1]);
    printf("%zd %.14s %zd\n", read(ends[0], block, 100), block, read(ends[0], block, 100));
}

static void names(void)
{
    FILE *file = fopen("old", "w");
    fputs("content", file);
    fclose(file);
    printf("%d %ld %ld\n", rename("old", "new"), size_of("old"), size_of("new"));
    printf("%d %d\n", link("new", "hard"), symlink("new", "soft"));
    struct stat a, b;
    stat("new", &a); stat("hard", &b);
    printf("%d %ld\n", a.st_ino == b.st_ino, (long)a.st_nlink);
    char target[100] = {0};
    printf("%zd %s\n", readlink("soft", target, sizeof target), target);
    lstat("soft", &a);
    printf("%d\n", S_ISLNK(a.st_mode));
    chmod("new", 0400);
    stat("hard", &a);
    printf("%o\n", a.st_mode);
    printf("%d %d %d %s\n", remove("new"), remove("hard"), open("soft", O_RDONLY), strerror(errno));
    printf("%d %d %s\n", remove("soft"), remove("soft"), strerror(errno));
}

int main(void)
{
    umask(022);
    streams();
    descriptors();
    names();
    return 0;
}
