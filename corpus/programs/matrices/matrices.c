/* Calculates with matrices and shows their statistics: matrices [-w WIDTH] [-p PRECISION]
 *
 * Each line of the input is a command. These make a matrix:
 *
 *     A = matrix 2 3      and two lines of three numbers
 *     B = transpose A     also: copy, inverse, correlation, standard
 *     C = product A B     also: sum, difference, solve
 *     D = scale A 2.5     also: power
 *     E = identity 3
 *
 * and these show something of one: print, determinant, rank, trace, rows, columns.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 200
#define MAX_WORDS 10
#define MAX_NAME 8
#define MAX_SIDE 8
#define MAX_EXPONENT 40
#define DEFAULT_WIDTH 9
#define DEFAULT_PRECISION 3
#define MIN_WIDTH 4
#define MAX_WIDTH 20
#define MAX_PRECISION 8
#define TINY 1e-9

#define SQUARE(x) ((x) * (x))

struct matrix {
    int rows, columns;
    double **cells;
};

struct variable {
    char name[MAX_NAME + 1];
    struct matrix *matrix;
    struct variable *next;
};

struct operands {
    const struct matrix *first, *second;
    double number;
};

/* What an operation wants is spelled in letters: m a matrix, n a number. */
struct operation {
    const char *name;
    const char *wants;
    struct matrix *(*apply)(const struct operands *operands);
};

struct query {
    const char *name;
    void (*show)(const struct matrix *matrix);
};

struct summary {
    int count;
    double low, high, mean, variance;
};

static struct variable *variables;
static int width = DEFAULT_WIDTH;
static int precision = DEFAULT_PRECISION;
static int line_number;
static const char *problem;

static void *fail(const char *message)
{
    if (problem == NULL)
        problem = message;
    return NULL;
}

static struct matrix *new_matrix(int rows, int columns)
{
    struct matrix *matrix = malloc(sizeof *matrix);
    int row;

    if (matrix == NULL)
        abort();
    matrix->rows = rows;
    matrix->columns = columns;
    matrix->cells = malloc(rows * sizeof *matrix->cells);
    if (matrix->cells == NULL)
        abort();
    for (row = 0; row < rows; row++) {
        matrix->cells[row] = calloc(columns, sizeof **matrix->cells);
        if (matrix->cells[row] == NULL)
            abort();
    }
    return matrix;
}

static void free_matrix(struct matrix *matrix)
{
    int row;

    for (row = 0; row < matrix->rows; row++)
        free(matrix->cells[row]);
    free(matrix->cells);
    free(matrix);
}

static int is_whole(double number, int low, int high)
{
    return number >= low && number <= high && number == floor(number);
}

static int is_square(const struct matrix *matrix)
{
    return matrix->rows == matrix->columns;
}

static struct matrix *make_identity(int side)
{
    struct matrix *matrix = new_matrix(side, side);
    int i;

    for (i = 0; i < side; i++)
        matrix->cells[i][i] = 1;
    return matrix;
}

/* The left matrix and, if there is one, the right matrix beside it. */
static struct matrix *join(const struct matrix *left, const struct matrix *right)
{
    struct matrix *result = new_matrix(left->rows, left->columns + (right != NULL ? right->columns : 0));
    int row;

    for (row = 0; row < left->rows; row++) {
        double *to = result->cells[row];

        memcpy(to, left->cells[row], left->columns * sizeof *to);
        if (right != NULL)
            memcpy(to + left->columns, right->cells[row], right->columns * sizeof *to);
    }
    return result;
}

static struct matrix *multiply(const struct matrix *left, const struct matrix *right)
{
    struct matrix *result = new_matrix(left->rows, right->columns);
    int row, column, i;

    for (row = 0; row < left->rows; row++)
        for (column = 0; column < right->columns; column++)
            for (i = 0; i < left->columns; i++)
                result->cells[row][column] += left->cells[row][i] * right->cells[i][column];
    return result;
}

static struct matrix *raise_to(const struct matrix *matrix, int exponent)
{
    struct matrix *half, *result, *odd;

    if (exponent == 0)
        return make_identity(matrix->rows);
    half = raise_to(matrix, exponent / 2);
    result = multiply(half, half);
    free_matrix(half);
    if (exponent % 2 == 1) {
        odd = multiply(result, matrix);
        free_matrix(result);
        result = odd;
    }
    return result;
}

