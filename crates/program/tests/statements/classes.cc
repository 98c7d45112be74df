// C++: methods, constructors, lambdas, templates, exceptions, loops over ranges.
#include <vector>

struct Shape {
    virtual int area() const { return 0; }
    virtual ~Shape() {}
};

struct Square : Shape {
    int side;
    explicit Square(int length)
        : side(length)
    {
    }
    int area() const override
    {
        return side *
               side;
    }
};

template <typename T> T larger(T a, T b)
{
    return a > b
        ? a
        : b;
}

int total(std::vector<int> &values)
{
    int sum = 0;
    for (int value : values)
        sum += value;
    for (unsigned i = 0; i < values.size(); ++i)
        sum += values[i];
    auto add = [&](int more) {
        return sum +
            more;
    };
    try {
        sum = add(
            larger(1, 2));
        if (sum > 3)
            throw sum;
    } catch (int thrown) {
        sum = thrown;
    }
    return sum;
}

int weights[] = {
    1,
    2,
};

int main()
{
    std::vector<int> values { 1, 2, 3 };
    Square square(3);
    return total(values) + square.area() + (int)larger(1.5, 2.5);
}
