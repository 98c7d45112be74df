// The same for C++: "memory_errors_cpp NAME bad|good", or "list".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

static volatile long sink;

template <class T> static T *hide(T *pointer) {
    T *volatile hidden = pointer;
    return hidden;
}

static long number(long value) {
    volatile long hidden = value;
    return hidden;
}

struct Shape {
    long size = 3;
    virtual ~Shape() = default;
    virtual long area() { return size * size; }
};

struct alignas(64) Wide {
    char bytes[64];
};

#define CASE(name) static void name(bool bad)

CASE(new_array_after) { int *p = hide(new int[10]()); p[number(bad ? 10 : 9)] = 1; delete[] p; }
CASE(new_array_before) { long *p = hide(new long[10]()); sink = p[number(bad ? -1 : 1)]; delete[] p; }
CASE(new_object_after) { long *p = hide(new long(3)); sink = p[number(bad ? 1 : 0)]; delete p; }
CASE(new_aligned_after) { Wide *p = hide(new Wide()); p->bytes[number(bad ? 64 : 63)] = 1; delete p; }
CASE(new_nothrow_after) { char *p = hide(new (std::nothrow) char[5]); p[number(bad ? 5 : 4)] = 1; delete[] p; }
CASE(use_after_delete) { long *p = hide(new long(3)); long v = *p; delete p; sink = bad ? *hide(p) : v; }
CASE(use_after_delete_array) { int *p = hide(new int[9]()); if (!bad) p[3] = 1; delete[] p; if (bad) hide(p)[3] = 1; }
CASE(virtual_after_delete) { Shape *p = hide(new Shape()); long a = p->area(); delete p; sink = bad ? hide(p)->area() : a; }
CASE(delete_twice) { long *p = hide(new long(3)); delete p; if (bad) delete hide(p); }
CASE(delete_array_twice) { long *p = hide(new long[3]()); delete[] p; if (bad) delete[] hide(p); }
CASE(delete_inside) { char *p = hide(new char[40]); delete[] (p + number(bad ? 4 : 0)); }
CASE(vector_after) {
    std::vector<int> v(10, 1);
    v.shrink_to_fit();
    sink = hide(v.data())[number(bad ? 10 : 9)];
}
CASE(vector_old_iterator) {
    std::vector<int> v(4, 1);
    v.shrink_to_fit();
    int *first = hide(v.data());
    for (int i = 0; i < 100; i++) v.push_back(i);
    if (!bad) first = v.data();
    sink = *first;
}
CASE(string_old_text) {
    std::string s(40, 'x');
    const char *text = hide(s.c_str());
    s.append(1000, 'y');
    if (!bad) text = s.c_str();
    sink = text[5];
}
CASE(string_view_of_dead) {
    std::string_view view;
    std::string longer(100, 'y');
    {
        std::string s(100, 'x');
        view = bad ? std::string_view(s) : std::string_view(longer);
    }
    sink = view[number(7)];
}
CASE(map_erased_node) {
    std::map<int, long> m{{1, 2}, {3, 4}};
    long *value = hide(&m[3]);
    if (bad) m.erase(3);
    sink = *value;
}
CASE(unique_released) {
    auto p = std::make_unique<long>(3);
    long *raw = hide(p.get());
    if (bad) p.reset();
    sink = *raw;
}
CASE(shared_gone) {
    auto p = std::make_shared<Shape>();
    Shape *raw = hide(p.get());
    if (bad) p.reset();
    sink = raw->size;
}
CASE(member_of_dead) {
    struct Owner { std::vector<long> *items; ~Owner() { delete items; } };
    auto *owner = new Owner{new std::vector<long>(5, 1)};
    auto *items = hide(owner->items);
    long first = (*items)[0];
    delete owner;
    sink = bad ? (*hide(items))[0] : first;
}
// Freed by what does not belong to it: a warning.
CASE(new_freed) { long *p = hide(new long(3)); if (bad) free(p); else delete p; }
CASE(malloc_deleted) { long *p = hide((long *)malloc(8)); if (bad) delete p; else free(p); }
CASE(new_array_deleted_as_one) { long *p = hide(new long[3]()); if (bad) delete p; else delete[] p; }
CASE(new_deleted_as_array) { long *p = hide(new long(3)); if (bad) delete[] p; else delete p; }

static const struct { const char *name; void (*run)(bool); } entries[] = {
#define ENTRY(name) {#name, name},
    ENTRY(new_array_after) ENTRY(new_array_before) ENTRY(new_object_after) ENTRY(new_aligned_after) ENTRY(new_nothrow_after)
    ENTRY(use_after_delete) ENTRY(use_after_delete_array) ENTRY(virtual_after_delete) ENTRY(delete_twice)
    ENTRY(delete_array_twice) ENTRY(delete_inside) ENTRY(vector_after) ENTRY(vector_old_iterator) ENTRY(string_old_text)
    ENTRY(string_view_of_dead) ENTRY(map_erased_node) ENTRY(unique_released) ENTRY(shared_gone) ENTRY(member_of_dead)
    ENTRY(new_freed) ENTRY(malloc_deleted) ENTRY(new_array_deleted_as_one) ENTRY(new_deleted_as_array)
};

int main(int argc, char **argv) {
    for (auto &entry : entries) {
        if (argc == 2)
            puts(entry.name);
        else if (argc == 3 && strcmp(argv[1], entry.name) == 0)
            entry.run(strcmp(argv[2], "bad") == 0);
    }
    return 0;
}
