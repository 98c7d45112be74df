/* Variables in all kinds of places, for a guest that runs in the machine. */
#include <stdlib.h>

enum state { IDLE, BUSY = 3 };
struct pair {
    int left;
    char name[8];
};

__thread int per_thread = 41;
static struct pair table[3] = {{1, "one"}, {2, "two"}};
const char *title = "places";
int extern_declared;

__attribute__((noinline)) int show(struct pair *pair, int count, double weight) {
    extern int extern_declared;
    static int calls = 10;
    enum state state = BUSY;
    int values[count];
    int sum = 0;
    calls++;
    for (int i = 0; i < count; i++) {
        int sum = i * 2;
        values[i] = sum;
    }
    per_thread += count;
    sum = values[1] + pair->left + (int)weight + state; /* stop */
    return sum + extern_declared;
}

int main(void) {
    struct pair *heap = malloc(sizeof *heap);
    heap->left = 77;
    heap->name[0] = 'h';
    heap->name[1] = 0;
    int result = show(heap, 3, 0.5);
    result += show(&table[1], 2, 1.5);
    return result == 0;
}