/* The row from `from` on that has the largest number in a column. */
static int find_pivot(const struct matrix *matrix, int from, int column)
{
    int row, best = from;

    for (row = from + 1; row < matrix->rows; row++)
        if (fabs(matrix->cells[row][column]) > fabs(matrix->cells[best][column]))
            best = row;
    return best;
}

static void swap_rows(struct matrix *matrix, int one, int other)
{
    double *row = matrix->cells[one];

    matrix->cells[one] = matrix->cells[other];
    matrix->cells[other] = row;
}

static void subtract_row(double *from, const double *row, double factor, int count)
{
    int i;

    for (i = 0; i < count; i++)
        from[i] -= factor * row[i];
}

/* Makes the first columns those of the identity, as far as possible. The answer is the rank; the determinant
 * is that of the first columns, if they are as many as the rows. */
static int eliminate(struct matrix *matrix, int columns, double *determinant)
{
    int rank = 0;
    int column, row, i;

    *determinant = 1;
    for (column = 0; column < columns && rank < matrix->rows; column++) {
        double *pivot_row;
        double pivot;

        row = find_pivot(matrix, rank, column);
        if (fabs(matrix->cells[row][column]) < TINY) {
            *determinant = 0;
            continue;
        }
        if (row != rank) {
            swap_rows(matrix, row, rank);
            *determinant = -*determinant;
        }
        pivot_row = matrix->cells[rank];
        pivot = pivot_row[column];
        *determinant *= pivot;
        for (i = 0; i < matrix->columns; i++)
            pivot_row[i] /= pivot;
        for (row = 0; row < matrix->rows; row++)
            if (row != rank)
                subtract_row(matrix->cells[row], pivot_row, matrix->cells[row][column], matrix->columns);
        rank++;
    }
    return rank;
}

static struct matrix *apply_copy(const struct operands *operands)
{
    return join(operands->first, NULL);
}

static struct matrix *apply_transpose(const struct operands *operands)
{
    const struct matrix *matrix = operands->first;
    struct matrix *result = new_matrix(matrix->columns, matrix->rows);
    int row, column;

    for (row = 0; row < matrix->rows; row++)
        for (column = 0; column < matrix->columns; column++)
            result->cells[column][row] = matrix->cells[row][column];
    return result;
}

static struct matrix *apply_product(const struct operands *operands)
{
    if (operands->first->columns != operands->second->rows)
        return fail("sizes do not fit");
    return multiply(operands->first, operands->second);
}

/* The first matrix and so many times the second. */
static struct matrix *combine(const struct operands *operands, double factor)
{
    const struct matrix *first = operands->first, *second = operands->second;
    struct matrix *result;
    int row;

    if (first->rows != second->rows || first->columns != second->columns)
        return fail("sizes do not fit");
    result = join(first, NULL);
    for (row = 0; row < first->rows; row++)
        subtract_row(result->cells[row], second->cells[row], -factor, first->columns);
    return result;
}

static struct matrix *apply_sum(const struct operands *operands)
{
    return combine(operands, 1);
}

static struct matrix *apply_difference(const struct operands *operands)
{
    return combine(operands, -1);
}

static struct matrix *apply_scale(const struct operands *operands)
{
    struct matrix *result = join(operands->first, NULL);
    int row, column;

    for (row = 0; row < result->rows; row++)
        for (column = 0; column < result->columns; column++)
            result->cells[row][column] *= operands->number;
    return result;
}

static struct matrix *apply_power(const struct operands *operands)
{
    if (!is_square(operands->first))
        return fail("not square");
    if (!is_whole(operands->number, 0, MAX_EXPONENT))
        return fail("exponent out of range");
    return raise_to(operands->first, (int)operands->number);
}

static struct matrix *apply_identity(const struct operands *operands)
{
    if (!is_whole(operands->number, 1, MAX_SIDE))
        return fail("size out of range");
    return make_identity((int)operands->number);
}

/* The matrix that the first one makes the second one of. */
static struct matrix *apply_solve(const struct operands *operands)
{
    const struct matrix *left = operands->first, *right = operands->second;
    struct matrix *both, *result = NULL;
    double determinant;
    int row;

