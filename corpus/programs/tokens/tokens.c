/* The tokens of a small language like C: tokens [-c] [-s] [-t TAB]
 *
 * Reads a source on standard input and prints each token with its place, then how many there are of each class and
 * which names are used. -c prints comments as well, -s the summary alone; a tab goes to the next multiple of TAB.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SOURCE 1024
#define LOOKAHEAD 2
#define MAX_VALUE 64
#define MAX_DEPTH 16
#define DEFAULT_TAB 8
#define BUCKETS 16

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))
#define HAS_CLASS(character, wanted) ((classes[(unsigned char)(character)] & (wanted)) != 0)
#define PEEK(offset) (source[position + (offset)])
#define AT_END() (position >= source_length)
#define STARTS_WITH(first, second) (PEEK(0) == (first) && PEEK(1) == (second))

enum character_class { LETTER = 1, DIGIT = 2, OCTAL = 4, HEX = 8, SPACE = 16, QUOTE = 32 };

enum kind { KEYWORD, NAME, INTEGER, FLOATING, CHARACTER, STRING, OPERATOR, BRACKET, COMMENT, BAD, KINDS };

struct token {
    enum kind kind;
    int line, column;
    size_t start, length;
    unsigned long number;
    double real;
    int strength;
    char value[MAX_VALUE + 1];
    size_t value_length;
    const char *problem;
};

struct operator {
    const char *text;
    int strength;
};

struct name {
    const char *text;
    size_t length;
    int uses, first_line;
    struct name *next;
    struct name *next_in_bucket;
};

struct bracket {
    char character;
    int line;
};

static const char *const kind_names[KINDS] = {
    "keyword", "name", "integer", "floating", "character", "string", "operator", "bracket", "comment", "bad",
};

/* In the order of strcmp. */
static const char *const keywords[] = {
    "break",  "case",   "char",   "const", "continue", "default", "do",     "double",
    "else",   "enum",   "for",    "if",    "int",      "long",    "return", "sizeof",
    "static", "struct", "switch", "union", "unsigned", "void",    "while",
};

/* Those that begin with another one come before it. Strength is how they bind two operands, 0 if they do not. */
static const struct operator operators[] = {
    {"<<=", 1}, {">>=", 1}, {"...", 0}, {"<<", 10}, {">>", 10}, {"<=", 9},  {">=", 9}, {"==", 8},
    {"!=", 8},  {"&&", 4},  {"||", 3},  {"++", 0},  {"--", 0},  {"+=", 1},  {"-=", 1}, {"*=", 1},
    {"/=", 1},  {"%=", 1},  {"&=", 1},  {"|=", 1},  {"^=", 1},  {"->", 13}, {"<", 9},  {">", 9},
    {"=", 1},   {"!", 0},   {"&", 7},   {"|", 5},   {"+", 11},  {"-", 11},  {"*", 12}, {"/", 12},
    {"%", 12},  {"^", 6},   {"~", 0},   {"?", 2},   {":", 2},   {";", 0},   {",", 0},  {".", 13},
};

static const char escapes[] = "n\nt\tr\r0\0a\a\\\\'\'\"\"";

static unsigned char classes[256];
static char source[MAX_SOURCE + LOOKAHEAD];
static size_t source_length, position;
static int line = 1, column = 1, tab = DEFAULT_TAB;
static int counts[KINDS];
static struct name *buckets[BUCKETS], *first_name, *last_name;
static struct bracket open_brackets[MAX_DEPTH];
static int depth, deepest;

static void set_class(const char *characters, int class)
{
    for (; *characters != '\0'; characters++)
        classes[(unsigned char)*characters] |= class;
}

static void fill_classes(void)
{
    set_class("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", LETTER);
    set_class("0123456789", DIGIT);
    set_class("01234567", OCTAL);
    set_class("0123456789abcdefABCDEF", HEX);
    set_class(" \t\n\r\f", SPACE);
    set_class("\"'", QUOTE);
}

static void step(void)
{
    if (PEEK(0) == '\n') {
        line++;
        column = 1;
    } else if (PEEK(0) == '\t') {
        column += tab - (column - 1) % tab;
    } else {
        column++;
    }
    position++;
}

static void step_while(int class)
{
    while (!AT_END() && HAS_CLASS(PEEK(0), class))
        step();
}

static void complain(struct token *token, const char *problem)
{
    if (token->problem == NULL)
        token->problem = problem;
}

static int compare_text(const char *word, const char *text, size_t length)
{
    int order = strncmp(word, text, length);

    return order != 0 ? order : word[length] != '\0';
}

