/* Calculates with whole numbers of any size. Each line is an expression, an assignment or a command:
 *
 *     n = 2 ^ 89 - 1
 *     gcd(n, 16#ff) <= root(n) % 10
 *     :base 2          in which results are printed; also :vars, :forget NAME
 * The last result is _. Quotients are rounded towards zero.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 300
#define MAX_NAME 12
#define MAX_ARGUMENTS 2
#define MAX_LIMBS 64
#define MAX_DEPTH 30
#define LIMB_BITS 32
#define LIMB_BASE ((uint64_t)1 << LIMB_BITS)
#define MAX_EXPONENT 2000
#define MIN_BASE 2
#define MAX_BASE 36

/* The limbs from the least significant on, without zeros at the end: zero has none. */
struct number {
    int is_negative;
    size_t count;
    uint32_t limbs[];
};

struct variable {
    char name[MAX_NAME + 1];
    struct number *value;
    struct variable *next;
};

struct function {
    const char *name;
    int argument_count;
    struct number *(*apply)(struct number *const *arguments);
};

static const char *input, *error;
static struct variable *variables;
static uint32_t output_base = 10;
static int depth;

static void fail(const char *message)
{
    if (error == NULL)
        error = message;
}

static struct number *new_number(size_t count)
{
    struct number *number = calloc(1, sizeof *number + count * sizeof number->limbs[0]);

    if (number == NULL)
        abort();
    number->count = count;
    return number;
}

static struct number *trim(struct number *number)
{
    while (number->count > 0 && number->limbs[number->count - 1] == 0)
        number->count--;
    if (number->count == 0)
        number->is_negative = 0;
    return number;
}

static struct number *limit(struct number *number)
{
    if (trim(number)->count > MAX_LIMBS)
        fail("number too large");
    return number;
}

static struct number *from_small(uint32_t value)
{
    struct number *number = new_number(1);

    number->limbs[0] = value;
    return trim(number);
}

static struct number *copy(const struct number *number)
{
    struct number *result = new_number(number->count);

    memcpy(result->limbs, number->limbs, number->count * sizeof number->limbs[0]);
    result->is_negative = number->is_negative;
    return result;
}

static int compare_sizes(const struct number *a, const struct number *b)
{
    size_t i;

    if (a->count != b->count)
        return a->count > b->count ? 1 : -1;
    for (i = a->count; i > 0; i--)
        if (a->limbs[i - 1] != b->limbs[i - 1])
            return a->limbs[i - 1] > b->limbs[i - 1] ? 1 : -1;
    return 0;
}

