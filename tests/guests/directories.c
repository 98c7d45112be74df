/* Directories: made, listed, walked, entered and removed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void list(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) {
        printf("%s: %s\n", path, strerror(errno));
        return;
    }
    char *names[300];
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char line[300];
        snprintf(line, sizeof line, "%s%s", entry->d_name, entry->d_type == DT_DIR ? "/" : entry->d_type == DT_LNK ? "@" : "");
        names[count++] = strdup(line);
    }
    rewinddir(directory);
    int again = 0;
    while (readdir(directory))
        again++;
    closedir(directory);
    qsort(names, count, sizeof *names, compare);
    printf("%s (%d, %d):", path, count, again);
    for (int i = 0; i < count; i++)
        printf(" %s", names[i]);
    putchar('\n');
}

static int files, folders;
static int visit(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    files += kind == FTW_F;
    folders += kind == FTW_DP;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

static void touch(const char *path) { close(open(path, O_CREAT | O_WRONLY, 0644)); }

int main(void)
{
    umask(022);
    printf("%d %d %s\n", mkdir("top", 0755), mkdir("top", 0755), strerror(errno));
    mkdir("top/a", 0700); mkdir("top/a/b", 0755); mkdir("top/c", 0755);
    touch("top/one"); touch("top/two"); touch("top/a/three");
    symlink("a", "top/link");
    list("top"); list("top/a"); list("top/link"); list("absent"); list("top/one");
    char here[PATH_MAX], full[PATH_MAX];
    getcwd(here, sizeof here);
    printf("%s\n", strrchr(here, '/'));
    printf("%d", chdir("top/link/b"));
    getcwd(full, sizeof full);
    printf(" %s\n", full + strlen(here));
    printf("%s\n", realpath("../../link/../one", full) ? full + strlen(here) : strerror(errno));
    touch("../here");
    chdir(here);
    list("top/a");
    printf("%d %s\n", rmdir("top/a"), strerror(errno));
    printf("%d %s\n", rmdir("top/one"), strerror(errno));
    printf("%d\n", rename("top/a", "top/moved"));
    list("top/moved"); list("top/link");
    struct stat status;
    stat("top/moved", &status);
    printf("%o %d\n", status.st_mode, (int)status.st_nlink);
    int fd = open("top", O_RDONLY | O_DIRECTORY);
    printf("%d %d\n", mkdirat(fd, "at", 0755), faccessat(fd, "at", F_OK, 0));
    printf("%d %d\n", fchdir(fd), unlinkat(fd, "at", AT_REMOVEDIR));
    list(".");
    chdir(here);
    for (int i = 0; i < 250; i++) {
        char name[64];
        snprintf(name, sizeof name, "top/c/file-%03d-with-a-rather-long-name", i);
        touch(name);
    }
    glob_t found;
    printf("%d", glob("top/c/file-1?[05]*", 0, NULL, &found));
    printf(" %zu %s\n", found.gl_pathc, found.gl_pathv[3]);
    nftw("top", visit, 10, FTW_DEPTH | FTW_PHYS);
    printf("%d files, %d folders removed\n", files, folders);
    list("top"); list(".");
    return 0;
}
