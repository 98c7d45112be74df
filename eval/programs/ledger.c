/* A program such as people write and debug: it parses text, counts in a hash table, keeps lists and a tree, sorts, and does sums.
   ledger ROUNDS [ENTRIES]: each round does the same work on other numbers and gives back its memory; with 20,000 entries, as is usual, that
   is about 84 million instructions at -O0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, NAMES = 500 };

static int entries = 20000;

struct account {
    char name[16];
    long balance;
    int entries;
    struct account *next;
};

struct entry {
    struct account *account;
    int day;
    long amount;
    struct entry *next;
};

struct node {
    long key;
    int count;
    struct node *left, *right;
};

static uint32_t state;
static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static char *write_ledger(void)
{
    char *text = malloc(entries * 40), *at = text;
    for (int i = 0; i < entries; i++) {
        int name = next() % NAMES, day = next() % 365, amount = (int)(next() % 20000) - 10000;
        at += sprintf(at, "%d customer-%d %d\n", day, name, amount);
    }
    return text;
}

static unsigned hash(const char *name)
{
    unsigned h = 2166136261u;
    while (*name) {
        h ^= (unsigned char)*name++;
        h *= 16777619u;
    }
    return h % BUCKETS;
}

static struct account *find(struct account **table, const char *name)
{
    struct account **at = &table[hash(name)];
    while (*at) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
        at = &(*at)->next;
    }
    *at = calloc(1, sizeof **at);
    strcpy((*at)->name, name);
    return *at;
}

static long parse_number(const char **at)
{
    long value = 0, sign = 1;
    if (**at == '-') {
        sign = -1;
        (*at)++;
    }
    while (**at >= '0' && **at <= '9') {
        value = value * 10 + (**at - '0');
        (*at)++;
    }
    return sign * value;
}

static struct entry *parse(const char *text, struct account **table)
{
    struct entry *list = NULL;
    while (*text) {
        struct entry *entry = malloc(sizeof *entry);
        char name[16];
        int length = 0;
        entry->day = (int)parse_number(&text);
        text++;
        while (*text != ' ')
            name[length++] = *text++;
        name[length] = 0;
        text++;
        entry->amount = parse_number(&text);
        text++;
        entry->account = find(table, name);
        entry->account->balance += entry->amount;
        entry->account->entries++;
        entry->next = list;
        list = entry;
    }
    return list;
}

static struct entry *merge(struct entry *a, struct entry *b)
{
    struct entry head, *tail = &head;
    while (a && b) {
        if (a->day < b->day || (a->day == b->day && a->amount <= b->amount)) {
            tail->next = a;
            a = a->next;
        } else {
            tail->next = b;
            b = b->next;
        }
        tail = tail->next;
    }
    tail->next = a ? a : b;
    return head.next;
}

static struct entry *sort(struct entry *list)
{
    if (!list || !list->next)
        return list;
    struct entry *slow = list, *fast = list->next;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
    }
    struct entry *second = slow->next;
    slow->next = NULL;
    return merge(sort(list), sort(second));
}

static void insert(struct node **at, long key)
{
    while (*at) {
        if ((*at)->key == key) {
            (*at)->count++;
            return;
        }
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    *at = calloc(1, sizeof **at);
    (*at)->key = key;
    (*at)->count = 1;
}

static long walk(struct node *tree, int depth)
{
    if (!tree)
        return 0;
    return walk(tree->left, depth + 1) + tree->key * tree->count % 1000 * depth + walk(tree->right, depth + 1);
}

static void free_tree(struct node *tree)
{
    if (!tree)
        return;
    free_tree(tree->left);
    free_tree(tree->right);
    free(tree);
}

static int by_balance(const void *a, const void *b)
{
    const struct account *x = *(struct account *const *)a, *y = *(struct account *const *)b;
    return x->balance != y->balance ? (x->balance > y->balance) - (x->balance < y->balance) : strcmp(x->name, y->name);
}

static double interest(const struct entry *list)
{
    double total = 0;
    for (; list; list = list->next) {
        double value = list->amount / 100.0;
        for (int day = list->day; day < 365; day += 30)
            value *= 1.0025;
        total += value;
    }
    return total;
}

static long round_of_work(int number)
{
    static struct account *table[BUCKETS];
    struct account *accounts[NAMES + 1];
    int count = 0;
    state = (uint32_t)number * 2654435761u + 1;
    memset(table, 0, sizeof table);
    char *text = write_ledger();
    struct entry *list = sort(parse(text, table));
    for (int i = 0; i < BUCKETS; i++)
        for (struct account *account = table[i]; account; account = account->next)
            accounts[count++] = account;
    qsort(accounts, count, sizeof *accounts, by_balance);
    struct node *tree = NULL;
    for (struct entry *entry = list; entry; entry = entry->next)
        insert(&tree, entry->amount);
    long result = walk(tree, 0) + accounts[0]->balance * 3 + accounts[count - 1]->entries + (long)interest(list);
    free_tree(tree);
    while (list) {
        struct entry *following = list->next;
        free(list);
        list = following;
    }
    for (int i = 0; i < count; i++)
        free(accounts[i]);
    free(text);
    return result;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    if (argc > 2)
        entries = atoi(argv[2]);
    long total = 0;
    for (int i = 0; i < rounds; i++)
        total = total * 31 + round_of_work(i);
    printf("%ld\n", total);
    return 0;
}
