/* Values from standard input and from a file. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int width, height, scale = 1;
    if (scanf("%d %d", &width, &height) != 2)
        return 2;
    FILE *file = fopen("scale.txt", "r");
    char line[32];
    if (file && fgets(line, sizeof line, file))
        scale = atoi(line);
    int area = width * height;
    area *= scale;
    printf("%d\n", area);
    return area > 100;
}
