/* A little of each thing that is described by debug information, without a library. */
enum color { RED, GREEN = 5, BLUE };

struct node {
    int id;
    const char *name;
    struct node *next;
    unsigned low : 3;
    signed middle : 5;
    union {
        int number;
        float fraction;
    };
    enum color color;
    int table[2][3];
};

static struct node shared = {.id = 7, .name = "shared", .table = {{1, 2}, {3}}};
int table[4] = {1, [2] = 5};
#ifdef THREADS
__thread
#endif
long per_thread = 4;

static inline int inner(const int *value) { return *value + 1; }

__attribute__((noinline)) int walk(struct node *list, int depth, double weight) {
    int sum = 0;
    for (struct node *at = list; at && depth > 0; at = at->next) {
        int here = at->id * depth;
        {
            int depth = inner(&here);
            sum += depth;
        }
        if (here > 3 && (sum < 100 || weight > 1.5))
            sum += here;
    }
    return depth > 0 ? sum + walk(list, depth - 1, weight / 2) : sum;
}

__attribute__((noinline)) int choose(enum color color, int length) {
    int dynamic[length + 2];
    dynamic[0] = table[length & 3];
    switch (color) {
    case RED:
        return dynamic[0];
    case 1:
        return 17 + length;
    case 2:
        return walk(&shared, length, 2.5);
    case 3:
        return length * 5;
    case 4:
        return (int)per_thread;
    case GREEN:
        return -1;
    default:
        return walk(&shared, 3, 0.5) ? 9 : 8;
    }
}

void _start(void) {
    int status = choose(shared.color, shared.id) + walk(&shared, 2, 1);
    __asm__ volatile("syscall" : : "a"(60), "D"(status));
    __builtin_unreachable();
}
