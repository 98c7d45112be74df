/* Replaces what matches a pattern in the lines of standard input: substitute [OPTION...] PATTERN REPLACEMENT
 *
 * In a pattern, . is any character, [a-z] one of a set and [^a-z] one that is not in it; * + ? and {2,5} repeat what
 * stands before them; ^ and $ are the ends of the line, \b the edge of a word, \d \w \s kinds of characters; what
 * matches between ( and ) is called \1, \2 and so on. In a replacement, & is all that has matched; \U and \L change
 * the case of what follows, until \E.
 *
 * -g replaces all matches of a line, -k N the one with that number (with -g, that one and all after it); -i ignores
 * case, -n prints only lines that are changed, -c counts, -d prints what the pattern is compiled to.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS 48
#define MAX_PIECES 64
#define MAX_PARTS 9
#define MAX_REPEAT 100
#define UNLIMITED 1000000
#define FIRST_CAPACITY 16
#define BITS 8
#define SET_SIZE 32

#define IS_WORD(character) (isalnum((unsigned char)(character)) || (character) == '_')

enum element_kind { CHARACTER, ANY, SET, LINE_START, LINE_END, EDGE, PART_START, PART_END, SAME, STOP };

enum piece_kind { TEXT, PART, TO_UPPER, TO_LOWER, AS_IS };

enum status { MATCHED, CHANGED_NOTHING, MISTAKE };

/* One step of a compiled pattern. */
struct element {
    enum element_kind kind;
    int least, most;
    int is_repeated;
    char character;
    int part;
    unsigned char *set;
};

struct pattern {
    struct element elements[MAX_ELEMENTS + 1];
    int count;
    int parts;
    int open[MAX_PARTS], depth;
};

struct piece {
    enum piece_kind kind;
    char character;
    int part;
};

struct replacement {
    struct piece pieces[MAX_PIECES];
    int count;
};

struct span {
    const char *start, *end;
};

struct buffer {
    char *text;
    size_t length, capacity;
};

struct options {
    int is_global, is_quiet, with_count, with_dump;
    int first;
};

static const char *const kind_names[] = {
    "character", "any", "set", "line start", "line end", "edge", "part start", "part end", "same as part", "stop",
};

static int ignores_case;
static const char *line_start;
static struct span parts[MAX_PARTS + 1];

static char fold(char character)
{
    return ignores_case ? (char)tolower((unsigned char)character) : character;
}

static void append(struct buffer *buffer, char character)
{
    if (buffer->length + 1 >= buffer->capacity) {
        size_t capacity = buffer->capacity == 0 ? FIRST_CAPACITY : buffer->capacity * 2;
        char *text = realloc(buffer->text, capacity);

        if (text == NULL)
            abort();
        buffer->text = text;
        buffer->capacity = capacity;
    }
    buffer->text[buffer->length++] = character;
    buffer->text[buffer->length] = '\0';
}

static void add_to_set(unsigned char *set, int character)
{
    set[character / BITS] |= (unsigned char)(1 << character % BITS);
}

static int is_in_set(const unsigned char *set, char character)
{
    int code = (unsigned char)character;

    return (set[code / BITS] >> code % BITS & 1) != 0;
}

static void add_range(unsigned char *set, int low, int high)
{
    for (; low <= high; low++)
        add_to_set(set, low);
}

static unsigned char *new_set(void)
{
    unsigned char *set = calloc(1, SET_SIZE);

    if (set == NULL)
        abort();
    return set;
}

/* \d, \w and \s; false for any other letter. */
static int add_named_kind(unsigned char *set, char letter)
{
    switch (letter) {
    case 'w':
        add_range(set, 'a', 'z');
        add_range(set, 'A', 'Z');
        add_to_set(set, '_');
        /* fall through */
    case 'd':
        add_range(set, '0', '9');
        return 1;
    case 's':
        add_to_set(set, ' ');
        add_range(set, '\t', '\r');
        return 1;
    default:
        return 0;
    }
}

