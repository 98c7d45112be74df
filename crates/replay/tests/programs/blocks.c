/* Values that go through blocks of the heap: copied by realloc, zeroed by calloc, read before they were written.
   With "own" as the first argument the number comes from memory that nobody wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    int count;
    struct node *next;
};

static struct node *push(struct node *list, int value) {
    struct node *node = calloc(1, sizeof *node);
    node->value = value;
    node->next = list;
    return node;
}

int main(int argc, char **argv) {
    int *numbers = malloc(2 * sizeof *numbers);
    int unrelated = argc * 7;
    numbers[0] = argc > 1 ? atoi(argv[1]) : 5;
    numbers[1] = unrelated;
    for (int size = 3; size < 6; size++) {
        numbers = realloc(numbers, size * sizeof *numbers);
        if (strcmp(argv[1], "own") != 0)
            numbers[size - 1] = size;
    }
    struct node *list = 0;
    for (int i = 0; i < 4; i++)
        list = push(list, numbers[i]);
    int sum = 0;
    while (list) {
        struct node *next = list->next;
        sum += list->value + list->count;
        free(list);
        list = next;
    }
    char *text = malloc(32);
    snprintf(text, 32, "%d %d", sum, numbers[0]);
    puts(text);
    free(text);
    free(numbers);
    return 0;
}
