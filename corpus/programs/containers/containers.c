/* Names and their scores, in a hash table and in a balanced tree at once: containers [-a | -l | -s] [-r]
 *
 * The table finds a name, the tree keeps them in order: of the alphabet (-a), their length (-l) or the score (-s);
 * -r turns it round. One command a line:
 *     put NAME SCORE    add NAME SCORE    get NAME    delete NAME    prune SCORE (deletes what is below)    clear
 *     rank NAME    at POSITION    match PREFIX
 *     list    tree    sum    check
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 80
#define MAX_NAME 15
#define MAX_WORDS 4
#define MAX_SCORE 100000
#define MAX_CHAIN 4
#define HASH_START 2166136261u
#define HASH_FACTOR 16777619u

#define HEIGHT(node) ((node) == NULL ? 0 : (node)->height)
#define SIZE(node) ((node) == NULL ? 0 : (node)->size)
#define SIGN(number) (((number) > 0) - ((number) < 0))

struct entry {
    char name[MAX_NAME + 1];
    long score;
    unsigned hash;
    struct entry *next;
};

struct table {
    struct entry **buckets;
    int size_index;
    size_t count;
    int resizes;
};

struct node {
    struct entry *entry;
    struct node *left, *right;
    int height, size;
};

typedef int compare_entries(const struct entry *one, const struct entry *other);

/* What is done with each entry; the walk goes on as long as it is true. */
typedef int visit_entry(const struct entry *entry, void *context);

struct tree {
    struct node *root;
    compare_entries *compare;
    int direction;
    int rotations;
};

struct store {
    struct table table;
    struct tree tree;
};

struct order {
    const char *option;
    compare_entries *compare;
};

struct command {
    const char *name;
    int words;
    const char *(*run)(struct store *store, char **words);
};

struct totals {
    int count;
    long sum;
    const struct entry *highest;
};

struct search {
    const char *prefix;
    int found;
};

struct sequence {
    const struct tree *tree;
    const struct entry *before;
    int wrong;
};

struct pruning {
    long least;
    const struct entry *found;
};

static const size_t sizes[] = {3, 7, 17, 37, 79, 163, 331};

static int compare_names(const struct entry *one, const struct entry *other)
{
    return strcmp(one->name, other->name);
}

static int compare_lengths(const struct entry *one, const struct entry *other)
{
    int difference = (int)strlen(one->name) - (int)strlen(other->name);

    return difference != 0 ? difference : compare_names(one, other);
}

static int compare_scores(const struct entry *one, const struct entry *other)
{
    if (one->score != other->score)
        return one->score < other->score ? -1 : 1;
    return compare_names(one, other);
}

static const struct order orders[] = {
    {"-a", compare_names},
    {"-l", compare_lengths},
    {"-s", compare_scores},
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        abort();
    return memory;
}

/* The hash table. */

static unsigned hash_of(const char *name)
{
    unsigned hash = HASH_START;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * HASH_FACTOR;
    return hash;
}

static struct entry **bucket_of(const struct table *table, unsigned hash)
{
    return &table->buckets[hash % sizes[table->size_index]];
}

/* Where the pointer to an entry is, or would be. */
static struct entry **table_find(const struct table *table, const char *name)
{
    unsigned hash = hash_of(name);
    struct entry **place = bucket_of(table, hash);

    while (*place != NULL && ((*place)->hash != hash || strcmp((*place)->name, name) != 0))
        place = &(*place)->next;
    return place;
}

static void table_resize(struct table *table, int size_index)
{
    struct entry **old = table->buckets;
    size_t i, old_size = sizes[table->size_index];

    table->buckets = allocate(sizes[size_index], sizeof *table->buckets);
    table->size_index = size_index;
    for (i = 0; i < old_size; i++) {
        while (old[i] != NULL) {
            struct entry *entry = old[i];
            struct entry **place = bucket_of(table, entry->hash);

            old[i] = entry->next;
            entry->next = *place;
            *place = entry;
        }
    }
    table->resizes++;
    free(old);
}

static struct entry *table_add(struct table *table, const char *name)
{
    size_t size = sizes[table->size_index];
    struct entry *entry = allocate(1, sizeof *entry);
    struct entry **place;

    if (table->count + 1 > size && table->size_index + 1 < (int)(sizeof sizes / sizeof sizes[0]))
        table_resize(table, table->size_index + 1);
    strcpy(entry->name, name);
    entry->hash = hash_of(name);
    place = bucket_of(table, entry->hash);
    entry->next = *place;
    *place = entry;
    table->count++;
    return entry;
}

static void table_remove(struct table *table, const char *name)
{
    struct entry **place = table_find(table, name);
    struct entry *entry = *place;

    *place = entry->next;
    free(entry);
    table->count--;
    if (table->size_index > 0 && table->count * 4 < sizes[table->size_index])
        table_resize(table, table->size_index - 1);
}

