/* Structures of every class of the calling convention, by value in and out: integer, float, mixed, memory, empty parts, arrays. */
#include <stdio.h>
#include <string.h>

struct one { char c; };
struct two { int a, b; };
struct three { char c[3]; };
struct pair { long a; double b; };
struct floats { float x, y, z; };
struct doubles { double x, y; };
struct mixed { int i; float f; char c; double d; };
struct big { long values[5]; char name[20]; };
union either { long l; double d; };
struct nested { struct two two; struct floats floats; union either either; };

static struct one make_one(struct one v) { v.c++; return v; }
static struct two make_two(struct two v) { struct two r = {v.b * 2, v.a - 1}; return r; }
static struct three make_three(struct three v) { char t = v.c[0]; v.c[0] = v.c[2]; v.c[2] = t; return v; }
static struct pair make_pair(struct pair v, int n) { v.a += n; v.b *= n; return v; }
static struct floats make_floats(struct floats v) { struct floats r = {v.z, v.x + v.y, v.y * 0.5f}; return r; }
static struct doubles make_doubles(struct doubles v) { struct doubles r = {v.y / 3, v.x - v.y}; return r; }
static struct mixed make_mixed(int a, struct mixed v, double d, struct mixed w) { v.i += a + w.i; v.f += w.f; v.d = d * w.d; v.c = w.c; return v; }
static struct big make_big(struct big v, struct big w) { for (int i = 0; i < 5; i++) v.values[i] += w.values[4 - i]; strcat(v.name, w.name); return v; }
static struct nested make_nested(struct nested v) { v.two.a = v.two.b; v.floats.y += 1; v.either.l ^= 1; return v; }

static int many(int a, char b, short c, long d, unsigned e, signed char f, int g, struct two h, long i, struct big j, double k, float l,
                double m, double n, double o, double p, double q, double r, double s, struct doubles t)
{
    return printf("%d %d %d %ld %u %d %d %d/%d %ld %ld/%s %g %g %g %g %g %g %g %g %g %g/%g\n", a, b, c, d, e, f, g, h.a, h.b, i, j.values[2], j.name, k, l,
                  m, n, o, p, q, r, s, t.x, t.y);
}

typedef struct two (*operation)(struct two);
static struct two swap(struct two v) { struct two r = {v.b, v.a}; return r; }
static struct two negate(struct two v) { struct two r = {-v.a, -v.b}; return r; }

int main(void)
{
    struct one one = make_one((struct one){'a'});
    struct two two = make_two((struct two){3, 4});
    struct three three = make_three((struct three){{'x', 'y', 'z'}});
    struct pair pair = make_pair((struct pair){5, 2.5}, 3);
    struct floats floats = make_floats((struct floats){1, 2, 3});
    struct doubles doubles = make_doubles((struct doubles){1, 2});
    struct mixed mixed = make_mixed(1, (struct mixed){2, 3, 'c', 4}, 5, (struct mixed){6, 7, 'd', 8});
    struct big big = {{1, 2, 3, 4, 5}, "big"};
    big = make_big(big, big);
    struct nested nested = make_nested((struct nested){{1, 2}, {3, 4, 5}, {6}});
    printf("%c %d,%d %.3s %ld,%g %g,%g,%g %g,%g\n", one.c, two.a, two.b, three.c, pair.a, pair.b, floats.x, floats.y, floats.z, doubles.x, doubles.y);
    printf("%d %g %c %g | %ld %ld %s | %d %g %ld\n", mixed.i, mixed.f, mixed.c, mixed.d, big.values[0], big.values[4], big.name, nested.two.a,
           nested.floats.y, nested.either.l);
    int printed = many(1, 2, 3, 4, 5, -6, 7, two, 8, big, 1.5, 2.5f, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, doubles);
    operation operations[] = {swap, negate, make_two, swap};
    for (int i = 0; i < 12; i++)
        two = operations[i % 4](two);
    struct big copies[3] = {big, big, big};
    copies[1].values[3] = -1;
    copies[2] = copies[1];
    printf("%d %d,%d %d %d\n", printed, two.a, two.b, memcmp(&copies[0], &copies[1], sizeof *copies) != 0, memcmp(&copies[1], &copies[2], sizeof *copies));
    return 0;
}
