/* Prints the guests of an evening by table: lines "name;table" or "name;table;remark" in, a list out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guest {
    char *name;
    char *remark;
    int table;
    struct guest *next;
};

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        perror("malloc");
        exit(1);
    }
    return memory;
}

static char *copy(const char *text)
{
    return strcpy(allocate(strlen(text) + 1), text);
}

static struct guest *parse(char *line)
{
    char *table = strchr(line, ';');
    if (!table)
        return NULL;
    *table++ = '\0';
    char *remark = strchr(table, ';');
    struct guest *guest = allocate(sizeof *guest);
    guest->name = copy(line);
    if (remark) {
        *remark++ = '\0';
        guest->remark = copy(remark);
    }
    guest->table = atoi(table);
    guest->next = NULL;
    return guest;
}

/* Behind all guests of the same table and of those before it. */
static void insert(struct guest **list, struct guest *guest)
{
    while (*list && (*list)->table <= guest->table)
        list = &(*list)->next;
    guest->next = *list;
    *list = guest;
}

static void print(const struct guest *list)
{
    int table = -1;
    for (; list; list = list->next) {
        if (list->table != table) {
            table = list->table;
            printf("Table %d\n", table);
        }
        printf("  %s", list->name);
        if (list->remark)
            printf(" (%s)", list->remark);
        printf("\n");
    }
}

static void release(struct guest *list)
{
    while (list) {
        struct guest *next = list->next;
        free(list->name);
        free(list->remark);
        free(list);
        list = next;
    }
}

int main(void)
{
    struct guest *list = NULL;
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        struct guest *guest = parse(line);
        if (!guest) {
            fprintf(stderr, "no table: %s\n", line);
            return 2;
        }
        insert(&list, guest);
    }
    print(list);
    release(list);
    return 0;
}