/* The tree. */

static int compare_in(const struct tree *tree, const struct entry *one, const struct entry *other)
{
    return tree->direction * SIGN(tree->compare(one, other));
}

static void measure(struct node *node)
{
    int left = HEIGHT(node->left), right = HEIGHT(node->right);

    node->height = (left > right ? left : right) + 1;
    node->size = SIZE(node->left) + SIZE(node->right) + 1;
}

static struct node *rotate_left(struct tree *tree, struct node *node)
{
    struct node *top = node->right;

    node->right = top->left;
    top->left = node;
    measure(node);
    measure(top);
    tree->rotations++;
    return top;
}

static struct node *rotate_right(struct tree *tree, struct node *node)
{
    struct node *top = node->left;

    node->left = top->right;
    top->right = node;
    measure(node);
    measure(top);
    tree->rotations++;
    return top;
}

static int tilt(const struct node *node)
{
    return HEIGHT(node->left) - HEIGHT(node->right);
}

static struct node *balance(struct tree *tree, struct node *node)
{
    measure(node);
    if (tilt(node) > 1) {
        if (tilt(node->left) < 0)
            node->left = rotate_left(tree, node->left);
        return rotate_right(tree, node);
    }
    if (tilt(node) < -1) {
        if (tilt(node->right) > 0)
            node->right = rotate_right(tree, node->right);
        return rotate_left(tree, node);
    }
    return node;
}

static struct node *insert(struct tree *tree, struct node *node, struct entry *entry)
{
    if (node == NULL) {
        node = allocate(1, sizeof *node);
        node->entry = entry;
    } else if (compare_in(tree, entry, node->entry) < 0) {
        node->left = insert(tree, node->left, entry);
    } else {
        node->right = insert(tree, node->right, entry);
    }
    return balance(tree, node);
}

/* Takes the first node out of a tree; returns what is left. */
static struct node *take_first(struct tree *tree, struct node *node, struct node **first)
{
    if (node->left == NULL) {
        *first = node;
        return node->right;
    }
    node->left = take_first(tree, node->left, first);
    return balance(tree, node);
}

static struct node *erase_root(struct tree *tree, struct node *node)
{
    struct node *left = node->left, *right = node->right, *first;

    free(node);
    if (right == NULL)
        return left;
    right = take_first(tree, right, &first);
    first->left = left;
    first->right = right;
    return balance(tree, first);
}

static struct node *erase(struct tree *tree, struct node *node, const struct entry *entry)
{
    int order = compare_in(tree, entry, node->entry);

    if (order == 0)
        return erase_root(tree, node);
    if (order < 0)
        node->left = erase(tree, node->left, entry);
    else
        node->right = erase(tree, node->right, entry);
    return balance(tree, node);
}

static int walk(const struct node *node, visit_entry *visit, void *context)
{
    if (node == NULL)
        return 1;
    return walk(node->left, visit, context) && visit(node->entry, context) && walk(node->right, visit, context);
}

/* Positions count from 1. */
static const struct entry *entry_at(const struct node *node, int position)
{
    int before;

    while (node != NULL) {
        before = SIZE(node->left);
        if (position == before + 1)
            return node->entry;
        if (position <= before) {
            node = node->left;
        } else {
            position -= before + 1;
            node = node->right;
        }
    }
    return NULL;
}

static int position_of(const struct tree *tree, const struct entry *entry)
{
    const struct node *node = tree->root;
    int position = 1, order;

    while ((order = compare_in(tree, entry, node->entry)) != 0) {
        if (order < 0) {
            node = node->left;
        } else {
            position += SIZE(node->left) + 1;
            node = node->right;
        }
    }
    return position + SIZE(node->left);
}

/* Both in step. */

static void store_set(struct store *store, const char *name, long score)
{
    struct entry *entry = *table_find(&store->table, name);

    if (entry == NULL)
        entry = table_add(&store->table, name);
    else
        store->tree.root = erase(&store->tree, store->tree.root, entry);
    entry->score = score;
    store->tree.root = insert(&store->tree, store->tree.root, entry);
}

static void store_delete(struct store *store, const struct entry *entry)
{
    store->tree.root = erase(&store->tree, store->tree.root, entry);
    table_remove(&store->table, entry->name);
}

static void store_clear(struct store *store)
{
    while (store->tree.root != NULL)
        store_delete(store, store->tree.root->entry);
}

static void print_entry(const struct entry *entry)
{
    printf("%s %ld\n", entry->name, entry->score);
}

/* What callbacks do with an entry. */

static int visit_print(const struct entry *entry, void *context)
{
    int *position = context;

    ++*position;
    printf("%3d ", *position);
    print_entry(entry);
    return 1;
}

