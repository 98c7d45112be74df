/* Reads settings from standard input and answers questions about them: settings [COMMAND...]
 *
 *     [base]
 *     host = example.org               ; a comment
 *     limit = 10k
 *     [web : base]                     has all keys of base, too
 *     url = "http://${host}:${ports.web}/"
 *     paths += other, "and others"     more of what base has
 *
 * Commands: get, bool, int, duration and list with SECTION.KEY show a value; keys with a SECTION; sections;
 * dump, which is what is done without a command.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_CAPACITY 16
#define MAX_TEXT 400
#define MAX_STEPS 12
#define MAX_MESSAGE 160
#define FIRST_SECTION "main"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A string that grows. */
struct text {
    char *letters;
    size_t length, capacity;
};

struct entry {
    char *key, *value;
    int is_extension;
    struct entry *next;
};

struct section {
    char *name, *parent_name;
    int line;
    struct entry *entries;
    struct section *parent, *next;
};

/* A value that is being worked out, and the one that needs it. */
struct step {
    const struct section *section;
    const struct entry *entry;
    const struct step *needed_by;
};

struct unit {
    const char *name;
    long long factor;
};

/* A command either does something with its operand or shows the value that it names. */
struct command {
    const char *name;
    int has_operand;
    int (*run)(const char *operand);
    int (*show)(const char *value);
};

static struct section *sections, *current;
static int line_number, error_count;
static char problem[MAX_MESSAGE];

static const struct unit sizes[] = {
    {"", 1},      {"k", 1000},     {"M", 1000000},    {"G", 1000000000},
    {"Ki", 1024}, {"Mi", 1048576}, {"Gi", 1073741824},
};

