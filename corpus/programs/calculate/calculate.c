/* A calculator: one expression or assignment a line, integers, variables and functions.
 *
 *     x = 3 * (4 + 2)
 *     max(x, 20) % 7
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 256
#define MAX_NAME 15
#define MAX_ARGUMENTS 4
#define TABLE_SIZE 31
#define HASH_FACTOR 37

enum token_kind { END, NUMBER, NAME, OPERATOR, OPEN, CLOSE, COMMA, BAD };

struct token {
    enum token_kind kind;
    long value;
    char operator;
    char name[MAX_NAME + 1];
};

struct node {
    enum { CONSTANT, VARIABLE, UNARY, BINARY, CALL } kind;
    long value;
    char operator;
    char name[MAX_NAME + 1];
    int argument_count;
    struct node *arguments[MAX_ARGUMENTS];
};

struct variable {
    char name[MAX_NAME + 1];
    long value;
    struct variable *next;
};

struct function {
    const char *name;
    int least, most;
    long (*apply)(const long *arguments, int count);
};

static const char *input;
static struct token token;
static const char *error;
static struct variable *variables[TABLE_SIZE];

static long apply_max(const long *arguments, int count)
{
    long best = arguments[0];
    int i;

    for (i = 1; i < count; i++)
        if (arguments[i] > best)
            best = arguments[i];
    return best;
}

static long apply_min(const long *arguments, int count)
{
    long best = arguments[0];
    int i;

    for (i = 1; i < count; i++)
        if (arguments[i] < best)
            best = arguments[i];
    return best;
}

static long apply_abs(const long *arguments, int count)
{
    (void)count;
    return arguments[0] < 0 ? -arguments[0] : arguments[0];
}

static long apply_gcd(const long *arguments, int count)
{
    long a = labs(arguments[0]), b = labs(arguments[1]), rest;

    (void)count;
    while (b != 0) {
        rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static const struct function functions[] = {
    {"max", 1, 4, apply_max},
    {"min", 1, 4, apply_min},
    {"abs", 1, 1, apply_abs},
    {"gcd", 2, 2, apply_gcd},
};

static void fail(const char *message)
{
    if (error == NULL)
        error = message;
}

static void next_token(void)
{
    int length = 0;

    while (*input == ' ' || *input == '\t')
        input++;
    if (*input == '\0' || *input == '\n') {
        token.kind = END;
    } else if (isdigit((unsigned char)*input)) {
        token.kind = NUMBER;
        token.value = 0;
        while (isdigit((unsigned char)*input)) {
            token.value = token.value * 10 + (*input - '0');
            input++;
        }
    } else if (isalpha((unsigned char)*input)) {
        token.kind = NAME;
        while (isalnum((unsigned char)*input)) {
            if (length < MAX_NAME)
                token.name[length++] = *input;
            input++;
        }
        token.name[length] = '\0';
    } else if (strchr("+-*/%^=", *input) != NULL) {
        token.kind = OPERATOR;
        token.operator = *input++;
    } else {
        token.kind = *input == '(' ? OPEN : *input == ')' ? CLOSE : *input == ',' ? COMMA : BAD;
        input++;
    }
}

static struct node *new_node(int kind)
{
    struct node *node = calloc(1, sizeof *node);

    if (node == NULL)
        abort();
    node->kind = kind;
    return node;
}

static void free_node(struct node *node)
{
    int i;

    for (i = 0; i < node->argument_count; i++)
        free_node(node->arguments[i]);
    free(node);
}

static struct node *parse_sum(int least_strength);

static void parse_arguments(struct node *node)
{
    next_token();
    while (token.kind != CLOSE && error == NULL) {
        if (node->argument_count == MAX_ARGUMENTS) {
            fail("too many arguments");
            return;
        }
        node->arguments[node->argument_count++] = parse_sum(1);
        if (token.kind == COMMA)
            next_token();
        else if (token.kind != CLOSE)
            fail("expected , or )");
    }
    next_token();
}

static struct node *parse_operand(void)
{
    struct node *node = NULL;

    switch (token.kind) {
    case NUMBER:
        node = new_node(CONSTANT);
        node->value = token.value;
        next_token();
        break;
    case NAME:
        node = new_node(VARIABLE);
        strcpy(node->name, token.name);
        next_token();
        if (token.kind == OPEN) {
            node->kind = CALL;
            parse_arguments(node);
        }
        break;
    case OPEN:
        next_token();
        node = parse_sum(1);
        if (token.kind == CLOSE)
            next_token();
        else
            fail("expected )");
        break;
    default:
        if (token.kind == OPERATOR && token.operator == '-') {
            next_token();
            node = new_node(UNARY);
            node->arguments[node->argument_count++] = parse_sum(3);
        } else {
            fail("expected a value");
            node = new_node(CONSTANT);
        }
    }
    return node;
}

