/* Reads rules "target: prerequisite …" and prints in which order the targets have to be made.
 *
 * A colon or a space that belongs to a name is written with a backslash before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 32, MAX_NEEDS = 8, LINE_SIZE = 256 };

struct rule {
    char *target;
    char *needs[MAX_NEEDS];
    int need_count;
    int is_made;
};

struct rules {
    struct rule all[MAX_RULES];
    int count;
};

/* Cuts a name off at the stop character or at a space, and takes the backslashes off quoted ones.
 * Returns where the text goes on. */
static char *cut_name(char *name, char stop)
{
    char *from = name, *to = name;
    while (*from && *from != ' ' && *from != stop) {
        if (*from == '\\' && (from[1] == stop || from[1] == ' '))
            from++;
        *to++ = *from++;
    }
    char *rest = *from ? from + 1 : from;
    *to = '\0';
    return rest;
}

static char *skip_spaces(char *text)
{
    while (*text == ' ')
        text++;
    return text;
}

static int parse(char *line, struct rule *rule)
{
    char *rest = cut_name(line, ':');
    if (!*line || !*rest)
        return -1;
    rule->target = strdup(line);
    for (rest = skip_spaces(rest); *rest; rest = skip_spaces(rest)) {
        char *name = rest;
        rest = cut_name(name, '\0');
        if (rule->need_count == MAX_NEEDS)
            return -1;
        rule->needs[rule->need_count++] = strdup(name);
    }
    return 0;
}

static struct rule *find(struct rules *rules, const char *target)
{
    for (int i = 0; i < rules->count; i++)
        if (strcmp(rules->all[i].target, target) == 0)
            return &rules->all[i];
    return NULL;
}

static int make(struct rules *rules, const char *target, const char *needed_by)
{
    struct rule *rule = find(rules, target);
    if (!rule) {
        printf("no rule for %s, needed by %s\n", target, needed_by);
        return -1;
    }
    if (rule->is_made)
        return 0;
    rule->is_made = 1;
    for (int i = 0; i < rule->need_count; i++)
        if (make(rules, rule->needs[i], target) < 0)
            return -1;
    printf("make %s\n", target);
    return 0;
}

int main(int argc, char **argv)
{
    static struct rules rules;
    char line[LINE_SIZE];
    if (argc != 2) {
        fprintf(stderr, "usage: rule_check TARGET < RULES\n");
        return 2;
    }
    while (rules.count < MAX_RULES && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        if (parse(line, &rules.all[rules.count]) < 0) {
            fprintf(stderr, "no rule: %s\n", line);
            return 2;
        }
        rules.count++;
    }
    return make(&rules, argv[1], "the command line") < 0;
}
