/* Reads settings and tells about one of them. Fault: an empty value is kept as no value at all, and nobody expects that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *key;
    char *value;
    struct entry *next;
};

static struct entry *table[8];

static unsigned slot(const char *key)
{
    unsigned sum = 0;
    while (*key)
        sum = sum * 31 + (unsigned char)*key++;
    return sum % 8;
}

static struct entry *find(const char *key)
{
    for (struct entry *entry = table[slot(key)]; entry; entry = entry->next)
        if (strcmp(entry->key, key) == 0)
            return entry;
    return NULL;
}

static void put(const char *key, const char *value)
{
    struct entry *entry = find(key);
    if (!entry) {
        entry = malloc(sizeof *entry);
        entry->key = strdup(key);
        entry->next = table[slot(key)];
        table[slot(key)] = entry;
    }
    entry->value = value[0] ? strdup(value) : NULL;
}

int main(void)
{
    char line[128];
    int entries = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *equals = strchr(line, '=');
        if (!equals || line[0] == '#')
            continue;
        *equals = '\0';
        equals[strcspn(equals + 1, "\n") + 1] = '\0';
        put(line, equals + 1);
        entries++;
    }
    printf("%d entries\n", entries);
    struct entry *name = find("name");
    if (name)
        printf("name has %zu letters\n", strlen(name->value));
    return 0;
}