    if (!is_square(left))
        return fail("not square");
    if (left->rows != right->rows)
        return fail("sizes do not fit");
    both = join(left, right);
    if (eliminate(both, left->columns, &determinant) == left->rows) {
        result = new_matrix(left->rows, right->columns);
        for (row = 0; row < left->rows; row++)
            memcpy(result->cells[row], both->cells[row] + left->columns,
                   right->columns * sizeof **result->cells);
    } else {
        fail("singular");
    }
    free_matrix(both);
    return result;
}

static struct matrix *apply_inverse(const struct operands *operands)
{
    struct matrix *identity = make_identity(operands->first->rows);
    struct operands both = {operands->first, identity, 0};
    struct matrix *result = apply_solve(&both);

    free_matrix(identity);
    return result;
}

static struct summary summarize(const double *values, int count)
{
    struct summary summary = {count, values[0], values[0], 0, 0};
    double sum = 0, squares = 0;
    int i;

    for (i = 0; i < count; i++) {
        summary.low = fmin(summary.low, values[i]);
        summary.high = fmax(summary.high, values[i]);
        sum += values[i];
    }
    summary.mean = sum / count;
    for (i = 0; i < count; i++)
        squares += SQUARE(values[i] - summary.mean);
    if (count > 1)
        summary.variance = squares / (count - 1);
    return summary;
}

static void take_column(const struct matrix *matrix, int column, double *values)
{
    int row;

    for (row = 0; row < matrix->rows; row++)
        values[row] = matrix->cells[row][column];
}

static double correlate(const double *x, const double *y, int count)
{
    struct summary of_x = summarize(x, count), of_y = summarize(y, count);
    double products = 0;
    int i;

    if (of_x.variance < TINY || of_y.variance < TINY)
        return NAN;
    for (i = 0; i < count; i++)
        products += (x[i] - of_x.mean) * (y[i] - of_y.mean);
    return products / (count - 1) / sqrt(of_x.variance * of_y.variance);
}

static struct matrix *apply_correlation(const struct operands *operands)
{
    const struct matrix *matrix = operands->first;
    struct matrix *result = new_matrix(matrix->columns, matrix->columns);
    double x[MAX_SIDE], y[MAX_SIDE];
    int i, j;

    for (i = 0; i < matrix->columns; i++) {
        take_column(matrix, i, x);
        for (j = 0; j <= i; j++) {
            take_column(matrix, j, y);
            result->cells[i][j] = result->cells[j][i] = correlate(x, y, matrix->rows);
        }
    }
    return result;
}

/* Each column moved and scaled to mean 0 and variance 1; one that does not vary becomes 0. */
static struct matrix *apply_standard(const struct operands *operands)
{
    struct matrix *result = join(operands->first, NULL);
    double values[MAX_SIDE];
    int row, column;

    for (column = 0; column < result->columns; column++) {
        struct summary summary;
        double deviation;

        take_column(result, column, values);
        summary = summarize(values, result->rows);
        deviation = summary.variance < TINY ? 1 : sqrt(summary.variance);
        for (row = 0; row < result->rows; row++)
            result->cells[row][column] = (values[row] - summary.mean) / deviation;
    }
    return result;
}

/* Without a minus sign for what is shown as zero; what cannot be computed is a dash. */
static void print_number(double number)
{
    if (isnan(number)) {
        printf(" %*s", width, "-");
        return;
    }
    if (fabs(number) < 0.5 * pow(10, -precision))
        number = 0;
    printf(" %*.*f", width, precision, number);
}

static void show_matrix(const struct matrix *matrix)
{
    int row, column;

    for (row = 0; row < matrix->rows; row++) {
        for (column = 0; column < matrix->columns; column++)
            print_number(matrix->cells[row][column]);
        printf("\n");
    }
}

static void show_determinant(const struct matrix *matrix)
{
    struct matrix *copy;
    double determinant;

    if (!is_square(matrix)) {
        fail("not square");
        return;
    }
    copy = join(matrix, NULL);
    eliminate(copy, copy->columns, &determinant);
    printf("determinant");
    print_number(determinant);
    printf("\n");
    free_matrix(copy);
}