static char escaped(char letter)
{
    switch (letter) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    default:
        return letter;
    }
}

static void finish_set(unsigned char *set, int is_negated)
{
    int i;

    if (ignores_case) {
        for (i = 'a'; i <= 'z'; i++) {
            if (is_in_set(set, (char)i))
                add_to_set(set, toupper(i));
            else if (is_in_set(set, (char)toupper(i)))
                add_to_set(set, i);
        }
    }
    if (is_negated)
        for (i = 0; i < SET_SIZE; i++)
            set[i] = (unsigned char)~set[i];
}

/* One character of a set, or a kind of them, which is added at once and cannot begin a range. */
static const char *set_character(unsigned char *set, const char *text, int *character)
{
    *character = -1;
    if (*text != '\\' || text[1] == '\0') {
        *character = (unsigned char)*text;
        return text + 1;
    }
    if (!add_named_kind(set, text[1]))
        *character = (unsigned char)escaped(text[1]);
    return text + 2;
}

/* After the [; returns what follows the ]. */
static const char *compile_set(unsigned char *set, const char *text, const char **error)
{
    int is_negated = *text == '^';
    int low, high;
    const char *first;

    if (is_negated)
        text++;
    for (first = text; *text != ']' || text == first;) {
        if (*text == '\0') {
            *error = "missing ]";
            return text;
        }
        text = set_character(set, text, &low);
        high = low;
        if (low >= 0 && text[0] == '-' && text[1] != ']' && text[1] != '\0')
            text = set_character(set, text + 1, &high);
        if (high < low) {
            *error = "range goes backwards";
            return text;
        }
        if (low >= 0)
            add_range(set, low, high);
    }
    finish_set(set, is_negated);
    return text + 1;
}

static struct element *add_element(struct pattern *pattern, enum element_kind kind)
{
    struct element *element = &pattern->elements[pattern->count++];

    element->kind = kind;
    element->least = element->most = 1;
    return element;
}

static const char *compile_escape(struct pattern *pattern, const char *text, const char **error)
{
    unsigned char *set = new_set();

    if (add_named_kind(set, *text)) {
        add_element(pattern, SET)->set = set;
        return text + 1;
    }
    free(set);
    if (*text == '\0') {
        *error = "nothing after \\";
        return text;
    }
    if (*text == 'b') {
        add_element(pattern, EDGE);
    } else if (*text >= '1' && *text <= '9') {
        int part = *text - '0', i;

        if (part > pattern->parts)
            *error = "no such part";
        for (i = 0; i < pattern->depth; i++)
            if (pattern->open[i] == part)
                *error = "part is still open";
        add_element(pattern, SAME)->part = part;
    } else {
        add_element(pattern, CHARACTER)->character = fold(escaped(*text));
    }
    return text + 1;
}

static const char *parse_count(const char *text, int *count)
{
    *count = -1;
    if (isdigit((unsigned char)*text))
        *count = 0;
    while (isdigit((unsigned char)*text)) {
        if (*count <= MAX_REPEAT)
            *count = *count * 10 + (*text - '0');
        text++;
    }
    return text;
}

/* After the {: a number, or a range without an end, or one with it. */
static const char *compile_count(struct element *element, const char *text, const char **error)
{
    text = parse_count(text, &element->least);
    element->most = element->least;
    if (*text == ',') {
        text = parse_count(text + 1, &element->most);
        if (element->most < 0)
            element->most = UNLIMITED;
    }
    if (*text != '}' || element->least < 0) {
        *error = "bad count";
        return text;
    }
    if (element->least > element->most || element->least > MAX_REPEAT)
        *error = "count is out of range";
    return text + 1;
}

/* Only what matches a single character can be repeated, and once. */
static int can_repeat(const struct pattern *pattern)
{
    const struct element *last;

    if (pattern->count == 0)
        return 0;
    last = &pattern->elements[pattern->count - 1];
    return last->kind <= SET && !last->is_repeated;
}

