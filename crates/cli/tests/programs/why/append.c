/* A text that grows, letter by letter. */
#include <stdio.h>

struct text {
    char letters[32];
    int length;
};

static void append(struct text *text, char letter)
{
    text->letters[text->length++] = letter;
}

int main(void)
{
    struct text text = {"", 0};
    for (const char *from = "abc"; *from; from++)
        append(&text, *from);
    printf("%d\n", text.length);
    return 0;
}