static int visit_total(const struct entry *entry, void *context)
{
    struct totals *totals = context;

    totals->count++;
    totals->sum += entry->score;
    if (totals->highest == NULL || entry->score > totals->highest->score)
        totals->highest = entry;
    return 1;
}

static int visit_match(const struct entry *entry, void *context)
{
    struct search *search = context;

    if (strncmp(entry->name, search->prefix, strlen(search->prefix)) == 0) {
        print_entry(entry);
        search->found++;
    }
    return 1;
}

static int visit_order(const struct entry *entry, void *context)
{
    struct sequence *sequence = context;

    if (sequence->before != NULL)
        sequence->wrong += compare_in(sequence->tree, sequence->before, entry) >= 0;
    sequence->before = entry;
    return 1;
}

/* Stops at the first that is to be deleted. */
static int visit_low(const struct entry *entry, void *context)
{
    struct pruning *pruning = context;

    if (entry->score >= pruning->least)
        return 1;
    pruning->found = entry;
    return 0;
}

/* Figures that tell whether both are right and hold the same. */

static int count_unbalanced(const struct node *node)
{
    int height, size, wrong;

    if (node == NULL)
        return 0;
    height = HEIGHT(node->left) > HEIGHT(node->right) ? HEIGHT(node->left) : HEIGHT(node->right);
    size = SIZE(node->left) + SIZE(node->right);
    wrong = tilt(node) < -1 || tilt(node) > 1 || node->height != height + 1 || node->size != size + 1;
    return wrong + count_unbalanced(node->left) + count_unbalanced(node->right);
}

/* How many chains there are of each length; returns how many entries are in the wrong one. */
static int count_chains(const struct table *table, int *chains)
{
    const struct entry *entry;
    size_t i;
    int wrong = 0;

    for (i = 0; i < sizes[table->size_index]; i++) {
        int length = 0;

        for (entry = table->buckets[i]; entry != NULL; entry = entry->next) {
            wrong += bucket_of(table, entry->hash) != &table->buckets[i];
            length++;
        }
        chains[length < MAX_CHAIN ? length : MAX_CHAIN]++;
    }
    return wrong;
}

static int count_missing(const struct store *store)
{
    const struct entry *entry;
    int i, missing = 0;

    for (i = 1; i <= SIZE(store->tree.root); i++) {
        entry = entry_at(store->tree.root, i);
        missing += *table_find(&store->table, entry->name) != entry;
        missing += position_of(&store->tree, entry) != i;
    }
    return missing;
}

static int check(const struct store *store)
{
    struct sequence sequence = {&store->tree, NULL, 0};
    int chains[MAX_CHAIN + 1] = {0};
    int misplaced = count_chains(&store->table, chains);
    int unbalanced = count_unbalanced(store->tree.root);
    int missing = count_missing(store);
    int i;

    walk(store->tree.root, visit_order, &sequence);
    printf("table: %zu entries, %zu buckets, %d resizes, %d misplaced, chains", store->table.count,
           sizes[store->table.size_index], store->table.resizes, misplaced);
    for (i = 0; i <= MAX_CHAIN; i++)
        printf(" %d", chains[i]);
    printf("\ntree: %d entries, height %d, %d rotations, %d unordered, %d unbalanced, %d missing\n",
           SIZE(store->tree.root), HEIGHT(store->tree.root), store->tree.rotations, sequence.wrong, unbalanced,
           missing);
    return misplaced + unbalanced + missing + sequence.wrong;
}

/* The commands. Each returns what is wrong, if something is. */

static int parse_number(const char *text, long *number)
{
    char *end;

    *number = strtol(text, &end, 10);
    return end != text && *end == '\0' && *number >= -MAX_SCORE && *number <= MAX_SCORE;
}

static int is_name(const char *text)
{
    size_t length = strlen(text), i;

    for (i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]))
            return 0;
    return length <= MAX_NAME;
}

static const char *run_put(struct store *store, char **words)
{
    long score;

    if (!is_name(words[1]))
        return "bad name";
    if (!parse_number(words[2], &score))
        return "bad score";
    store_set(store, words[1], score);
    return NULL;
}

static const char *run_add(struct store *store, char **words)
{
    const struct entry *entry = *table_find(&store->table, words[1]);
    long score;

    if (entry == NULL)
        return "unknown name";
    if (!parse_number(words[2], &score) || labs(entry->score + score) > MAX_SCORE)
        return "bad score";
    store_set(store, words[1], entry->score + score);
    print_entry(entry);
    return NULL;
}

static const char *run_get(struct store *store, char **words)
{
    const struct entry *entry = *table_find(&store->table, words[1]);

    if (entry == NULL)
        return "unknown name";
    print_entry(entry);
    return NULL;
}

static const char *run_delete(struct store *store, char **words)
{
    const struct entry *entry = *table_find(&store->table, words[1]);

    if (entry == NULL)
        return "unknown name";
    store_delete(store, entry);
    return NULL;
}