static const char *compile_repeat(struct pattern *pattern, const char *text, const char **error)
{
    struct element *last;

    if (!can_repeat(pattern)) {
        *error = "nothing to repeat";
        return text;
    }
    last = &pattern->elements[pattern->count - 1];
    last->is_repeated = 1;
    switch (*text) {
    case '*':
        last->least = 0;
        last->most = UNLIMITED;
        break;
    case '+':
        last->most = UNLIMITED;
        break;
    case '?':
        last->least = 0;
        break;
    default:
        return compile_count(last, text + 1, error);
    }
    return text + 1;
}

static void open_part(struct pattern *pattern, const char **error)
{
    if (pattern->parts == MAX_PARTS) {
        *error = "too many parts";
        return;
    }
    pattern->parts++;
    pattern->open[pattern->depth++] = pattern->parts;
    add_element(pattern, PART_START)->part = pattern->parts;
}

static void close_part(struct pattern *pattern, const char **error)
{
    if (pattern->depth == 0) {
        *error = "missing (";
        return;
    }
    pattern->depth--;
    add_element(pattern, PART_END)->part = pattern->open[pattern->depth];
}

/* Compiles what comes next, and returns where that ends. */
static const char *compile_next(struct pattern *pattern, const char *text, const char **error)
{
    switch (*text) {
    case '*':
    case '+':
    case '?':
    case '{':
        return compile_repeat(pattern, text, error);
    case '\\':
        return compile_escape(pattern, text + 1, error);
    case '[': {
        struct element *element = add_element(pattern, SET);

        element->set = new_set();
        return compile_set(element->set, text + 1, error);
    }
    case '(':
        open_part(pattern, error);
        break;
    case ')':
        close_part(pattern, error);
        break;
    case '.':
        add_element(pattern, ANY);
        break;
    case '^':
        add_element(pattern, LINE_START);
        break;
    case '$':
        add_element(pattern, LINE_END);
        break;
    default:
        add_element(pattern, CHARACTER)->character = fold(*text);
    }
    return text + 1;
}

static int compile_pattern(struct pattern *pattern, const char *source)
{
    const char *text = source, *error = NULL;

    while (*text != '\0' && error == NULL) {
        if (pattern->count == MAX_ELEMENTS)
            error = "too long";
        else
            text = compile_next(pattern, text, &error);
    }
    if (error == NULL && pattern->depth > 0)
        error = "missing )";
    add_element(pattern, STOP);
    if (error != NULL)
        printf("pattern: %s at %d\n", error, (int)(text - source));
    return error == NULL;
}

static enum piece_kind special_piece(char letter)
{
    switch (letter) {
    case 'U':
        return TO_UPPER;
    case 'L':
        return TO_LOWER;
    case 'E':
        return AS_IS;
    default:
        return letter >= '1' && letter <= '9' ? PART : TEXT;
    }
}

static int compile_replacement(struct replacement *replacement, const char *text, int part_count)
{
    for (; *text != '\0'; text++) {
        struct piece *piece = &replacement->pieces[replacement->count];

        if (replacement->count == MAX_PIECES) {
            printf("replacement: too long\n");
            return 0;
        }
        replacement->count++;
        if (*text == '&') {
            piece->kind = PART;
        } else if (*text == '\\' && text[1] != '\0') {
            text++;
            piece->kind = special_piece(*text);
            piece->character = escaped(*text);
            if (piece->kind == PART)
                piece->part = *text - '0';
        } else {
            piece->character = *text;
        }
        if (piece->part > part_count) {
            printf("replacement: no part %d\n", piece->part);
            return 0;
        }
    }
    return 1;
}

static int matches_one(const struct element *element, char character)
{
    if (character == '\0')
        return 0;
    switch (element->kind) {
    case CHARACTER:
        return fold(character) == element->character;
    case SET:
        return is_in_set(element->set, character);
    default:
        return 1;
    }
}

