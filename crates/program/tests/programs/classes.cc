// One of each kind of type of C++.
#include <cstdint>
#include <string>
#include <vector>

namespace shapes {
enum class Kind : unsigned char { Round, Square = 4 };
enum Plain { ALPHA, BETA };

class Shape {
  public:
    Shape(int id, Kind kind) : id(id), kind(kind) {}
    virtual ~Shape() {}
    virtual int area() const = 0;
    int identity() const { return id; }
    static int count;

  protected:
    int id;

  private:
    Kind kind;
};

int Shape::count = 2;

struct Named {
    const char *name;
    bool visible = true;
};

class Square : public Shape, protected Named {
    int edge;

  public:
    Square(int id, int edge) : Shape(id, Kind::Square), Named{"square"}, edge(edge) {}
    int area() const override {
        int result = edge * edge;
        return result + identity();
    }
    int scaled(int factor, const Square &other) {
        Square *self = this;
        int sum = self->edge * factor + other.edge;
        return sum;
    }
};
} // namespace shapes

template <typename T, int N> struct Buffer {
    T items[N];
    T first() const {
        T found = items[0];
        return found;
    }
};

template <typename T> static T largest(const T &a, const T &b) {
    T found = a < b ? b : a;
    return found;
}

namespace {
struct Hidden {
    union {
        int whole;
        char parts[4];
    };
    unsigned flag : 1;
    char16_t wide;
    char32_t wider;
};
Hidden hidden = {{65}, 1, u'x', U'y'};
} // namespace

static int use(shapes::Square &square, Buffer<double, 3> buffer, int &&moved) {
    int shapes::Square::*none = nullptr;
    const int &constant = moved;
    shapes::Kind kind = shapes::Kind::Square;
    shapes::Kind odd = static_cast<shapes::Kind>(3);
    shapes::Plain plain = shapes::BETA;
    char32_t symbol = U'z';
    auto closure = [&square, constant](int more) { return square.scaled(more, square) + constant; };
    int total = closure(3) + static_cast<int>(buffer.first()) + largest(moved, 3);
    double biggest = largest(1.5, 2.5);
    total += static_cast<int>(biggest) + plain + (none == nullptr) + (symbol == U'z');
    return total + (kind == odd);
}

int main() {
    shapes::Square square(1, 5);
    shapes::Shape *base = &square;
    Buffer<double, 3> buffer = {{1.5, 2.5}};
    Hidden *secret = &hidden;
    int result = base->area() + use(square, buffer, 7) + secret->whole;
    return result == 0;
}