static int is_keyword(const char *text, size_t length)
{
    size_t low = 0, high = LENGTH_OF(keywords);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_text(keywords[middle], text, length);

        if (order == 0)
            return 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static void scan_word(struct token *token)
{
    step_while(LETTER | DIGIT);
    token->kind = is_keyword(source + token->start, position - token->start) ? KEYWORD : NAME;
}

static int digit_value(char digit)
{
    if (HAS_CLASS(digit, DIGIT))
        return digit - '0';
    return (digit | 0x20) - 'a' + 10;
}

static void take_integer(struct token *token, size_t from, unsigned base)
{
    unsigned long limit = 0xffffffffUL;

    for (; from < position; from++) {
        token->number = token->number * base + (unsigned)digit_value(source[from]);
        if (token->number > limit) {
            complain(token, "number is too large");
            token->number = limit;
        }
    }
}

/* The part after the digits before the point; false if there is none, and the number is an integer. */
static int scan_fraction(struct token *token)
{
    int is_real = 0;

    if (PEEK(0) == '.') {
        is_real = 1;
        step();
        step_while(DIGIT);
    }
    if (PEEK(0) == 'e' || PEEK(0) == 'E') {
        is_real = 1;
        step();
        if (PEEK(0) == '+' || PEEK(0) == '-')
            step();
        if (!HAS_CLASS(PEEK(0), DIGIT))
            complain(token, "exponent has no digits");
        step_while(DIGIT);
    }
    return is_real;
}

static void scan_decimal(struct token *token)
{
    step_while(DIGIT);
    if (scan_fraction(token)) {
        token->kind = FLOATING;
        errno = 0;
        token->real = strtod(source + token->start, NULL);
        if (errno == ERANGE)
            complain(token, "number is out of range");
    } else if (source[token->start] == '0') {
        size_t i;

        for (i = token->start; i < position; i++)
            if (!HAS_CLASS(source[i], OCTAL))
                complain(token, "bad octal digit");
        take_integer(token, token->start, 8);
    } else {
        take_integer(token, token->start, 10);
    }
}

static void scan_number(struct token *token)
{
    token->kind = INTEGER;
    if (STARTS_WITH('0', 'x') || STARTS_WITH('0', 'X')) {
        step();
        step();
        step_while(HEX);
        if (position == token->start + 2)
            complain(token, "number has no digits");
        take_integer(token, token->start + 2, 16);
    } else {
        scan_decimal(token);
    }
    if (HAS_CLASS(PEEK(0), LETTER)) {
        complain(token, "letters after a number");
        step_while(LETTER | DIGIT);
    }
}

static void add_character(struct token *token, char character)
{
    if (token->value_length == MAX_VALUE)
        complain(token, "text is too long");
    else
        token->value[token->value_length++] = character;
}

/* After the backslash. */
static void scan_escape(struct token *token)
{
    size_t i;

    if (PEEK(0) == 'x') {
        int code = 0;

        step();
        if (!HAS_CLASS(PEEK(0), HEX))
            complain(token, "escape has no digits");
        for (i = 0; i < 2 && HAS_CLASS(PEEK(0), HEX); i++) {
            code = code * 16 + digit_value(PEEK(0));
            step();
        }
        add_character(token, (char)code);
        return;
    }
    for (i = 0; i + 1 < sizeof escapes; i += 2) {
        if (escapes[i] == PEEK(0)) {
            add_character(token, escapes[i + 1]);
            step();
            return;
        }
    }
    complain(token, "unknown escape");
}

static void scan_quoted(struct token *token)
{
    char quote = PEEK(0);

    token->kind = quote == '"' ? STRING : CHARACTER;
    step();
    while (PEEK(0) != quote) {
        if (AT_END() || PEEK(0) == '\n') {
            complain(token, "quote is not closed");
            return;
        }
        if (PEEK(0) == '\\') {
            step();
            scan_escape(token);
        } else {
            add_character(token, PEEK(0));
            step();
        }
    }
    step();
    if (quote == '\'' && token->value_length != 1)
        complain(token, "not one character");
}

static void scan_comment(struct token *token)
{
    int is_block = PEEK(1) == '*';

    token->kind = COMMENT;
    step();
    step();
    if (!is_block) {
        while (!AT_END() && PEEK(0) != '\n')
            step();
        return;
    }
    while (!STARTS_WITH('*', '/')) {
        if (AT_END()) {
            complain(token, "comment is not closed");
            return;
        }
        step();
    }
    step();
    step();
}

static char partner(char bracket)
{
    switch (bracket) {
    case ')':
        return '(';
    case ']':
        return '[';
    default:
        return '{';
    }
}

static void scan_bracket(struct token *token)
{
    char bracket = PEEK(0);

    token->kind = BRACKET;
    step();
    if (strchr("([{", bracket) != NULL) {
        if (depth < MAX_DEPTH) {
            open_brackets[depth].character = bracket;
            open_brackets[depth].line = token->line;
            depth++;
        } else {
            complain(token, "nested too deeply");
        }
        if (depth > deepest)
            deepest = depth;
    } else if (depth == 0) {
        complain(token, "nothing is open");
    } else {
        depth--;
        if (open_brackets[depth].character != partner(bracket))
            complain(token, "closes another bracket");
    }
}

static void scan_operator(struct token *token)
{
    size_t i, length;

    for (i = 0; i < LENGTH_OF(operators); i++) {
        length = strlen(operators[i].text);
        if (strncmp(operators[i].text, source + position, length) == 0) {
            token->kind = OPERATOR;
            token->strength = operators[i].strength;
            while (length-- > 0)
                step();
            return;
        }
    }
    complain(token, "unknown character");
    step();
}

/* The next token; false at the end. */
static int next_token(struct token *token)
{
    step_while(SPACE);
    if (AT_END())
        return 0;
    memset(token, 0, sizeof *token);
    token->kind = BAD;
    token->line = line;
    token->column = column;
    token->start = position;
    if (HAS_CLASS(PEEK(0), LETTER))
        scan_word(token);
    else if (HAS_CLASS(PEEK(0), DIGIT) || (PEEK(0) == '.' && HAS_CLASS(PEEK(1), DIGIT)))
        scan_number(token);
    else if (HAS_CLASS(PEEK(0), QUOTE))
        scan_quoted(token);
    else if (STARTS_WITH('/', '/') || STARTS_WITH('/', '*'))
        scan_comment(token);
    else if (PEEK(0) != '\0' && strchr("()[]{}", PEEK(0)) != NULL)
        scan_bracket(token);
    else
        scan_operator(token);
    if (token->problem != NULL)
        token->kind = BAD;
    token->length = position - token->start;
    return 1;
}

static void count_name(const struct token *token)
{
    const char *text = source + token->start;
    unsigned hash = 5381;
    struct name *name;
    size_t i;

    for (i = 0; i < token->length; i++)
        hash = hash * 33 + (unsigned char)text[i];
    hash %= BUCKETS;
    for (name = buckets[hash]; name != NULL; name = name->next_in_bucket) {
        if (name->length == token->length && memcmp(name->text, text, token->length) == 0) {
            name->uses++;
            return;
        }
    }
    name = calloc(1, sizeof *name);
    if (name == NULL)
        abort();
    name->text = text;
    name->length = token->length;
    name->uses = 1;
    name->first_line = token->line;
    name->next_in_bucket = buckets[hash];
    buckets[hash] = name;
    if (last_name == NULL)
        first_name = name;
    else
        last_name->next = name;
    last_name = name;
}

static void print_text(const char *text, size_t length)
{
    for (; length > 0; length--, text++) {
        if (*text < ' ' || *text > '~')
            printf("<%02x>", (unsigned char)*text);
        else
            putchar(*text);
    }
}

static void print_token(const struct token *token)
{
    printf("%3d:%-3d %-9s ", token->line, token->column, kind_names[token->kind]);
    print_text(source + token->start, token->length);
    switch (token->kind) {
    case INTEGER:
        printf(" = %lu", token->number);
        break;
    case FLOATING:
        printf(" = %g", token->real);
        break;
    case CHARACTER:
        printf(" = %d", token->value[0]);
        break;
    case STRING:
        printf(" = %zu:", token->value_length);
        print_text(token->value, token->value_length);
        break;
    case OPERATOR:
        if (token->strength > 0)
            printf(" %d", token->strength);
        break;
    case BAD:
        printf(" (%s)", token->problem);
        break;
    default:
        break;
    }
    putchar('\n');
}

static void print_summary(void)
{
    const struct name *name;
    int kind, total = 0;

    for (kind = 0; kind < KINDS; kind++) {
        if (counts[kind] > 0)
            printf("%-9s %d\n", kind_names[kind], counts[kind]);
        total += counts[kind];
    }
    printf("%d tokens in %d lines, depth %d\n", total, column > 1 ? line : line - 1, deepest);
    for (name = first_name; name != NULL; name = name->next) {
        print_text(name->text, name->length);
        printf(" %d from line %d\n", name->uses, name->first_line);
    }
    while (depth > 0) {
        depth--;
        printf("%c of line %d is not closed\n", open_brackets[depth].character, open_brackets[depth].line);
        counts[BAD]++;
    }
}

static void free_names(void)
{
    while (first_name != NULL) {
        struct name *name = first_name;

        first_name = name->next;
        free(name);
    }
}

static int usage(void)
{
    printf("usage: tokens [-c] [-s] [-t TAB]\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct token token;
    int with_comments = 0, with_tokens = 1;
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-c") == 0)
            with_comments = 1;
        else if (strcmp(argv[i], "-s") == 0)
            with_tokens = 0;
        else if (strcmp(argv[i], "-t") == 0 && i + 1 < argc)
            tab = atoi(argv[++i]);
        else
            return usage();
    }
    if (tab < 1 || tab > 16)
        return usage();
    fill_classes();
    source_length = fread(source, 1, MAX_SOURCE, stdin);
    if (source_length == MAX_SOURCE && getchar() != EOF) {
        printf("source is longer than %d characters\n", MAX_SOURCE);
        return 2;
    }
    while (next_token(&token)) {
        counts[token.kind]++;
        if (token.kind == NAME)
            count_name(&token);
        if (with_tokens && (token.kind != COMMENT || with_comments))
            print_token(&token);
    }
    print_summary();
    free_names();
    return counts[BAD] > 0;
}