static void show_rank(const struct matrix *matrix)
{
    struct matrix *copy = join(matrix, NULL);
    double determinant;

    printf("rank %d", eliminate(copy, copy->columns, &determinant));
    printf(" of %d x %d\n", matrix->rows, matrix->columns);
    free_matrix(copy);
}

static void show_trace(const struct matrix *matrix)
{
    double trace = 0;
    int i;

    if (!is_square(matrix)) {
        fail("not square");
        return;
    }
    for (i = 0; i < matrix->rows; i++)
        trace += matrix->cells[i][i];
    printf("trace");
    print_number(trace);
    printf("\n");
}

static void print_head(const char *what)
{
    static const char *const heads[] = {"low", "high", "mean", "variance", "deviation"};
    size_t i;

    printf("%-6s", what);
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++)
        printf(" %*s", width, heads[i]);
    printf("\n");
}

static void print_summary(int index, const struct summary *summary)
{
    printf("%-6d", index);
    print_number(summary->low);
    print_number(summary->high);
    print_number(summary->mean);
    print_number(summary->variance);
    print_number(sqrt(summary->variance));
    printf("\n");
}

static void show_rows(const struct matrix *matrix)
{
    int row;

    print_head("row");
    for (row = 0; row < matrix->rows; row++) {
        struct summary summary = summarize(matrix->cells[row], matrix->columns);

        print_summary(row + 1, &summary);
    }
}

static void show_columns(const struct matrix *matrix)
{
    double values[MAX_SIDE];
    int column;

    print_head("column");
    for (column = 0; column < matrix->columns; column++) {
        struct summary summary;

        take_column(matrix, column, values);
        summary = summarize(values, matrix->rows);
        print_summary(column + 1, &summary);
    }
}

static const struct operation operations[] = {
    {"copy", "m", apply_copy},
    {"transpose", "m", apply_transpose},
    {"inverse", "m", apply_inverse},
    {"correlation", "m", apply_correlation},
    {"standard", "m", apply_standard},
    {"product", "mm", apply_product},
    {"sum", "mm", apply_sum},
    {"difference", "mm", apply_difference},
    {"solve", "mm", apply_solve},
    {"scale", "mn", apply_scale},
    {"power", "mn", apply_power},
    {"identity", "n", apply_identity},
};

static const struct query queries[] = {
    {"print", show_matrix},
    {"determinant", show_determinant},
    {"rank", show_rank},
    {"trace", show_trace},
    {"rows", show_rows},
    {"columns", show_columns},
};

static struct variable *find_variable(const char *name)
{
    struct variable *variable;

    for (variable = variables; variable != NULL; variable = variable->next)
        if (strcmp(variable->name, name) == 0)
            break;
    return variable;
}

static const struct matrix *get_matrix(const char *name)
{
    const struct variable *variable = find_variable(name);

    return variable != NULL ? variable->matrix : fail("unknown matrix");
}

static void set_variable(const char *name, struct matrix *matrix)
{
    struct variable *variable = find_variable(name);

    if (variable != NULL) {
        free_matrix(variable->matrix);
    } else {
        variable = malloc(sizeof *variable);
        if (variable == NULL)
            abort();
        strcpy(variable->name, name);
        variable->next = variables;
        variables = variable;
    }
    variable->matrix = matrix;
}

static int parse_number(const char *word, double *number)
{
    char *end;

    *number = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*number);
}

static int parse_side(const char *word)
{
    double side;

    if (!parse_number(word, &side) || !is_whole(side, 1, MAX_SIDE))
        return 0;
    return (int)side;
}

static int is_name(const char *word)
{
    size_t length = 0;

    while (isalnum((unsigned char)word[length]))
        length++;
    return word[length] == '\0' && length <= MAX_NAME && isalpha((unsigned char)word[0]);
}