static int is_edge(const char *text)
{
    int is_after_word = text > line_start && IS_WORD(text[-1]);

    return is_after_word != IS_WORD(*text);
}

/* How far the text goes on as a part did; NULL if it does not. */
static const char *skip_same(const struct span *part, const char *text)
{
    const char *other;

    for (other = part->start; other < part->end; other++, text++)
        if (fold(*other) != fold(*text))
            return NULL;
    return text;
}

static const char *match_from(const struct element *element, const char *text);

/* As often as possible first, then less and less often, until the rest matches as well. */
static const char *match_repeated(const struct element *element, const char *text)
{
    const char *end;
    int count = 0;

    while (count < element->most && matches_one(element, text[count]))
        count++;
    for (; count >= element->least; count--) {
        end = match_from(element + 1, text + count);
        if (end != NULL)
            return end;
    }
    return NULL;
}

/* Remembers where a part begins or ends, unless the rest does not match. */
static const char *match_mark(const struct element *element, const char **mark, const char *text)
{
    const char *before = *mark, *end;

    *mark = text;
    end = match_from(element + 1, text);
    if (end == NULL)
        *mark = before;
    return end;
}

/* Where a match ends that begins here; NULL if there is none. */
static const char *match_from(const struct element *element, const char *text)
{
    switch (element->kind) {
    case STOP:
        return text;
    case LINE_START:
        return text == line_start ? match_from(element + 1, text) : NULL;
    case LINE_END:
        return *text == '\0' ? match_from(element + 1, text) : NULL;
    case EDGE:
        return is_edge(text) ? match_from(element + 1, text) : NULL;
    case PART_START:
        return match_mark(element, &parts[element->part].start, text);
    case PART_END:
        return match_mark(element, &parts[element->part].end, text);
    case SAME:
        text = skip_same(&parts[element->part], text);
        return text != NULL ? match_from(element + 1, text) : NULL;
    default:
        return match_repeated(element, text);
    }
}

static void append_span(struct buffer *buffer, const struct span *span, enum piece_kind letter_case)
{
    const char *text;

    for (text = span->start; text < span->end; text++) {
        if (letter_case == TO_UPPER)
            append(buffer, (char)toupper((unsigned char)*text));
        else if (letter_case == TO_LOWER)
            append(buffer, (char)tolower((unsigned char)*text));
        else
            append(buffer, *text);
    }
}

static void append_replacement(struct buffer *buffer, const struct replacement *replacement)
{
    enum piece_kind letter_case = AS_IS;
    int i;

    for (i = 0; i < replacement->count; i++) {
        const struct piece *piece = &replacement->pieces[i];
        struct span single = {&piece->character, &piece->character + 1};

        switch (piece->kind) {
        case TEXT:
            append_span(buffer, &single, letter_case);
            break;
        case PART:
            append_span(buffer, &parts[piece->part], letter_case);
            break;
        default:
            letter_case = piece->kind;
        }
    }
}

/* An empty match right after another one does not count. */
static int substitute_line(const char *line, const struct pattern *pattern, const struct replacement *replacement,
                           const struct options *options, struct buffer *result)
{
    const char *text = line, *last_end = NULL, *end;
    int found = 0, replaced = 0;

    line_start = line;
    for (;;) {
        end = options->is_global || replaced == 0 ? match_from(pattern->elements, text) : NULL;
        if (end != NULL && (end > text || text != last_end)) {
            parts[0].start = text;
            parts[0].end = last_end = end;
            found++;
            if (found >= options->first) {
                append_replacement(result, replacement);
                replaced++;
            } else {
                append_span(result, &parts[0], AS_IS);
            }
            if (end > text) {
                text = end;
                continue;
            }
        }
        if (*text == '\0')
            return replaced;
        append(result, *text++);
    }
}

