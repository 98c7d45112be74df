/* The area of a triangle by its kind. Fault: the condition that finds a right angle is negated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { ILLEGAL, SCALENE, ISOSCELES, RIGHT, EQUILATERAL };

static double area_of(int a, int b, int c)
{
    enum kind kind;
    double s, area;
    if (a >= b && b >= c) {
        kind = SCALENE;
        if (a == b || b == c)
            kind = ISOSCELES;
        if (a * a != b * b + c * c)
            kind = RIGHT;
        if (a == b && b == c)
            kind = EQUILATERAL;
        switch (kind) {
        case RIGHT:
            area = b * c / 2.0;
            break;
        case EQUILATERAL:
            area = a * a * sqrt(3.0) / 4.0;
            break;
        default:
            s = (a + b + c) / 2.0;
            area = sqrt(s * (s - a) * (s - b) * (s - c));
        }
    } else {
        kind = ILLEGAL;
        area = 0;
    }
    return area;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    printf("%.2f\n", area_of(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
    return 0;
}
