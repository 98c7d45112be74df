/* Decisions whose effects go through all kinds of instructions and calls: library functions, floats of three kinds, string instructions, the heap,
   a signal handler, buffered output, and system calls that read what differs. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int signals;
static void count_signal(int number) { signals += number; }

static unsigned state = 7;
static unsigned next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 16;
}

static void copy(char *to, const char *from, size_t count)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static size_t length(const char *text)
{
    size_t count = -1;
    __asm__ volatile("repne scasb" : "+D"(text), "+c"(count) : "a"(0) : "memory", "cc");
    return -count - 2;
}

struct item {
    char name[12];
    int weight;
    double share;
    long double exact;
    float rough;
    struct item *next;
};

static struct item *make(int number)
{
    struct item *item = calloc(1, sizeof *item);
    char name[12];
    sprintf(name, number % 3 ? "item-%d" : "i%d", number);
    copy(item->name, name, length(name) + 1);
    item->weight = next() % 100;
    if (item->weight > 60)
        item->weight -= 30;
    item->share = item->weight / 7.0;
    if (number & 1)
        item->share = sqrt(item->share);
    item->exact = number == 2 ? 1.25L : item->share * 3.0L;
    item->rough = item->weight > 20 ? (float)item->exact : 0.5f;
    return item;
}

static int by_weight(const void *a, const void *b)
{
    const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
    return x->weight < y->weight ? -1 : x->weight > y->weight;
}

int main(void)
{
    enum { COUNT = 6 };
    struct item *items[COUNT], *list = NULL;
    char line[64], *text = NULL;
    size_t size = 0;
    int file = open("/tmp/worlds", O_CREAT | O_RDWR | O_TRUNC, 0600);
    signal(SIGUSR1, count_signal);
    for (int i = 0; i < COUNT; i++) {
        items[i] = make(i);
        items[i]->next = list;
        if (items[i]->weight % 2)
            list = items[i];
    }
    qsort(items, COUNT, sizeof *items, by_weight);
    double total = 0;
    long double exact = 0;
    for (int i = 0; i < COUNT; i++) {
        if (strchr(items[i]->name, '-'))
            total += items[i]->share;
        exact = exact / 2 + items[i]->exact;
        if (items[i]->rough > 5)
            raise(SIGUSR1);
    }
    for (struct item *item = list; item; item = item->next) {
        size_t more = strlen(item->name);
        text = realloc(text, size + more + 1);
        memcpy(text + size, item->name, more + 1);
        size += more;
    }
    memset(line, '.', sizeof line);
    int width = snprintf(line, sizeof line, "%.3f %.3Lf %s", total, exact, text ? text : "none");
    if (width > 30)
        width = 30;
    if (write(file, line, width) == width)
        lseek(file, 0, SEEK_SET);
    char back[32] = "";
    if (read(file, back, sizeof back - 1) > 0 && strcmp(back, "9") < 0)
        puts(back);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%d %s %d\n", signals, line, list ? list->weight : -1);
    for (int i = 0; i < COUNT; i++)
        free(items[i]);
    free(text);
    return total > 12 ? 3 : 0;
}
