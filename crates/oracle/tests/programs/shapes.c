/* Variables of every shape: structures, unions, bit-fields, arrays, enumerations, function pointers, nested scopes that hide names,
   recursion, statics, thread-locals, inlined functions. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };
enum flags { NONE = 0, FIRST = 1, SECOND = 2, THIRD = 4 };
enum signs { MINUS = -3, PLUS = 7 };
typedef unsigned char byte;
typedef int (*operation)(int, int);
typedef struct point { double x, y; } point;

union number { long whole; double fraction; byte bytes[8]; };

struct packed_bits {
    unsigned low : 3;
    int middle : 9;
    unsigned long high : 40;
    bool is_set : 1;
    enum colour colour : 4;
};

struct node {
    const char *name;
    struct node *left, *right;
    struct { short depth; union { int number; float ratio; }; };
    enum flags flags;
    operation combine;
    struct packed_bits bits;
};

struct matrix { int rows[2][3]; point corners[2]; char label[12]; };

static int totals[4];
static struct matrix grid = { { { 1, 2, 3 }, { 4, 5, 6 } }, { { 0.5, -1 }, { 2, 1e30 } }, "grid" };
enum colour favourite = BLUE;
const char *const titles[] = { "first", "second", "third" };
static __thread int depth_of_thread = 3;
__thread struct { int a; byte b[3]; } local_record = { 7, { 1, 2, 3 } };
long double unused_long;
volatile int sink;

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static operation operations[2] = { add, subtract };

static inline __attribute__((always_inline)) int square(int value)
{
    int result = value * value;
    sink = result;
    return result + 1;
}

static inline __attribute__((always_inline)) int cube(int value)
{
    int part = square(value);
    return part * value;
}

static __attribute__((noinline)) struct node *make(const char *name, int level)
{
    static int made;
    struct node *node = malloc(sizeof *node);
    memset(node, 0, sizeof *node);
    node->name = name;
    node->depth = (short)level;
    node->number = level * 100;
    node->flags = level % 2 ? FIRST | THIRD : SECOND;
    node->combine = operations[level % 2];
    node->bits.low = (unsigned)level;
    node->bits.middle = -level * 7;
    node->bits.high = 0x123456789aUL + (unsigned)level;
    node->bits.is_set = level & 1;
    node->bits.colour = level > 2 ? BLUE : GREEN;
    made++;
    if (level > 0) {
        const char *side = "left";
        node->left = make(side, level - 1);
        {
            const char *side = "right";
            int level = made;
            node->right = make(side, 0);
            totals[level % 4] += level;
        }
    }
    return node;
}

static __attribute__((noinline)) int walk(const struct node *node, int sum)
{
    if (!node)
        return sum;
    int before = sum;
    depth_of_thread++;
    local_record.a += node->depth;
    local_record.b[node->depth % 3]++;
    for (int i = 0; i < 2; i++) {
        const struct node *child = i ? node->right : node->left;
        sum = node->combine(walk(child, sum), node->number);
    }
    depth_of_thread--;
    return sum + before;
}

static __attribute__((noinline)) point middle(point a, point b, float weight)
{
    point result = { a.x * weight + b.x * (1 - weight), a.y * weight + b.y * (1 - weight) };
    return result;
}

static __attribute__((noinline)) double mix(union number number, enum signs sign, byte small, signed char negative, short count)
{
    double values[5];
    int length = 3 + count % 3;
    int variable[length];
    for (int i = 0; i < length; i++) {
        variable[i] = i * sign;
        values[i] = number.whole % (i + 2) / 2.0 + small + negative;
    }
    double total = 0;
    for (int i = 0; i < length; i++)
        total += values[i] * variable[i];
    return total;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    int result = 0;
    point here = { 1, 2 };
    struct matrix copy = grid;
    struct matrix *shared = &copy;
    for (int round = 0; round < rounds; round++) {
        struct node *tree = make("root", round % 4);
        union number number = { .whole = round * 1000003L };
        enum signs sign = round % 2 ? MINUS : PLUS;
        result += walk(tree, round) + cube(round % 10);
        here = middle(here, grid.corners[round % 2], 0.25f);
        shared->rows[round % 2][round % 3] += result;
        result ^= (int)mix(number, sign, (byte)(round * 31), (signed char)(-round), (short)round);
        bool is_odd = result & 1;
        favourite = is_odd ? RED : GREEN;
    }
    printf("%d %g %s %d\n", result, here.x, titles[favourite == RED], copy.rows[1][2]);
    return 0;
}
