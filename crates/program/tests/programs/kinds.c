/* One of each kind of type, with values that are awkward to print. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum color { RED, GREEN = 5, BLUE };
enum flags { FIRST = 1, SECOND = 2, THIRD = 4, HIGH = 0x30 };
enum negative { MINUS = -2, ZERO, PLUS };

struct opaque;
typedef int (*compare)(const void *, const void *);

typedef struct node {
    int id;
    const char *name;
    struct node *next;
    unsigned low : 3;
    signed middle : 5;
    enum color hue : 4;
    struct {
        int x, y;
        struct {
            int deep;
        } inner;
    } position;
    union {
        int number;
        float fraction;
    };
    enum color color;
    int table[2][3];
    void (*callback)(int, char *);
    char buffer[8];
    _Bool valid;
    struct opaque *hidden;
    double _Complex wave;
} node_t;

struct tree {
    struct tree *child[2];
    union {
        long whole;
        unsigned char bytes[8];
    } payload;
    volatile const int *watched;
    char *const fixed;
    size_t size;
};

typedef struct tree forest[3];
struct empty {};
struct flexible {
    int count;
    short items[];
};

long total = -5;
static unsigned long counter;
__thread int per_thread = 4;
int zeros[300];
int mixed[40] = {1, 2, 3};
char text[300] = "hello";
wchar_t wide[] = L"wide";
const char *const words[] = {"one", "two", 0};
static struct node shared = {.id = 7, .name = "shared"};

static void note(int code, char *message) {
    counter += code;
    if (message)
        message[0] = 'X';
}

static int order(const void *a, const void *b) {
    const int *left = a, *right = b;
    int difference = *left - *right;
    return difference;
}

static int numbers(signed char tiny, unsigned char byte, short small, unsigned long long huge) {
    float single = 0.1f;
    double third = 1.0 / 3, large = 1e100, tenth = 0.1, whole = 42;
    long double extended = 1.5L;
    _Bool yes = 1, no = 0;
    char newline = '\n', quote = '\'', zero = 0, letter = 'A';
    wchar_t symbol = L'x';
    __int128 wide_number = 1234567890123456789LL;
    enum flags none = 0, one = SECOND, two = FIRST | THIRD, odd = 9, high = HIGH | FIRST;
    enum negative minus = MINUS, strange = 7;
    enum color unknown = 3;
    unsigned mask = 0xfffffff0u;
    double infinite = large * large * large * large, nothing = infinite - infinite;
    total += tiny + byte + small + (long)huge + (long)single + (long)third;
    total += (long)extended + yes + no + newline + quote + zero + letter + symbol + (long)wide_number;
    total += none + one + two + odd + high + minus + strange + unknown + mask + (tenth > whole) + (nothing == 0);
    return (int)total;
}

static int walk(node_t *list, int depth) {
    static int visits = 3;
    int sum = 0;
    visits++;
    for (node_t *at = list; at; at = at->next) {
        int here = at->id * depth;
        {
            int depth = here + 1;
            sum += depth;
        }
        sum += here;
    }
    return depth > 0 ? sum + walk(list, depth - 1) : sum;
}

static long arrays(int length) {
    int dynamic[length + 2];
    int grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    int nine[9] = {0}, ten[10] = {0}, eleven[11] = {0};
    char nearly[5] = "abcde", exact[6] = "abcde", holes[20] = "ab\0cd", odd[12] = "\001" "2\377\"\\";
    unsigned char raw[3] = {1, 2, 3};
    node_t *pointers[4] = {0, &shared};
    double reals[3] = {1, 2.5, -1e-7};
    int many[250], (*row)[4] = &grid[1], *cells[3] = {&grid[0][0]};
    long sum = 0;
    forest trees;
    memset(trees, 0, sizeof trees);
    for (int i = 0; i < 250; i++)
        many[i] = i / 20;
    for (int i = 0; i < length + 2; i++)
        dynamic[i] = i;
    trees[1].payload.whole = 0x4142;
    sum += dynamic[1] + grid[1][1] + nine[0] + ten[0] + eleven[0] + nearly[0] + exact[0] + holes[0] + raw[1];
    sum += pointers[1]->id + (long)reals[1] + many[9] + row[0][1] + *cells[0] + (long)trees[1].size + odd[0];
    return sum;
}

int main(int argc, char **argv) {
    node_t first, second = {.id = 2, .name = "second\tnode\001\377", .next = 0};
    compare by = order;
    struct empty nothing;
    struct flexible *flexible = malloc(sizeof *flexible + 4);
    void *anything = &shared, *nowhere = 0;
    char *start = text, *broken = (char *)16;
    wchar_t *wide_start = wide;
    memset(&first, 0, sizeof first);
    first.id = 1;
    first.name = "first";
    first.next = &second;
    first.low = 5;
    first.middle = -3;
    first.hue = BLUE;
    first.color = BLUE;
    first.callback = note;
    first.valid = 1;
    strcpy(first.buffer, "buf");
    flexible->count = 2;
    note(3, first.buffer);
    total += walk(&first, 2);
    total += numbers(-3, 200, -300, 1ULL << 63);
    total += arrays(argc);
    total += by(&first.id, &second.id) + (long)anything + (long)nowhere + start[1] + (broken != 0);
    total += wide_start[0] + per_thread + sizeof nothing + mixed[1] + zeros[1] + (long)words[0];
    return argv[0] == 0;
}