/* The next line that is neither empty nor a comment, as words; 0 at the end. */
static int next_line(char *line, char **words)
{
    int count = 0;
    char *word;

    while (count == 0) {
        if (fgets(line, MAX_LINE, stdin) == NULL)
            return 0;
        line_number++;
        if (line[0] == '#')
            continue;
        for (word = strtok(line, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n"))
            if (count < MAX_WORDS)
                words[count++] = word;
    }
    return count;
}

/* All rows are read, even if there is something wrong with one of them. */
static struct matrix *read_matrix(int rows, int columns)
{
    struct matrix *matrix = new_matrix(rows, columns);
    char line[MAX_LINE];
    char *words[MAX_WORDS];
    int row, column;

    for (row = 0; row < rows; row++) {
        int count = next_line(line, words);

        if (count == 0)
            fail("a row is missing");
        else if (count != columns)
            fail("a row has another length");
        for (column = 0; column < columns && column < count; column++)
            if (!parse_number(words[column], &matrix->cells[row][column]))
                fail("not a number");
    }
    return matrix;
}

static struct matrix *apply_operation(const struct operation *operation, char **words, int count)
{
    struct operands operands = {NULL, NULL, 0};
    const char *wants = operation->wants;
    int i;

    if (count != (int)strlen(wants))
        return fail("wrong number of operands");
    for (i = 0; i < count; i++) {
        if (wants[i] == 'n') {
            if (!parse_number(words[i], &operands.number))
                fail("not a number");
        } else if (i == 0) {
            operands.first = get_matrix(words[i]);
        } else {
            operands.second = get_matrix(words[i]);
        }
    }
    return problem == NULL ? operation->apply(&operands) : NULL;
}

/* What stands to the right of the `=`. */
static struct matrix *evaluate(char **words, int count)
{
    size_t i;

    if (strcmp(words[0], "matrix") == 0) {
        int rows = count == 3 ? parse_side(words[1]) : 0;
        int columns = count == 3 ? parse_side(words[2]) : 0;

        return rows > 0 && columns > 0 ? read_matrix(rows, columns) : fail("size out of range");
    }
    for (i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].name, words[0]) == 0)
            return apply_operation(&operations[i], words + 1, count - 1);
    return fail("unknown operation");
}

static void assign(const char *name, char **words, int count)
{
    struct matrix *matrix = evaluate(words, count);

    if (problem == NULL)
        set_variable(name, matrix);
    else if (matrix != NULL)
        free_matrix(matrix);
}

static void ask(const char *name, const struct matrix *matrix)
{
    size_t i;

    for (i = 0; i < sizeof queries / sizeof queries[0]; i++)
        if (strcmp(queries[i].name, name) == 0)
            break;
    if (i < sizeof queries / sizeof queries[0])
        queries[i].show(matrix);
    else
        fail("unknown command");
}

static void run_line(char **words, int count)
{
    const struct matrix *matrix;

    if (count >= 3 && strcmp(words[1], "=") == 0) {
        if (is_name(words[0]))
            assign(words[0], words + 2, count - 2);
        else
            fail("bad name");
        return;
    }
    if (count != 2) {
        fail("unknown command");
        return;
    }
    matrix = get_matrix(words[1]);
    if (matrix != NULL)
        ask(words[0], matrix);
}

static int parse_arguments(char **arguments)
{
    for (; *arguments != NULL; arguments += 2) {
        double number;

        if (arguments[1] == NULL || !parse_number(arguments[1], &number))
            return 0;
        if (strcmp(*arguments, "-w") == 0 && is_whole(number, MIN_WIDTH, MAX_WIDTH))
            width = (int)number;
        else if (strcmp(*arguments, "-p") == 0 && is_whole(number, 0, MAX_PRECISION))
            precision = (int)number;
        else
            return 0;
    }
    return 1;
}

static void free_variables(void)
{
    while (variables != NULL) {
        struct variable *next = variables->next;

        free_matrix(variables->matrix);
        free(variables);
        variables = next;
    }
}

int main(int argc, char **argv)
{
    char line[MAX_LINE];
    char *words[MAX_WORDS];
    int count, errors = 0;

    if (argc > 1 && !parse_arguments(argv + 1)) {
        printf("usage: matrices [-w WIDTH] [-p PRECISION]\n");
        return 2;
    }
    while ((count = next_line(line, words)) > 0) {
        problem = NULL;
        run_line(words, count);
        if (problem != NULL) {
            printf("line %d: %s\n", line_number, problem);
            errors++;
        }
    }
    if (errors > 0)
        printf("%d errors\n", errors);
    free_variables();
    return errors > 0;
}