static const char *run_prune(struct store *store, char **words)
{
    struct pruning pruning = {0, NULL};
    int count = 0;

    if (!parse_number(words[1], &pruning.least))
        return "bad score";
    while (!walk(store->tree.root, visit_low, &pruning)) {
        store_delete(store, pruning.found);
        count++;
    }
    printf("%d deleted\n", count);
    return NULL;
}

static const char *run_clear(struct store *store, char **words)
{
    (void)words;
    store_clear(store);
    return NULL;
}

static const char *run_rank(struct store *store, char **words)
{
    const struct entry *entry = *table_find(&store->table, words[1]);

    if (entry == NULL)
        return "unknown name";
    printf("%d of %d\n", position_of(&store->tree, entry), SIZE(store->tree.root));
    return NULL;
}

static const char *run_at(struct store *store, char **words)
{
    const struct entry *entry;
    long position;

    if (!parse_number(words[1], &position))
        return "bad position";
    entry = entry_at(store->tree.root, (int)position);
    if (entry == NULL)
        return "no such position";
    print_entry(entry);
    return NULL;
}

static const char *run_match(struct store *store, char **words)
{
    struct search search = {words[1], 0};

    walk(store->tree.root, visit_match, &search);
    printf("%d found\n", search.found);
    return NULL;
}

static const char *run_list(struct store *store, char **words)
{
    int position = 0;

    (void)words;
    walk(store->tree.root, visit_print, &position);
    return NULL;
}

static void print_tree(const struct node *node, int depth)
{
    if (node == NULL)
        return;
    print_tree(node->right, depth + 1);
    printf("%*s", 4 * depth, "");
    print_entry(node->entry);
    print_tree(node->left, depth + 1);
}

static const char *run_tree(struct store *store, char **words)
{
    (void)words;
    print_tree(store->tree.root, 0);
    return NULL;
}

static const char *run_sum(struct store *store, char **words)
{
    struct totals totals = {0, 0, NULL};

    (void)words;
    walk(store->tree.root, visit_total, &totals);
    printf("%d entries, sum %ld", totals.count, totals.sum);
    if (totals.highest != NULL)
        printf(", mean %.2f, highest %s", (double)totals.sum / totals.count, totals.highest->name);
    printf("\n");
    return NULL;
}

static const char *run_check(struct store *store, char **words)
{
    (void)words;
    return check(store) == 0 ? NULL : "not consistent";
}

static const struct command commands[] = {
    {"put", 3, run_put},
    {"add", 3, run_add},
    {"get", 2, run_get},
    {"delete", 2, run_delete},
    {"prune", 2, run_prune},
    {"clear", 1, run_clear},
    {"rank", 2, run_rank},
    {"at", 2, run_at},
    {"match", 2, run_match},
    {"list", 1, run_list},
    {"tree", 1, run_tree},
    {"sum", 1, run_sum},
    {"check", 1, run_check},
};

static const char *run_line(struct store *store, char *line)
{
    char *words[MAX_WORDS];
    char *word;
    int count = 0;
    size_t i;

    for (word = strtok(line, " \t"); word != NULL && count < MAX_WORDS; word = strtok(NULL, " \t"))
        words[count++] = word;
    if (count == 0)
        return NULL;
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, words[0]) == 0)
            return count == commands[i].words ? commands[i].run(store, words) : "wrong number of words";
    return "unknown command";
}

/* Reads a line; what is too long for it is left out. */
static int read_line(char *line, int size)
{
    int length = 0, character;

    while ((character = getchar()) != EOF && character != '\n')
        if (length + 1 < size)
            line[length++] = (char)character;
    line[length] = '\0';
    return character != EOF || length > 0;
}

static int choose_order(struct tree *tree, const char *option)
{
    size_t i;

    if (strcmp(option, "-r") == 0) {
        tree->direction = -1;
        return 1;
    }
    for (i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (strcmp(option, orders[i].option) == 0) {
            tree->compare = orders[i].compare;
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct store store = {.tree = {.compare = compare_names, .direction = 1}};
    char line[MAX_LINE];
    const char *error;
    int line_number, errors = 0, faults;
    int i;

    for (i = 1; i < argc; i++) {
        if (!choose_order(&store.tree, argv[i])) {
            printf("usage: containers [-a | -l | -s] [-r]\n");
            return 2;
        }
    }
    store.table.buckets = allocate(sizes[0], sizeof *store.table.buckets);
    for (line_number = 1; read_line(line, sizeof line); line_number++) {
        error = run_line(&store, line);
        if (error != NULL) {
            printf("line %d: %s\n", line_number, error);
            errors++;
        }
    }
    faults = check(&store);
    store_clear(&store);
    free(store.table.buckets);
    return faults > 0 ? 3 : errors > 0;
}
