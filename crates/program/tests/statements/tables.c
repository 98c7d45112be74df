/* Initialised variables and tables. */
enum colour { RED, GREEN, BLUE };
enum colour favourite = GREEN;
enum { APPLE, PEAR = 3 }; /* no variable has this type */
struct point { int x, y; };
struct entry { const char *name; int value; struct point at; char text[8]; };

int scalar = 5;
int never;
int zero = 0;
const double first = 1.5, second = 2.5,
             third = 3.5;
int list[] = {
    1,
    2, 3,
    [7] = 8, /* the rest are 0 */
    9
};
int without_braces[2][3] = { 1, 2, 3,
                             4, 5,
                             6 };
int with_braces[2][3] = {
    { 1, 2 },
    { 4,
      5, 6 }
};
struct entry table[] = {
    { "one", 1, { 10, 11 }, "abc" },
    { .name = "two",
      .at.y = 5,
      .value = 2,
      .text = "" },
    [3] = { "three", 3, .text = "x" },
    "elided", 5,
    6, 7,
    "text",
};
const char *names[] = {
    [RED] = "red",
    [BLUE] = "blue",
    [GREEN] = "green",
};
int prices[] = {
    [PEAR] = 20,
    [APPLE] = 10,
};
int twice_given[3] = {
    [1] = 1,
    [0] = 2,
    3,
};
char message[] = "hello";
char letters[] = { 'a',
                   'b' };
int ranges[6] = { [0 ... 3] = 1,
                  [4 ... 5] = 2 };
union number { int whole; float real; } numbers[] = {
    { 1 },
    { .real = 2.0f }
};
struct { unsigned low : 3, high : 5; int rest; } bits = {
    1,
    2,
    3
};
struct { int kind; union { int whole; float real; }; } tagged = {
    .kind = 1,
    .whole = 3,
};
struct { int sizes[2]; struct point corners[2]; } nested = {
    { 1, 2 },
    { { 3, 4 },
      { .y = 6, .x = 5 } },
};
struct { unsigned char bytes[4]; } packets[2] = { { "ab" },
                                                  { { 1, 2 } } };

#define ROW(name, value) { name, value, { 1, 2 }, "row" }
struct entry rows[] = {
    ROW("a", 1),
    ROW("b", 2),
};
#define PAIR(a) a, a + 1
int pairs[] = {
    PAIR(1),
    PAIR(3),
};
int chosen[] = {
#ifdef NOBODY
    1,
#else
    2,
#endif
    3,
};

int counter(void)
{
    static int calls = 10;
    static const char *words[] = {
        "a",
        "b",
    };
    return calls++ + words[0][0];
}

int main(void) { return counter() + never; }