static int compare(const struct number *a, const struct number *b)
{
    if (a->is_negative != b->is_negative)
        return a->is_negative ? -1 : 1;
    return a->is_negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

static struct number *add_sizes(const struct number *longer, const struct number *shorter)
{
    struct number *sum = new_number(longer->count + 1);
    uint64_t carry = 0;
    size_t i;

    for (i = 0; i < longer->count; i++) {
        carry += longer->limbs[i];
        if (i < shorter->count)
            carry += shorter->limbs[i];
        sum->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    sum->limbs[i] = (uint32_t)carry;
    return trim(sum);
}

static struct number *subtract_sizes(const struct number *larger, const struct number *smaller)
{
    struct number *difference = new_number(larger->count);
    uint32_t borrow = 0;
    size_t i;

    for (i = 0; i < larger->count; i++) {
        uint64_t value = (uint64_t)larger->limbs[i] - borrow;

        if (i < smaller->count)
            value -= smaller->limbs[i];
        difference->limbs[i] = (uint32_t)value;
        borrow = value >> LIMB_BITS != 0;
    }
    return trim(difference);
}

/* a + b, or a - b. */
static struct number *add(const struct number *a, const struct number *b, int is_subtraction)
{
    int b_is_negative = b->is_negative != is_subtraction;
    int is_larger = compare_sizes(a, b) >= 0;
    const struct number *larger = is_larger ? a : b, *smaller = is_larger ? b : a;
    struct number *result;

    if (a->is_negative == b_is_negative)
        result = add_sizes(larger, smaller);
    else
        result = subtract_sizes(larger, smaller);
    result->is_negative = is_larger ? a->is_negative : b_is_negative;
    return limit(result);
}

static struct number *multiply(const struct number *a, const struct number *b)
{
    struct number *product = new_number(a->count + b->count);
    size_t i, j;

    for (i = 0; i < a->count; i++) {
        uint64_t carry = 0;

        for (j = 0; j < b->count; j++) {
            carry += (uint64_t)a->limbs[i] * b->limbs[j] + product->limbs[i + j];
            product->limbs[i + j] = (uint32_t)carry;
            carry >>= LIMB_BITS;
        }
        product->limbs[i + j] = (uint32_t)carry;
    }
    product->is_negative = a->is_negative != b->is_negative;
    return limit(product);
}

/* Multiplies by a small number and adds another, in place; there must be room for the result. */
static void multiply_small(struct number *number, uint32_t factor, uint32_t summand)
{
    uint64_t carry = summand;
    size_t i;

    for (i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry > 0)
        number->limbs[number->count++] = (uint32_t)carry;
}

/* Divides by a small number, in place, and returns the remainder. */
static uint32_t divide_small(struct number *number, uint32_t divisor)
{
    uint64_t rest = 0;
    size_t i;

    for (i = number->count; i > 0; i--) {
        rest = rest << LIMB_BITS | number->limbs[i - 1];
        number->limbs[i - 1] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(number);
    return (uint32_t)rest;
}

/* How often the divisor goes into the limbs at `at`, at most one too often. */
static uint64_t guess_digit(const uint32_t *at, const struct number *divisor)
{
    size_t n = divisor->count;
    uint64_t first = divisor->limbs[n - 1], second = divisor->limbs[n - 2];
    uint64_t top = (uint64_t)at[n] << LIMB_BITS | at[n - 1];
    uint64_t guess = top / first, rest = top % first;

    while (guess >= LIMB_BASE || guess * second > (rest << LIMB_BITS | at[n - 2])) {
        guess--;
        rest += first;
        if (rest >= LIMB_BASE)
            break;
    }
    return guess;
}

/* Subtracts so many times the divisor; true if that was too much. */
static int subtract_multiple(uint32_t *at, const struct number *divisor, uint64_t times)
{
    uint64_t carry = 0, value;
    uint32_t borrow = 0;
    size_t i;

    for (i = 0; i < divisor->count; i++) {
        carry += times * divisor->limbs[i];
        value = (uint64_t)at[i] - (uint32_t)carry - borrow;
        at[i] = (uint32_t)value;
        borrow = value >> LIMB_BITS != 0;
        carry >>= LIMB_BITS;
    }
    value = at[i] - carry - borrow;
    at[i] = (uint32_t)value;
    return value >> LIMB_BITS != 0;
}

static void add_back(uint32_t *at, const struct number *divisor)
{
    uint64_t carry = 0;
    size_t i;

    for (i = 0; i < divisor->count; i++) {
        carry += (uint64_t)at[i] + divisor->limbs[i];
        at[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    at[i] += (uint32_t)carry;
}

/* The quotient of the sizes by a divisor of two limbs or more, digit by digit; what is left over stays. */
static struct number *divide_long(struct number *rest, const struct number *divisor)
{
    struct number *quotient = new_number(rest->count - divisor->count);
    size_t i;

    for (i = quotient->count; i > 0; i--) {
        uint32_t *at = rest->limbs + i - 1;
        uint64_t digit = guess_digit(at, divisor);

        if (subtract_multiple(at, divisor, digit)) {
            add_back(at, divisor);
            digit--;
        }
        quotient->limbs[i - 1] = (uint32_t)digit;
    }
    return trim(quotient);
}

/* Long division wants a divisor whose first bit is set, so both are shifted before, and the rest after it. */
static struct number *divide_sizes(const struct number *a, const struct number *b, struct number **rest)
{
    struct number *quotient, *divisor;
    unsigned bits = 0;

    if (b->count == 1) {
        quotient = copy(a);
        *rest = from_small(divide_small(quotient, b->limbs[0]));
        return quotient;
    }
    while (b->limbs[b->count - 1] << bits < LIMB_BASE / 2)
        bits++;
    divisor = copy(b);
    multiply_small(divisor, (uint32_t)1 << bits, 0);
    *rest = new_number(a->count + 1);
    memcpy((*rest)->limbs, a->limbs, a->count * sizeof a->limbs[0]);
    multiply_small(*rest, (uint32_t)1 << bits, 0);
    quotient = divide_long(*rest, divisor);
    free(divisor);
    divide_small(*rest, (uint32_t)1 << bits);
    return quotient;
}

/* Either the quotient or the remainder, which has the sign of a. */
static struct number *divide(const struct number *a, const struct number *b, int wants_rest)
{
    struct number *quotient, *rest;

    if (b->count == 0) {
        fail("division by zero");
        return new_number(0);
    }
    if (compare_sizes(a, b) < 0)
        return wants_rest ? copy(a) : new_number(0);
    quotient = divide_sizes(a, b, &rest);
    quotient->is_negative = a->is_negative != b->is_negative;
    rest->is_negative = a->is_negative;
    free(wants_rest ? quotient : rest);
    return trim(wants_rest ? rest : quotient);
}

/* A number that is within limits, or a failure. */
static uint32_t to_small(const struct number *number, uint32_t low, uint32_t high)
{
    uint32_t value = number->count == 0 ? 0 : number->limbs[0];

    if (!number->is_negative && number->count <= 1 && value >= low && value <= high)
        return value;
    fail("operand out of range");
    return low;
}

/* Puts a number in the place of one that is not needed any more. */
static void replace(struct number **place, struct number *number)
{
    free(*place);
    *place = number;
}

static struct number *power(const struct number *base, const struct number *exponent)
{
    uint32_t left = to_small(exponent, 0, MAX_EXPONENT);
    struct number *result = from_small(1), *square = copy(base);

    while (left > 0 && error == NULL) {
        if (left & 1)
            replace(&result, multiply(result, square));
        left >>= 1;
        if (left > 0)
            replace(&square, multiply(square, square));
    }
    free(square);
    return result;
}

static struct number *apply_gcd(struct number *const *arguments)
{
    struct number *a = copy(arguments[0]), *b = copy(arguments[1]);

    while (b->count > 0) {
        struct number *rest = divide(a, b, 1);

        free(a);
        a = b;
        b = rest;
    }
    free(b);
    a->is_negative = 0;
    return a;
}

/* Newton's method from above: each step is nearer until it would go up again. */
static struct number *apply_root(struct number *const *arguments)
{
    const struct number *number = arguments[0];
    struct number *root, *next, *quotient;

    if (number->is_negative) {
        fail("root of a negative number");
        return new_number(0);
    }
    if (number->count == 0)
        return new_number(0);
    root = new_number((number->count + 1) / 2 + 1);
    root->limbs[root->count - 1] = 1;
    if (compare_sizes(root, number) > 0)
        replace(&root, copy(number));
    for (;;) {
        quotient = divide(number, root, 0);
        next = add(root, quotient, 0);
        free(quotient);
        divide_small(next, 2);
        if (compare_sizes(next, root) >= 0)
            break;
        replace(&root, next);
    }
    free(next);
    return root;
}

static const struct function functions[] = {
    {"gcd", 2, apply_gcd},
    {"root", 1, apply_root},
};

static struct variable **find_variable(const char *name)
{
    struct variable **link;

    for (link = &variables; *link != NULL; link = &(*link)->next)
        if (strcmp((*link)->name, name) == 0)
            break;
    return link;
}

static void set_variable(const char *name, struct number *value)
{
    struct variable **link = find_variable(name);

    if (*link == NULL) {
        *link = calloc(1, sizeof **link);
        if (*link == NULL)
            abort();
        strcpy((*link)->name, name);
    }
    replace(&(*link)->value, value);
}

static int forget_variable(const char *name)
{
    struct variable **link = find_variable(name);
    struct variable *variable = *link;

    if (variable == NULL)
        return 0;
    *link = variable->next;
    free(variable->value);
    free(variable);
    return 1;
}

/* Prints the digits in groups that fit a limb. */
static void print_number(const struct number *number, uint32_t base)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char text[MAX_LIMBS * LIMB_BITS + LIMB_BITS + 1];
    char *start = text + sizeof text - 1;
    struct number *rest = copy(number);
    uint32_t group_base = base;
    int group_size = 1, i;

    *start = '\0';
    while ((uint64_t)group_base * base < LIMB_BASE) {
        group_base *= base;
        group_size++;
    }
    while (rest->count > 0) {
        uint32_t group = divide_small(rest, group_base);

        for (i = 0; i < group_size && (group > 0 || rest->count > 0); i++) {
            *--start = letters[group % base];
            group /= base;
        }
    }
    free(rest);
    if (*start == '\0')
        *--start = '0';
    printf("%s", number->is_negative ? "-" : "");
    if (base != 10)
        printf("%u#", base);
    printf("%s\n", start);
}

static void skip_spaces(void)
{
    while (isspace((unsigned char)*input))
        input++;
}

/* Takes a word of punctuation if it comes next. */
static int accept(const char *word)
{
    size_t length = strlen(word);

    skip_spaces();
    if (strncmp(input, word, length) != 0)
        return 0;
    input += length;
    return 1;
}

static uint32_t digit_value(char letter)
{
    return isdigit((unsigned char)letter) ? letter - '0' : tolower((unsigned char)letter) - 'a' + 10;
}

/* The digits that come next; a digit that the base does not have is a failure. */
static struct number *parse_digits(uint32_t base)
{
    struct number *number = new_number(MAX_LINE / 4);

    number->count = 0;
    if (!isalnum((unsigned char)*input))
        fail("digits expected");
    for (; isalnum((unsigned char)*input); input++) {
        uint32_t digit = digit_value(*input);

        if (digit >= base) {
            fail("digit out of range");
            digit = 0;
        }
        multiply_small(number, base, digit);
    }
    return trim(number);
}

/* Digits, or a base, # and digits. */
static struct number *parse_literal(void)
{
    struct number *number = parse_digits(10);
    uint32_t base;

    if (*input != '#')
        return number;
    base = to_small(number, MIN_BASE, MAX_BASE);
    free(number);
    input++;
    return parse_digits(base);
}

/* Takes a name if one comes next; false if it is too long or there is none. */
static int take_name(char *name)
{
    size_t length = 0;

    skip_spaces();
    while (isalnum((unsigned char)input[length]) || input[length] == '_')
        length++;
    if (length == 0 || length > MAX_NAME || isdigit((unsigned char)*input))
        return 0;
    memcpy(name, input, length);
    name[length] = '\0';
    input += length;
    return 1;
}

static struct number *parse_comparison(void);

static struct number *apply_function(const char *name, struct number *const *arguments, int count)
{
    size_t i;

    for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        if (functions[i].argument_count == count)
            return functions[i].apply(arguments);
        fail("wrong number of arguments");
    }
    fail("unknown function");
    return new_number(0);
}

static struct number *call(const char *name)
{
    struct number *arguments[MAX_ARGUMENTS], *result;
    int count = 0;

    do {
        if (count == MAX_ARGUMENTS) {
            fail("too many arguments");
            break;
        }
        arguments[count++] = parse_comparison();
    } while (accept(","));
    if (!accept(")"))
        fail(") expected");
    result = error == NULL ? apply_function(name, arguments, count) : new_number(0);
    while (count > 0)
        free(arguments[--count]);
    return result;
}

static struct number *parse_primary(void)
{
    char name[MAX_NAME + 1];
    struct number *number;
    struct variable *variable;

    if (accept("(")) {
        number = parse_comparison();
        if (!accept(")"))
            fail(") expected");
        return number;
    }
    if (isdigit((unsigned char)*input))
        return parse_literal();
    if (!take_name(name)) {
        fail("value expected");
        return new_number(0);
    }
    if (accept("("))
        return call(name);
    variable = *find_variable(name);
    if (variable != NULL)
        return copy(variable->value);
    fail("unknown variable");
    return new_number(0);
}

/* Signs and powers; a power is stronger than a sign before it and is taken from the right. */
static struct number *parse_unary(void)
{
    struct number *number, *exponent;

    if (++depth > MAX_DEPTH) {
        fail("too deep");
        number = new_number(0);
    } else if (accept("-")) {
        number = parse_unary();
        number->is_negative = !number->is_negative;
        trim(number);
    } else {
        number = parse_primary();
        if (error == NULL && accept("^")) {
            exponent = parse_unary();
            replace(&number, power(number, exponent));
            free(exponent);
        }
    }
    depth--;
    return number;
}

static struct number *parse_product(void)
{
    struct number *left = parse_unary(), *right, *result;

    while (error == NULL) {
        char operator = accept("*") ? '*' : accept("/") ? '/' : accept("%") ? '%' : '\0';

        if (operator == '\0')
            break;
        right = parse_unary();
        result = operator == '*' ? multiply(left, right) : divide(left, right, operator == '%');
        replace(&left, result);
        free(right);
    }
    return left;
}

static struct number *parse_sum(void)
{
    struct number *left = parse_product(), *right;

    while (error == NULL) {
        int is_subtraction = accept("-");

        if (!is_subtraction && !accept("+"))
            break;
        right = parse_product();
        replace(&left, add(left, right, is_subtraction));
        free(right);
    }
    return left;
}

/* What a comparison is worth if the left side is less, equal, greater. */
static const struct {
    const char *word;
    uint32_t results[3];
} comparisons[] = {
    {"<=", {1, 1, 0}}, {">=", {0, 1, 1}}, {"==", {0, 1, 0}},
    {"!=", {1, 0, 1}}, {"<", {1, 0, 0}},  {">", {0, 0, 1}},
};

static struct number *parse_comparison(void)
{
    struct number *left = parse_sum(), *right;
    size_t i;

    for (i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (!accept(comparisons[i].word))
            continue;
        right = parse_sum();
        replace(&left, from_small(comparisons[i].results[compare(left, right) + 1]));
        free(right);
        break;
    }
    return left;
}

static void expect_end(void)
{
    skip_spaces();
    if (*input != '\0')
        fail("something is left over");
}

static void list_variables(void)
{
    const struct variable *variable;

    for (variable = variables; variable != NULL; variable = variable->next) {
        printf("%s = ", variable->name);
        print_number(variable->value, output_base);
    }
}

/* What comes after a colon. */
static void run_command(void)
{
    char name[MAX_NAME + 1];
    struct number *base;
    uint32_t value;

    if (!take_name(name)) {
        fail("command expected");
    } else if (strcmp(name, "base") == 0) {
        base = parse_comparison();
        value = to_small(base, MIN_BASE, MAX_BASE);
        free(base);
        expect_end();
        if (error == NULL)
            output_base = value;
    } else if (strcmp(name, "vars") == 0) {
        list_variables();
    } else if (strcmp(name, "forget") == 0) {
        if (!take_name(name) || !forget_variable(name))
            fail("unknown variable");
    } else {
        fail("unknown command");
    }
}

/* Is the line `name = expression`? Then the expression comes next, else the whole line. */
static int take_target(char *name)
{
    const char *start = input;

    if (take_name(name) && accept("=") && *input != '=')
        return 1;
    input = start;
    return 0;
}

static void evaluate(void)
{
    char name[MAX_NAME + 1];
    int is_assignment = take_target(name);
    struct number *number = parse_comparison();

    expect_end();
    if (error == NULL) {
        print_number(number, output_base);
        if (is_assignment)
            set_variable(name, copy(number));
        set_variable("_", number);
    } else {
        free(number);
    }
}

static int run_line(const char *line)
{
    input = line;
    error = NULL;
    depth = 0;
    skip_spaces();
    if (*input == '\0' || *input == ';')
        return 1;
    if (accept(":"))
        run_command();
    else
        evaluate();
    if (error != NULL)
        printf("error at %d: %s\n", (int)(input - line) + 1, error);
    return error == NULL;
}

int main(void)
{
    char line[MAX_LINE];
    int errors = 0;

    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!run_line(line))
            errors++;
    }
    if (errors > 0)
        printf("%d errors\n", errors);
    while (variables != NULL)
        forget_variable(variables->name);
    return errors > 0;
}
