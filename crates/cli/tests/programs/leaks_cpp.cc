// The same in C++. `list` prints the names.
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Item {
    std::string name;
    ~Item() {}
};
struct First {
    long one = 1;
    virtual ~First() {}
    virtual long first() { return one; }
};
struct Second {
    long two = 2;
    virtual ~Second() {}
    virtual long second() { return two; }
};
struct Both : First, Second {
    long three = 3;
    long second() override { return three; }
};
struct Link {
    std::shared_ptr<Link> next;
};
struct Loud {
    Loud() { throw std::runtime_error("no"); }
    long value[4];
};

static void *kept;
static Second *second;
static Item *items;

static void lost_object() { new long(1); }
static void lost_array() { new long[10]; }
static void lost_array_of_objects() { new Item[3]; }
static void lost_vector() { new std::vector<int>(100, 1); }
static void lost_text() { new std::string(100, 'x'); }
static void lost_short_text() { new std::string("short"); }
static void lost_map() { new std::map<int, std::string>{{1, "one"}, {2, std::string(50, '2')}, {3, "three"}}; }
static void lost_list_of_lists() { new std::list<std::list<int>>(3, std::list<int>{1, 2}); }
static void lost_by_release() { std::make_unique<long>(1).release(); }
static void lost_shared_ring() {
    auto one = std::make_shared<Link>(), other = std::make_shared<Link>();
    one->next = other;
    other->next = one;
}
static void lost_by_exception() {
    try {
        long *values = new long[5];
        values[0] = std::stol("none");
        delete[] values;
    } catch (const std::exception &) {
    }
}
static void freed_by_exception() {
    try {
        new Loud;
    } catch (const std::exception &) {
    }
}
static void kept_array_of_objects() { items = new Item[3]; }
static void kept_array_of_objects_inside() { kept = new Item[3] + 1; }
static void kept_by_second_base() { second = new Both; }
static void kept_by_static_owner() { static std::unique_ptr<long> owner; owner.reset(new long(3)); }
static void kept_by_static_vector() { static auto *vector = new std::vector<std::string>(4, std::string(40, 'y')); vector->pop_back(); }

#define PROGRAM(name) {#name, name}
static const struct { const char *name; void (*run)(); } programs[] = {
    PROGRAM(lost_object), PROGRAM(lost_array), PROGRAM(lost_array_of_objects), PROGRAM(lost_vector), PROGRAM(lost_text), PROGRAM(lost_short_text),
    PROGRAM(lost_map), PROGRAM(lost_list_of_lists), PROGRAM(lost_by_release), PROGRAM(lost_shared_ring), PROGRAM(lost_by_exception),
    PROGRAM(freed_by_exception), PROGRAM(kept_array_of_objects), PROGRAM(kept_array_of_objects_inside), PROGRAM(kept_by_second_base),
    PROGRAM(kept_by_static_owner), PROGRAM(kept_by_static_vector),
};

int main(int count, char **arguments) {
    for (const auto &program : programs) {
        if (count > 1 && std::strcmp(arguments[1], program.name) == 0)
            program.run();
        else if (count > 1 && std::strcmp(arguments[1], "list") == 0)
            std::puts(program.name);
    }
}