/* The largest first: that is the order in a duration. */
static const struct unit times[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

static const struct {
    const char *word;
    int value;
} truths[] = {
    {"yes", 1}, {"no", 0}, {"true", 1}, {"false", 0}, {"on", 1}, {"off", 0}, {"1", 1}, {"0", 0},
};

static int fail(const char *message, const char *word)
{
    if (problem[0] == '\0')
        snprintf(problem, sizeof problem, "%s: %s", message, word);
    return 0;
}

static void complain(const char *message, const char *word)
{
    printf("line %d: %s: %s\n", line_number, message, word);
    error_count++;
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        abort();
    return memory;
}

static char *copy_text(const char *from)
{
    return strcpy(allocate(strlen(from) + 1), from);
}

static void append_letter(struct text *text, char letter)
{
    if (text->length + 1 >= text->capacity) {
        size_t capacity = text->capacity == 0 ? FIRST_CAPACITY : text->capacity * 2;
        char *letters = realloc(text->letters, capacity);

        if (letters == NULL)
            abort();
        text->letters = letters;
        text->capacity = capacity;
    }
    text->letters[text->length++] = letter;
    text->letters[text->length] = '\0';
}

/* Makes an empty string of it. */
static void clear(struct text *text)
{
    text->length = 0;
    append_letter(text, ' ');
    text->letters[--text->length] = '\0';
}

static void append(struct text *text, const char *from)
{
    while (*from != '\0')
        append_letter(text, *from++);
}

/* Without the white space around it, in place. */
static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static int is_name(const char *word)
{
    const char *letter;

    for (letter = word; *letter != '\0'; letter++)
        if (!isalnum((unsigned char)*letter) && *letter != '_' && *letter != '-')
            return 0;
    return letter > word;
}

static struct section *find_section(const char *name)
{
    struct section *section;

    for (section = sections; section != NULL; section = section->next)
        if (strcmp(section->name, name) == 0)
            return section;
    return NULL;
}

static struct entry *find_entry(const struct section *section, const char *key)
{
    struct entry *entry;

    for (entry = section->entries; entry != NULL; entry = entry->next)
        if (strcmp(entry->key, key) == 0)
            return entry;
    return NULL;
}

/* The entry of a section or of the nearest one that it inherits from; the owner is the one that has it. */
static const struct entry *look_up(const struct section *section, const char *key,
                                   const struct section **owner)
{
    const struct entry *entry;

    if (section == NULL)
        return NULL;
    entry = find_entry(section, key);
    if (entry == NULL)
        return look_up(section->parent, key, owner);
    *owner = section;
    return entry;
}

static struct section *add_section(const char *name)
{
    struct section **link = &sections;

    while (*link != NULL)
        link = &(*link)->next;
    *link = allocate(sizeof **link);
    (*link)->name = copy_text(name);
    (*link)->line = line_number;
    return *link;
}

static struct entry *add_entry(struct section *section, const char *key)
{
    struct entry **link = &section->entries;

    while (*link != NULL)
        link = &(*link)->next;
    *link = allocate(sizeof **link);
    (*link)->key = copy_text(key);
    (*link)->value = copy_text("");
    return *link;
}

static void set_value(struct entry *entry, const char *value, int is_more)
{
    struct text text = {NULL, 0, 0};

    clear(&text);
    if (is_more && entry->value[0] != '\0') {
        append(&text, entry->value);
        append(&text, ", ");
    }
    append(&text, value);
    free(entry->value);
    entry->value = text.letters;
}

/* A line and those that it goes on in after a backslash; false at the end. */
static int read_line(struct text *line, FILE *file)
{
    int letter;

    clear(line);
    append(line, " ");
    line_number++;
    while ((letter = getc(file)) != EOF) {
        if (letter != '\n') {
            append_letter(line, letter);
        } else if (line->letters[line->length - 1] == '\\') {
            line->letters[--line->length] = '\0';
            line_number++;
        } else {
            return 1;
        }
    }
    return line->length > 1;
}

/* A comment begins with # or ; after white space, but not in quotes. */
static void cut_comment(char *line)
{
    int is_quoted = 0;

    for (; *line != '\0'; line++) {
        if (line[0] == '\\' && line[1] != '\0')
            line++;
        else if (line[0] == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && isspace((unsigned char)line[0]) && (line[1] == '#' || line[1] == ';'))
            line[1] = '\0';
    }
}

/* [name] or [name : parent]; a section can be opened several times. */
static void parse_section(char *line)
{
    char *end = strchr(line, ']'), *colon, *name, *parent = NULL;

    if (end == NULL || end[1] != '\0') {
        complain("no section", line);
        return;
    }
    *end = '\0';
    colon = strchr(line, ':');
    if (colon != NULL) {
        *colon = '\0';
        parent = trim(colon + 1);
    }
    name = trim(line + 1);
    if (!is_name(name) || (parent != NULL && !is_name(parent))) {
        complain("bad name of a section", name);
        return;
    }
    current = find_section(name);
    if (current == NULL)
        current = add_section(name);
    if (parent == NULL)
        return;
    if (current->parent_name != NULL)
        complain("has a parent already", name);
    else
        current->parent_name = copy_text(parent);
}

static void parse_entry(char *line)
{
    char *equals = strchr(line, '='), *key;
    struct entry *entry;
    int is_more = 0;

    if (equals == NULL) {
        complain("neither a section nor a key", line);
        return;
    }
    *equals = '\0';
    if (equals > line && equals[-1] == '+') {
        equals[-1] = '\0';
        is_more = 1;
    }
    key = trim(line);
    if (!is_name(key)) {
        complain("bad name of a key", key);
        return;
    }
    if (current == NULL)
        current = add_section(FIRST_SECTION);
    entry = find_entry(current, key);
    if (entry == NULL) {
        entry = add_entry(current, key);
        entry->is_extension = is_more;
    } else if (!is_more) {
        entry->is_extension = 0;
    }
    set_value(entry, trim(equals + 1), is_more);
}

static void read_settings(FILE *file)
{
    struct text line = {NULL, 0, 0};

    while (read_line(&line, file)) {
        char *start;

        cut_comment(line.letters);
        start = trim(line.letters);
        if (*start == '[')
            parse_section(start);
        else if (*start != '\0')
            parse_entry(start);
    }
    free(line.letters);
}

/* Finds all parents; nobody may be its own. */
static void connect(void)
{
    struct section *section;
    const struct section *above;

    for (section = sections; section != NULL; section = section->next) {
        line_number = section->line;
        if (section->parent_name == NULL)
            continue;
        section->parent = find_section(section->parent_name);
        if (section->parent == NULL)
            complain("unknown parent", section->parent_name);
        for (above = section->parent; above != NULL && above != section; above = above->parent)
            ;
        if (above == section) {
            complain("inherits from itself", section->name);
            section->parent = NULL;
        }
    }
}

/* How it came to a value that is needed for itself. */
static int fail_circular(const struct step *last, const struct step *first)
{
    struct text chain = {NULL, 0, 0};
    const struct step *step = last;

    for (;;) {
        append(&chain, step->section->name);
        append(&chain, ".");
        append(&chain, step->entry->key);
        if (step == first)
            break;
        append(&chain, " <- ");
        step = step->needed_by;
    }
    fail("needed for itself", chain.letters);
    free(chain.letters);
    return 0;
}

static int expand_entry(const struct section *section, const struct section *from, const char *key,
                        const struct step *needed_by, struct text *text);

/* ${section.key}, or ${key} of the section that was asked for; returns where it goes on, NULL if it fails. */
static const char *expand_reference(const char *from, const struct step *step, struct text *text)
{
    const struct section *section = step->section;
    const char *end = strchr(from, '}');
    char *name, *key, *dot;
    int is_fine;

    if (end == NULL) {
        fail("} expected", from);
        return NULL;
    }
    key = name = copy_text(from + 2);
    name[end - from - 2] = '\0';
    dot = strchr(name, '.');
    if (dot != NULL) {
        *dot = '\0';
        key = dot + 1;
        section = find_section(name);
    }
    is_fine = section != NULL ? expand_entry(section, section, key, step, text)
                              : fail("unknown section", name);
    free(name);
    return is_fine ? end + 1 : NULL;
}

static int expand_value(const struct step *step, struct text *text)
{
    const char *from = step->entry->value;

    while (from != NULL && *from != '\0') {
        if (from[0] == '$' && from[1] == '{') {
            from = expand_reference(from, step, text);
        } else {
            if (from[0] == '$' && from[1] == '$')
                from++;
            append_letter(text, *from++);
        }
        if (text->length > MAX_TEXT)
            return fail("too long", step->entry->key);
    }
    return from != NULL;
}

/* Appends what a key stands for in a section; it is looked up from that section or from an ancestor on. */
static int expand_entry(const struct section *section, const struct section *from, const char *key,
                        const struct step *needed_by, struct text *text)
{
    const struct section *owner = from, *ignored;
    const struct entry *entry = look_up(from, key, &owner);
    struct step step = {section, entry, needed_by};
    const struct step *before;
    size_t start = text->length;
    int depth = 0;

    if (entry == NULL)
        return fail("unknown key", key);
    for (before = needed_by; before != NULL; before = before->needed_by) {
        if (before->section == section && before->entry == entry)
            return fail_circular(&step, before);
        if (++depth == MAX_STEPS)
            return fail("too deep", key);
    }
    if (entry->is_extension && look_up(owner->parent, key, &ignored) != NULL) {
        if (!expand_entry(section, owner->parent, key, &step, text))
            return 0;
        if (text->length > start)
            append(text, ", ");
    }
    return expand_value(&step, text);
}

/* The value that SECTION.KEY names, worked out; the caller frees it. NULL if there is none. */
static char *get_value(const char *operand)
{
    struct text text = {NULL, 0, 0};
    char *path = copy_text(operand), *dot = strchr(path, '.');
    const struct section *section = NULL;
    int is_fine = 0;

    clear(&text);
    if (dot != NULL) {
        *dot = '\0';
        section = find_section(path);
    }
    if (section == NULL)
        fail(dot == NULL ? "SECTION.KEY expected" : "unknown section", path);
    else
        is_fine = expand_entry(section, section, dot + 1, NULL, &text);
    free(path);
    if (is_fine)
        return text.letters;
    free(text.letters);
    return NULL;
}

/* Takes one item of a list off the front, without its quotes; false if a quote is not closed. */
static int take_item(const char **rest, struct text *item)
{
    const char *from = *rest;
    size_t kept = 0;
    int is_quoted = 0;

    clear(item);
    while (isspace((unsigned char)*from))
        from++;
    for (; *from != '\0' && (is_quoted || *from != ','); from++) {
        if (*from == '"') {
            is_quoted = !is_quoted;
            kept = item->length;
            continue;
        }
        if (*from == '\\' && from[1] != '\0')
            from++;
        append_letter(item, *from);
        if (is_quoted || !isspace((unsigned char)*from))
            kept = item->length;
    }
    item->length = kept;
    item->letters[kept] = '\0';
    *rest = *from == ',' ? from + 1 : NULL;
    return is_quoted ? fail("quote is not closed", item->letters) : 1;
}

static int show_list(const char *value)
{
    struct text item = {NULL, 0, 0};
    const char *rest = value[0] == '\0' ? NULL : value;
    int count = 0;

    while (rest != NULL && take_item(&rest, &item))
        printf("  %d: %s\n", ++count, item.letters);
    free(item.letters);
    printf("  %d items\n", count);
    return problem[0] == '\0';
}

static int show_text(const char *value)
{
    printf("  %s\n", value);
    return 1;
}

static int show_bool(const char *value)
{
    size_t i;

    for (i = 0; i < COUNT_OF(truths); i++) {
        if (strcasecmp(truths[i].word, value) == 0) {
            printf("  %s\n", truths[i].value ? "true" : "false");
            return 1;
        }
    }
    return fail("neither yes nor no", value);
}

/* Takes digits off the front; false if there are none or too many. */
static int take_digits(const char **from, long long *number)
{
    const char *start = *from;

    *number = 0;
    for (; isdigit((unsigned char)**from); (*from)++) {
        int digit = **from - '0';

        if (*number > (LLONG_MAX - digit) / 10)
            return 0;
        *number = *number * 10 + digit;
    }
    return *from > start;
}

static int multiply(long long number, long long factor, long long *product)
{
    if (number > LLONG_MAX / factor)
        return 0;
    *product = number * factor;
    return 1;
}

static int show_int(const char *value)
{
    const char *from = value;
    int is_negative = *from == '-';
    long long number;
    size_t i;

    if (*from == '-' || *from == '+')
        from++;
    if (!take_digits(&from, &number))
        return fail("not a number", value);
    for (i = 0; i < COUNT_OF(sizes); i++)
        if (strcmp(sizes[i].name, from) == 0)
            break;
    if (i == COUNT_OF(sizes))
        return fail("unknown unit", value);
    if (!multiply(number, sizes[i].factor, &number))
        return fail("out of range", value);
    printf("  %lld\n", is_negative ? -number : number);
    return 1;
}

/* The unit that comes next, from a place in the table on; COUNT_OF(times) if there is none. */
static size_t take_time(const char **from, size_t first)
{
    size_t i, length = 0;

    while (isalpha((unsigned char)(*from)[length]))
        length++;
    for (i = first; i < COUNT_OF(times); i++)
        if (strlen(times[i].name) == length && strncmp(times[i].name, *from, length) == 0)
            break;
    *from += length;
    return i;
}

static void print_duration(long long rest)
{
    size_t i;

    printf("  %lld ms =", rest);
    for (i = 0; i < COUNT_OF(times); i++) {
        if (rest >= times[i].factor)
            printf(" %lld%s", rest / times[i].factor, times[i].name);
        rest %= times[i].factor;
    }
    printf("\n");
}

/* Numbers with a unit each, the larger units first. */
static int show_duration(const char *value)
{
    const char *from = value;
    long long total = 0, number;
    size_t unit, first = 0;

    do {
        if (!take_digits(&from, &number))
            return fail("not a number", value);
        unit = take_time(&from, first);
        if (unit == COUNT_OF(times))
            return fail("unknown unit, or not in order", value);
        if (!multiply(number, times[unit].factor, &number) || number > LLONG_MAX - total)
            return fail("out of range", value);
        total += number;
        first = unit + 1;
    } while (*from != '\0');
    print_duration(total);
    return 1;
}

/* The keys of a section and then those that it inherits, each once. */
static int run_keys(const char *operand)
{
    const struct section *section = find_section(operand), *from, *owner;
    const struct entry *entry;

    if (section == NULL)
        return fail("unknown section", operand);
    for (from = section; from != NULL; from = from->parent)
        for (entry = from->entries; entry != NULL; entry = entry->next)
            if (look_up(section, entry->key, &owner) == entry)
                printf("  %s.%s%s\n", from->name, entry->key, entry->is_extension ? ", more" : "");
    return 1;
}

static int run_sections(const char *operand)
{
    const struct section *section, *above;

    (void)operand;
    for (section = sections; section != NULL; section = section->next) {
        printf("  %s", section->name);
        for (above = section->parent; above != NULL; above = above->parent)
            printf(" : %s", above->name);
        printf("\n");
    }
    return 1;
}

/* Everything that is set, worked out; what cannot be is told. */
static int run_dump(const char *operand)
{
    struct text text = {NULL, 0, 0};
    const struct section *section;
    const struct entry *entry;
    int is_fine = 1;

    (void)operand;
    for (section = sections; section != NULL; section = section->next) {
        printf("[%s]\n", section->name);
        for (entry = section->entries; entry != NULL; entry = entry->next) {
            clear(&text);
            problem[0] = '\0';
            if (expand_entry(section, section, entry->key, NULL, &text)) {
                printf("%s = %s\n", entry->key, text.letters);
            } else {
                printf("# %s: %s\n", entry->key, problem);
                is_fine = 0;
            }
        }
    }
    free(text.letters);
    problem[0] = '\0';
    return is_fine || fail("not all can be worked out", "dump");
}

static const struct command commands[] = {
    {"get", 1, NULL, show_text},
    {"bool", 1, NULL, show_bool},
    {"int", 1, NULL, show_int},
    {"duration", 1, NULL, show_duration},
    {"list", 1, NULL, show_list},
    {"keys", 1, run_keys, NULL},
    {"sections", 0, run_sections, NULL},
    {"dump", 0, run_dump, NULL},
};

static int run_command(const struct command *command, const char *operand)
{
    char *value;
    int is_fine;

    if (command->run != NULL)
        return command->run(operand);
    value = get_value(operand);
    is_fine = value != NULL && command->show(value);
    free(value);
    return is_fine;
}

/* The answer is how many commands failed. */
static int run_arguments(char **words)
{
    const char *operand;
    int failures = 0;
    size_t i;

    for (; *words != NULL; words++) {
        for (i = 0; i < COUNT_OF(commands); i++)
            if (strcmp(commands[i].name, *words) == 0)
                break;
        problem[0] = '\0';
        if (i == COUNT_OF(commands)) {
            fail("unknown command", *words);
        } else if (commands[i].has_operand && words[1] == NULL) {
            fail("operand is missing", *words);
        } else {
            operand = commands[i].has_operand ? *++words : "all";
            printf("%s %s\n", commands[i].name, operand);
            run_command(&commands[i], operand);
        }
        if (problem[0] != '\0') {
            printf("error: %s\n", problem);
            failures++;
        }
    }
    return failures;
}

static void free_settings(void)
{
    while (sections != NULL) {
        struct section *section = sections;

        while (section->entries != NULL) {
            struct entry *entry = section->entries;

            section->entries = entry->next;
            free(entry->key);
            free(entry->value);
            free(entry);
        }
        sections = section->next;
        free(section->name);
        free(section->parent_name);
        free(section);
    }
}

int main(int argc, char **argv)
{
    static char *all[] = {"dump", NULL};
    int status;

    read_settings(stdin);
    connect();
    if (error_count > 0) {
        printf("%d errors\n", error_count);
        status = 2;
    } else {
        status = run_arguments(argc > 1 ? argv + 1 : all) > 0;
    }
    free_settings();
    return status;
}