static int strength(char operator)
{
    switch (operator) {
    case '+':
    case '-':
        return 1;
    case '*':
    case '/':
    case '%':
        return 2;
    case '^':
        return 4;
    }
    return 0;
}

/* Operators that bind at least so strongly; a power is taken from the right. */
static struct node *parse_sum(int least_strength)
{
    struct node *left = parse_operand();

    while (error == NULL && token.kind == OPERATOR && strength(token.operator) >= least_strength) {
        struct node *node = new_node(BINARY);
        int next = strength(token.operator) + 1;

        if (token.operator == '^')
            next--;
        node->operator = token.operator;
        next_token();
        node->arguments[0] = left;
        node->arguments[1] = parse_sum(next);
        node->argument_count = 2;
        left = node;
    }
    return left;
}

static struct variable **find_variable(const char *name)
{
    unsigned hash = 0;
    struct variable **slot;
    const char *letter;

    for (letter = name; *letter != '\0'; letter++)
        hash = hash * HASH_FACTOR + (unsigned char)*letter;
    for (slot = &variables[hash % TABLE_SIZE]; *slot != NULL; slot = &(*slot)->next)
        if (strcmp((*slot)->name, name) == 0)
            break;
    return slot;
}

static void set_variable(const char *name, long value)
{
    struct variable **slot = find_variable(name);

    if (*slot == NULL) {
        *slot = calloc(1, sizeof **slot);
        if (*slot == NULL)
            abort();
        strcpy((*slot)->name, name);
    }
    (*slot)->value = value;
}

static long power(long base, long exponent)
{
    long result = 1;

    while (exponent > 0) {
        if (exponent % 2 == 1)
            result *= base;
        exponent /= 2;
        if (exponent > 0)
            base *= base;
    }
    return result;
}

static long evaluate(const struct node *node);

static long call(const struct node *node)
{
    long values[MAX_ARGUMENTS];
    size_t f;
    int i;

    for (i = 0; i < node->argument_count; i++)
        values[i] = evaluate(node->arguments[i]);
    for (f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        if (strcmp(functions[f].name, node->name) != 0)
            continue;
        if (i < functions[f].least || i > functions[f].most) {
            fail("wrong number of arguments");
            return 0;
        }
        return functions[f].apply(values, i);
    }
    fail("unknown function");
    return 0;
}

static long combine(char operator, long left, long right)
{
    if ((operator == '/' || operator == '%') && right == 0) {
        fail("division by zero");
        return 0;
    }
    switch (operator) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    case '/':
        return left / right;
    case '%':
        return left % right;
    default:
        return power(left, right);
    }
}

static long evaluate(const struct node *node)
{
    struct variable **slot;
    long left;

    switch (node->kind) {
    case CONSTANT:
        return node->value;
    case VARIABLE:
        slot = find_variable(node->name);
        if (*slot == NULL) {
            fail("unknown variable");
            return 0;
        }
        return (*slot)->value;
    case UNARY:
        return -evaluate(node->arguments[0]);
    case BINARY:
        left = evaluate(node->arguments[0]);
        return combine(node->operator, left, evaluate(node->arguments[1]));
    case CALL:
        break;
    }
    return call(node);
}

/* Is the line `name = expression`? Then the name is stored, and the expression comes next. */
static int take_target(char *target)
{
    const char *start = input;

    next_token();
    if (token.kind == NAME) {
        strcpy(target, token.name);
        next_token();
        if (token.kind == OPERATOR && token.operator == '=')
            return 1;
    }
    input = start;
    return 0;
}

static int run_line(const char *line)
{
    char target[MAX_NAME + 1];
    struct node *tree;
    int is_assignment;
    long value = 0;

    input = line;
    error = NULL;
    is_assignment = take_target(target);
    next_token();
    if (token.kind == END && !is_assignment)
        return 1;
    tree = parse_sum(1);
    if (token.kind != END)
        fail("something is left over");
    if (error == NULL)
        value = evaluate(tree);
    free_node(tree);
    if (error != NULL) {
        printf("error: %s\n", error);
        return 0;
    }
    if (is_assignment)
        set_variable(target, value);
    printf("%ld\n", value);
    return 1;
}

int main(void)
{
    char line[MAX_LINE];
    int errors = 0;

    while (fgets(line, sizeof line, stdin) != NULL)
        if (!run_line(line))
            errors++;
    if (errors > 0)
        printf("%d errors\n", errors);
    return errors > 0;
}