static int read_line(struct buffer *buffer)
{
    int character;

    buffer->length = 0;
    while ((character = getchar()) != EOF && character != '\n')
        if (character != '\0')
            append(buffer, (char)character);
    return character != EOF || buffer->length > 0;
}

static const char *text_of(const struct buffer *buffer)
{
    return buffer->length > 0 ? buffer->text : "";
}

static enum status substitute_all(const struct pattern *pattern, const struct replacement *replacement,
                                  const struct options *options)
{
    struct buffer line = {NULL, 0, 0}, result = {NULL, 0, 0};
    int lines = 0, changed = 0, total = 0, replaced;

    while (read_line(&line)) {
        lines++;
        result.length = 0;
        replaced = substitute_line(text_of(&line), pattern, replacement, options, &result);
        total += replaced;
        changed += replaced > 0;
        if (replaced > 0 || !options->is_quiet)
            printf("%s\n", text_of(&result));
    }
    if (options->with_count)
        printf("%d lines, %d changed, %d replaced\n", lines, changed, total);
    free(line.text);
    free(result.text);
    return changed > 0 ? MATCHED : CHANGED_NOTHING;
}

static void dump_set(const unsigned char *set)
{
    int i, last;

    for (i = 1; i < SET_SIZE * BITS; i = last + 1) {
        last = i;
        if (!is_in_set(set, (char)i))
            continue;
        while (last + 1 < SET_SIZE * BITS && is_in_set(set, (char)(last + 1)))
            last++;
        printf(" %d", i);
        if (last > i)
            printf("-%d", last);
    }
}

static void dump_pattern(const struct pattern *pattern)
{
    const struct element *element;
    int i;

    for (i = 0; i < pattern->count; i++) {
        element = &pattern->elements[i];
        printf("%2d %s", i, kind_names[element->kind]);
        if (element->kind == CHARACTER)
            printf(" %c", element->character);
        if (element->kind == SET)
            dump_set(element->set);
        if (element->part > 0)
            printf(" %d", element->part);
        if (element->most == UNLIMITED)
            printf(", %d or more", element->least);
        else if (element->is_repeated)
            printf(", %d to %d", element->least, element->most);
        printf("\n");
    }
}

static void free_pattern(struct pattern *pattern)
{
    int i;

    for (i = 0; i < pattern->count; i++)
        free(pattern->elements[i].set);
}

static int set_option(struct options *options, char letter)
{
    switch (letter) {
    case 'g':
        options->is_global = 1;
        break;
    case 'i':
        ignores_case = 1;
        break;
    case 'n':
        options->is_quiet = 1;
        break;
    case 'c':
        options->with_count = 1;
        break;
    case 'd':
        options->with_dump = 1;
        break;
    default:
        return 0;
    }
    return 1;
}

/* Returns where the pattern is among the arguments; 0 if an option is wrong. */
static int parse_options(int argc, char **argv, struct options *options)
{
    const char *letter;
    int i;

    for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
        if (strcmp(argv[i], "-k") == 0 && i + 1 < argc) {
            options->first = atoi(argv[++i]);
            continue;
        }
        for (letter = argv[i] + 1; *letter != '\0'; letter++)
            if (!set_option(options, *letter))
                return 0;
    }
    return options->first > 0 ? i : 0;
}

int main(int argc, char **argv)
{
    static struct pattern pattern;
    static struct replacement replacement;
    struct options options = {0, 0, 0, 0, 1};
    enum status status = MISTAKE;
    int at = parse_options(argc, argv, &options);

    if (at == 0 || at + 2 != argc) {
        printf("usage: substitute [-gincd] [-k N] PATTERN REPLACEMENT\n");
        return MISTAKE;
    }
    if (compile_pattern(&pattern, argv[at]) && compile_replacement(&replacement, argv[at + 1], pattern.parts)) {
        if (options.with_dump)
            dump_pattern(&pattern);
        status = substitute_all(&pattern, &replacement, &options);
    }
    free_pattern(&pattern);
    return (int)status;
}
