/* A null pointer that comes through a field: the last node of a list has no name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    const char *name;
    struct node *next;
};

static struct node *add(struct node *list, const char *name)
{
    struct node *node = malloc(sizeof *node);
    node->name = name;
    node->next = list;
    return node;
}

static size_t longest(const struct node *list)
{
    size_t most = 0;
    for (const struct node *node = list; node; node = node->next) {
        const char *name = node->name;
        size_t length = 0;
        while (name[length])
            length++;
        if (length > most)
            most = length;
    }
    return most;
}

int main(int argc, char **argv)
{
    struct node *list = NULL;
    list = add(list, getenv("NO_SUCH_NAME"));
    for (int i = 1; i < argc; i++)
        list = add(list, argv[i]);
    printf("%zu\n", longest(list));
    return 0;
}
