// Streams, containers, exceptions through library frames, run-time types, virtual inheritance.
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

struct Base {
    explicit Base(int n) : n(n) {}
    virtual ~Base() { std::cout << "~Base " << n << '\n'; }
    virtual std::string name() const { return "Base"; }
    int n;
};
struct Left : virtual Base {
    Left() : Base(1) {}
    std::string name() const override { return "Left of " + Base::name(); }
};
struct Right : virtual Base {
    Right() : Base(2) {}
    virtual int right() const { return n * 10; }
};
struct Both : Left, Right {
    Both() : Base(3) {}
    std::string name() const override { return "Both, " + Left::name(); }
    int right() const override { return n * 100; }
};

struct Guard {
    explicit Guard(std::string what) : what(std::move(what)) {}
    ~Guard() { std::cout << "leaving " << what << '\n'; }
    std::string what;
};

struct Problem : std::runtime_error {
    explicit Problem(int code) : std::runtime_error("problem " + std::to_string(code)), code(code) {}
    int code;
};

static int through_library(std::vector<int> values)
{
    Guard guard("through_library");
    // The exception passes through std::sort and std::for_each.
    std::sort(values.begin(), values.end(), [](int a, int b) {
        if (a == 13 || b == 13)
            throw Problem(13);
        return a < b;
    });
    return std::accumulate(values.begin(), values.end(), 0);
}

static void nested()
{
    try {
        Guard guard("nested");
        std::map<std::string, int>().at("missing");
    } catch (const std::out_of_range &) {
        std::throw_with_nested(Problem(7));
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("non-call-exceptions")
#define FAULTS_THROW 1
#endif

static void on_fault(int number) { throw Problem(number); }

__attribute__((noinline)) static int load(volatile int *from) { return *from; }

int main()
{
    std::cout << std::fixed << std::setprecision(3) << 3.14159265 << ' ' << std::hex << 255 << std::dec << ' ' << std::setw(6) << std::setfill('*') << 42 << '\n';
    std::unique_ptr<Base> both = std::make_unique<Both>();
    std::cout << both->name() << ' ' << dynamic_cast<Right *>(both.get())->right() << ' ' << (dynamic_cast<Left *>(both.get()) != nullptr) << '\n';
    std::cout << (typeid(*both) == typeid(Both)) << ' ' << (typeid(*both) == typeid(Base)) << '\n';
    try {
        Base plain(9);
        (void)dynamic_cast<Both &>(plain);
    } catch (const std::bad_cast &) {
        std::cout << "bad cast\n";
    }
    std::cout << through_library({5, 3, 9, 1}) << '\n';
    for (int n : {13, 14}) {
        try {
            std::cout << through_library({4, n, 2}) << '\n';
        } catch (const Problem &problem) {
            std::cout << problem.what() << ' ' << problem.code << '\n';
        }
    }
    try {
        nested();
    } catch (const Problem &problem) {
        std::cout << problem.what();
        try {
            std::rethrow_if_nested(problem);
        } catch (const std::exception &inner) {
            std::cout << " because of out_of_range " << (dynamic_cast<const std::out_of_range *>(&inner) != nullptr) << std::endl;
        }
    }
#ifdef FAULTS_THROW
    // An exception out of a signal handler.
    std::signal(SIGSEGV, on_fault);
    try {
        std::cout << load(nullptr) << '\n';
    } catch (const Problem &problem) {
        std::cout << "caught " << problem.what() << '\n';
    }
#endif
    std::unordered_map<std::string, int> counts;
    std::istringstream words("the cat and the dog and the bird 17 4.5");
    for (std::string word; words >> word;)
        counts[word]++;
    for (const auto &[word, count] : std::map<std::string, int>(counts.begin(), counts.end()))
        std::cout << word << '=' << count << ' ';
    std::cout << '\n';
    std::set<int, std::greater<int>> numbers{3, 1, 4, 1, 5};
    std::function<int(int)> factorial = [&](int n) { return n < 2 ? 1 : n * factorial(n - 1); };
    for (int n : numbers)
        std::cout << factorial(n) << ' ';
    std::cout << std::stod("2.5e3") << '\n';
    try {
        std::cout << std::stoi("none") << '\n';
    } catch (const std::invalid_argument &error) {
        std::cout << error.what() << '\n';
    }
    throw Problem(99);
}
