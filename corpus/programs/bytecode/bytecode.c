/* Assembles a program for a small stack machine and runs it: bytecode [-l] [-t] [-n STEPS] [NUMBER...]
 *
 *     main:   push 5          ; a comment
 *             call square 1   ; a routine and the number of its arguments
 *             builtin print
 *             halt
 *     square: load 0
 *             dup
 *             mul
 *             ret
 *
 * .const NAME VALUE gives a number a name, .cells NAME COUNT reserves global cells. -l lists the code,
 * -t shows each step, -n sets a limit to them. The numbers are what `builtin input` takes.
 */
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 128
#define MAX_NAME 15
#define MAX_WORDS 4
#define MAX_CODE 256
#define MAX_CELLS 64
#define MAX_STACK 48
#define MAX_FRAMES 10
#define MAX_INPUTS 16
#define MAX_SMALL 255
#define ADDRESS_SIZE 2
#define DEFAULT_STEPS 2000

#define FUNCTIONS ((int)(sizeof functions / sizeof functions[0]))

enum opcode {
    HALT, PUSH, POP, DUP, SWAP, ADD, SUB, MUL, DIV, MOD, NEG, NOT, EQUAL, LESS, JUMP, JUMP_ZERO,
    JUMP_NOT_ZERO, CALL, RETURN, LOCALS, LOAD, STORE, FETCH, PUT, BUILTIN, OPCODES
};

enum operand { NO_OPERAND, NUMBER, ADDRESS, SMALL, ROUTINE, FUNCTION };

/* What an instruction looks like, and how many values it takes and gives. */
struct instruction {
    const char *name;
    enum operand operand;
    int takes, gives;
};

static const struct instruction instructions[OPCODES] = {
    [HALT] = {"halt", NO_OPERAND, 0, 0},
    [PUSH] = {"push", NUMBER, 0, 1},
    [POP] = {"pop", NO_OPERAND, 1, 0},
    [DUP] = {"dup", NO_OPERAND, 1, 2},
    [SWAP] = {"swap", NO_OPERAND, 2, 2},
    [ADD] = {"add", NO_OPERAND, 2, 1},
    [SUB] = {"sub", NO_OPERAND, 2, 1},
    [MUL] = {"mul", NO_OPERAND, 2, 1},
    [DIV] = {"div", NO_OPERAND, 2, 1},
    [MOD] = {"mod", NO_OPERAND, 2, 1},
    [NEG] = {"neg", NO_OPERAND, 1, 1},
    [NOT] = {"not", NO_OPERAND, 1, 1},
    [EQUAL] = {"equal", NO_OPERAND, 2, 1},
    [LESS] = {"less", NO_OPERAND, 2, 1},
    [JUMP] = {"jump", ADDRESS, 0, 0},
    [JUMP_ZERO] = {"jz", ADDRESS, 1, 0},
    [JUMP_NOT_ZERO] = {"jnz", ADDRESS, 1, 0},
    [CALL] = {"call", ROUTINE, 0, 0},
    [RETURN] = {"ret", NO_OPERAND, 1, 0},
    [LOCALS] = {"locals", SMALL, 0, 0},
    [LOAD] = {"load", SMALL, 0, 1},
    [STORE] = {"store", SMALL, 1, 0},
    [FETCH] = {"fetch", NO_OPERAND, 1, 1},
    [PUT] = {"put", NO_OPERAND, 2, 0},
    [BUILTIN] = {"builtin", FUNCTION, 0, 0},
};

static const int operand_sizes[] = {
    [NO_OPERAND] = 0, [NUMBER] = 4, [ADDRESS] = ADDRESS_SIZE, [SMALL] = 1, [ROUTINE] = 3, [FUNCTION] = 1,
};

struct symbol {
    char name[MAX_NAME + 1];
    enum { LABEL, CONSTANT } kind;
    int value;
    struct symbol *next;
};

/* A place in the code that needs the address of a label. */
struct fixup {
    char name[MAX_NAME + 1];
    int place, line;
    struct fixup *next;
};

struct program {
    unsigned char code[MAX_CODE];
    int lines[MAX_CODE];
    int size, cell_count;
    struct symbol *symbols;
    struct fixup *fixups;
};

struct frame {
    int return_to, base, entry;
};

struct machine {
    const struct program *program;
    int stack[MAX_STACK];
    struct frame frames[MAX_FRAMES];
    int depth, frame_count;
    int cells[MAX_CELLS];
    int inputs[MAX_INPUTS];
    int input_count, next_input;
    int at, next;
    const char *error;
    int is_halted;
};

struct function {
    const char *name;
    int takes, gives;
    int (*apply)(struct machine *machine, const int *values);
};

static int line_number, error_count;

static void complain(int line, const char *message, const char *word)
{
    printf("line %d: %s: %s\n", line, message, word);
    error_count++;
}

static int apply_print(struct machine *machine, const int *values)
{
    (void)machine;
    printf("%d\n", values[0]);
    return 0;
}

static int apply_letter(struct machine *machine, const int *values)
{
    if (values[0] != '\n' && (values[0] < ' ' || values[0] > '~'))
        machine->error = "not a letter";
    else
        putchar(values[0]);
    return 0;
}

static int apply_input(struct machine *machine, const int *values)
{
    (void)values;
    if (machine->next_input == machine->input_count) {
        machine->error = "no more input";
        return 0;
    }
    return machine->inputs[machine->next_input++];
}

/* To the left, or to the right by a negative distance. */
static int apply_shift(struct machine *machine, const int *values)
{
    uint32_t bits = values[0];

    if (values[1] <= -32 || values[1] >= 32)
        machine->error = "shift too far";
    else if (values[1] < 0)
        return bits >> -values[1];
    else
        return bits << values[1];
    return 0;
}

static const struct function functions[] = {
    {"print", 1, 0, apply_print},
    {"letter", 1, 0, apply_letter},
    {"input", 0, 1, apply_input},
    {"shift", 2, 1, apply_shift},
};

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        abort();
    return memory;
}

static struct symbol *find_symbol(const struct program *program, const char *name)
{
    struct symbol *symbol;

    for (symbol = program->symbols; symbol != NULL; symbol = symbol->next)
        if (strcmp(symbol->name, name) == 0)
            break;
    return symbol;
}

static void add_symbol(struct program *program, const char *name, int kind, int value)
{
    struct symbol *symbol;

    if (!isalpha((unsigned char)name[0]) || find_symbol(program, name) != NULL) {
        complain(line_number, "not a new name", name);
        return;
    }
    symbol = allocate(sizeof *symbol);
    strcpy(symbol->name, name);
    symbol->kind = kind;
    symbol->value = value;
    symbol->next = program->symbols;
    program->symbols = symbol;
}

static int emit(struct program *program, uint32_t value, int size)
{
    if (program->size + size > MAX_CODE) {
        complain(line_number, "too long", "the code");
        return 0;
    }
    while (size-- > 0) {
        program->lines[program->size] = line_number;
        program->code[program->size++] = value & 0xff;
        value >>= 8;
    }
    return 1;
}

/* The little-endian number at a place in the code. */
static uint32_t code_at(const struct program *program, int place, int size)
{
    uint32_t value = 0;

    while (size-- > 0)
        value = value << 8 | program->code[place + size];
    return value;
}

/* A number or the name of a constant. */
static int parse_value(const struct program *program, const char *word, int *value)
{
    const struct symbol *symbol = find_symbol(program, word);
    char *end;
    long number;

    if (symbol != NULL && symbol->kind == CONSTANT) {
        *value = symbol->value;
        return 1;
    }
    number = strtol(word, &end, 0);
    if (end == word || *end != '\0' || number < INT_MIN || number > INT_MAX)
        return 0;
    *value = number;
    return 1;
}

static int parse_limited(const struct program *program, const char *word, int low, int high)
{
    int value;

    if (parse_value(program, word, &value) && value >= low && value <= high)
        return value;
    complain(line_number, "not a number that fits", word);
    return low;
}

static int find_function(const char *name)
{
    int i;

    for (i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    complain(line_number, "unknown function", name);
    return 0;
}

static void emit_label(struct program *program, const char *name)
{
    struct fixup *fixup;

    if (!emit(program, 0, ADDRESS_SIZE))
        return;
    fixup = allocate(sizeof *fixup);
    strcpy(fixup->name, name);
    fixup->place = program->size - ADDRESS_SIZE;
    fixup->line = line_number;
    fixup->next = program->fixups;
    program->fixups = fixup;
}

static void emit_operand(struct program *program, enum operand kind, char **words)
{
    switch (kind) {
    case NO_OPERAND:
        break;
    case NUMBER:
        emit(program, parse_limited(program, words[0], INT_MIN, INT_MAX), 4);
        break;
    case ADDRESS:
        emit_label(program, words[0]);
        break;
    case SMALL:
        emit(program, parse_limited(program, words[0], 0, MAX_SMALL), 1);
        break;
    case ROUTINE:
        emit_label(program, words[0]);
        emit(program, parse_limited(program, words[1], 0, MAX_SMALL), 1);
        break;
    case FUNCTION:
        emit(program, find_function(words[0]), 1);
        break;
    }
}

static int find_opcode(const char *name)
{
    int i;

    for (i = 0; i < OPCODES; i++)
        if (strcmp(instructions[i].name, name) == 0)
            return i;
    return -1;
}

static void assemble_instruction(struct program *program, char **words, int count)
{
    int opcode = find_opcode(words[0]);
    enum operand operand;
    int wanted;

    if (opcode < 0) {
        complain(line_number, "unknown instruction", words[0]);
        return;
    }
    operand = instructions[opcode].operand;
    wanted = operand == NO_OPERAND ? 0 : operand == ROUTINE ? 2 : 1;
    if (count - 1 != wanted) {
        complain(line_number, "wrong number of operands", words[0]);
        return;
    }
    emit(program, opcode, 1);
    emit_operand(program, operand, words + 1);
}

static void assemble_directive(struct program *program, char **words, int count)
{
    int value;

    if (count != 3) {
        complain(line_number, "wrong number of operands", words[0]);
    } else if (strcmp(words[0], ".const") == 0) {
        add_symbol(program, words[1], CONSTANT, parse_limited(program, words[2], INT_MIN, INT_MAX));
    } else if (strcmp(words[0], ".cells") == 0) {
        value = parse_limited(program, words[2], 0, MAX_CELLS - program->cell_count);
        add_symbol(program, words[1], CONSTANT, program->cell_count);
        program->cell_count += value;
    } else {
        complain(line_number, "unknown directive", words[0]);
    }
}

/* Splits a line in place; a semicolon begins a comment. */
static int split(char *line, char **words)
{
    int count = 0;
    char *word;

    line[strcspn(line, ";\n")] = '\0';
    for (word = strtok(line, " \t\r"); word != NULL; word = strtok(NULL, " \t\r")) {
        if (count == MAX_WORDS || strlen(word) > MAX_NAME) {
            complain(line_number, "too long", word);
            return 0;
        }
        words[count++] = word;
    }
    return count;
}

static void assemble_line(struct program *program, char *line)
{
    char *words[MAX_WORDS];
    char **first = words;
    int count = split(line, words);
    size_t length;

    if (count == 0)
        return;
    length = strlen(first[0]);
    if (first[0][length - 1] == ':') {
        first[0][length - 1] = '\0';
        add_symbol(program, first[0], LABEL, program->size);
        first++;
        count--;
    }
    if (count == 0)
        return;
    if (first[0][0] == '.')
        assemble_directive(program, first, count);
    else
        assemble_instruction(program, first, count);
}

static void resolve(struct program *program)
{
    struct fixup *fixup;
    const struct symbol *symbol;

    for (fixup = program->fixups; fixup != NULL; fixup = fixup->next) {
        symbol = find_symbol(program, fixup->name);
        if (symbol == NULL || symbol->kind != LABEL) {
            complain(fixup->line, "unknown label", fixup->name);
            continue;
        }
        program->code[fixup->place] = symbol->value & 0xff;
        program->code[fixup->place + 1] = symbol->value >> 8;
    }
}

static void assemble(struct program *program, FILE *file)
{
    char line[MAX_LINE];

    while (fgets(line, sizeof line, file) != NULL) {
        line_number++;
        assemble_line(program, line);
    }
    resolve(program);
}

static const char *label_at(const struct program *program, int place)
{
    const struct symbol *symbol;

    for (symbol = program->symbols; symbol != NULL; symbol = symbol->next)
        if (symbol->kind == LABEL && symbol->value == place)
            return symbol->name;
    return NULL;
}

/* Prints one instruction and returns the place of the next. */
static int print_instruction(const struct program *program, int place)
{
    const struct instruction *instruction = &instructions[program->code[place]];
    int size = operand_sizes[instruction->operand];
    uint32_t operand = code_at(program, place + 1, size);

    printf("%04d %-8s", place, instruction->name);
    switch (instruction->operand) {
    case NO_OPERAND:
        break;
    case NUMBER:
    case SMALL:
        printf(" %d", (int)operand);
        break;
    case ADDRESS:
        printf(" %s", label_at(program, operand));
        break;
    case ROUTINE:
        printf(" %s %u", label_at(program, operand & 0xffff), operand >> 16);
        break;
    case FUNCTION:
        printf(" %s", functions[operand].name);
        break;
    }
    return place + 1 + size;
}

static void list(const struct program *program)
{
    int place = 0;

    while (place < program->size) {
        const char *label = label_at(program, place);

        if (label != NULL)
            printf("%s:\n", label);
        place = print_instruction(program, place);
        printf("\n");
    }
    printf("%d bytes, %d cells\n", program->size, program->cell_count);
}

static int wrap(int64_t value)
{
    return (int)(uint32_t)value;
}

static void push(struct machine *machine, int value)
{
    machine->stack[machine->depth++] = value;
}

static int floor_of(const struct machine *machine)
{
    return machine->frame_count == 0 ? 0 : machine->frames[machine->frame_count - 1].base;
}

/* Are there so many values to take above the caller's, and is there room for what is given? */
static int has_room(struct machine *machine, int takes, int gives)
{
    if (machine->depth - floor_of(machine) < takes)
        machine->error = "stack is empty";
    else if (machine->depth - takes + gives > MAX_STACK)
        machine->error = "stack is full";
    return machine->error == NULL;
}

static int compute(struct machine *machine, int opcode, int left, int right)
{
    int64_t wide = left;

    if ((opcode == DIV || opcode == MOD) && right == 0) {
        machine->error = "division by zero";
        return 0;
    }
    switch (opcode) {
    case ADD:
        return wrap(wide + right);
    case SUB:
        return wrap(wide - right);
    case MUL:
        return wrap(wide * right);
    case DIV:
        return wrap(wide / right);
    case MOD:
        return wrap(wide % right);
    case EQUAL:
        return left == right;
    }
    return left < right;
}

/* The arguments become the first locals of the routine. */
static void call_routine(struct machine *machine, int entry, int argument_count)
{
    struct frame *frame;

    if (!has_room(machine, argument_count, 0))
        return;
    if (machine->frame_count == MAX_FRAMES) {
        machine->error = "too many calls";
        return;
    }
    frame = &machine->frames[machine->frame_count++];
    frame->return_to = machine->next;
    frame->base = machine->depth - argument_count;
    frame->entry = entry;
    machine->next = entry;
}

static void return_value(struct machine *machine, int value)
{
    const struct frame *frame;

    if (machine->frame_count == 0) {
        machine->error = "return outside of a routine";
        return;
    }
    frame = &machine->frames[--machine->frame_count];
    machine->depth = frame->base;
    machine->next = frame->return_to;
    push(machine, value);
}

/* Is there a local or a cell of that number? */
static int is_inside(struct machine *machine, int index, int count)
{
    if (index < 0 || index >= count)
        machine->error = "out of range";
    return machine->error == NULL;
}

static void call_function(struct machine *machine, const struct function *function)
{
    int result;

    if (!has_room(machine, function->takes, function->gives))
        return;
    machine->depth -= function->takes;
    result = function->apply(machine, machine->stack + machine->depth);
    if (function->gives > 0)
        push(machine, result);
}

static void execute(struct machine *machine, int opcode, uint32_t operand)
{
    int takes = instructions[opcode].takes;
    int *values = machine->stack + machine->depth - takes;
    int *locals = machine->stack + floor_of(machine);
    int value;

    machine->depth -= takes;
    switch (opcode) {
    case HALT:
        machine->is_halted = 1;
        break;
    case PUSH:
        push(machine, (int)operand);
        break;
    case POP:
        break;
    case DUP:
        machine->depth++;
        push(machine, values[0]);
        break;
    case SWAP:
        value = values[0];
        push(machine, values[1]);
        push(machine, value);
        break;
    case NEG:
        push(machine, wrap(-(int64_t)values[0]));
        break;
    case NOT:
        push(machine, values[0] == 0);
        break;
    case JUMP:
        machine->next = operand;
        break;
    case JUMP_ZERO:
    case JUMP_NOT_ZERO:
        if ((values[0] == 0) == (opcode == JUMP_ZERO))
            machine->next = operand;
        break;
    case CALL:
        call_routine(machine, operand & 0xffff, operand >> 16);
        break;
    case RETURN:
        return_value(machine, values[0]);
        break;
    case LOCALS:
        if (has_room(machine, 0, operand))
            for (; operand > 0; operand--)
                push(machine, 0);
        break;
    case LOAD:
        if (is_inside(machine, operand, machine->depth - floor_of(machine)))
            push(machine, locals[operand]);
        break;
    case STORE:
        if (is_inside(machine, operand, machine->depth - floor_of(machine)))
            locals[operand] = values[0];
        break;
    case FETCH:
        if (is_inside(machine, values[0], machine->program->cell_count))
            push(machine, machine->cells[values[0]]);
        break;
    case PUT:
        if (is_inside(machine, values[1], machine->program->cell_count))
            machine->cells[values[1]] = values[0];
        break;
    case BUILTIN:
        call_function(machine, &functions[operand]);
        break;
    default:
        push(machine, compute(machine, opcode, values[0], values[1]));
    }
}

static void step(struct machine *machine)
{
    const struct program *program = machine->program;
    const struct instruction *instruction;
    int opcode, size;

    machine->at = machine->next;
    if (machine->at >= program->size) {
        machine->error = "the code ends here";
        return;
    }
    opcode = program->code[machine->at];
    instruction = &instructions[opcode];
    size = operand_sizes[instruction->operand];
    machine->next = machine->at + 1 + size;
    if (has_room(machine, instruction->takes, instruction->gives))
        execute(machine, opcode, code_at(program, machine->at + 1, size));
}

static void print_stack(const struct machine *machine)
{
    int i;

    printf(" [");
    for (i = 0; i < machine->depth; i++)
        printf("%s%d", i == 0 ? "" : i == floor_of(machine) ? " | " : " ", machine->stack[i]);
    printf("]\n");
}

/* What went wrong, and the calls that led there, the latest first. */
static void report(const struct machine *machine)
{
    const struct program *program = machine->program;
    int at = machine->at;
    int i;

    printf("error: %s\n", machine->error);
    for (i = machine->frame_count; i >= 0; i--) {
        const char *routine = i == 0 ? "main" : label_at(program, machine->frames[i - 1].entry);
        int line = at < program->size ? program->lines[at] : line_number;

        printf("  at %04d in %s, line %d\n", at, routine, line);
        if (i > 0)
            at = machine->frames[i - 1].return_to - 1;
    }
}

static int run(struct machine *machine, long limit, int is_traced)
{
    long steps = 0;

    while (!machine->is_halted && machine->error == NULL) {
        if (steps == limit) {
            machine->error = "too many steps";
            break;
        }
        if (is_traced && machine->next < machine->program->size) {
            print_instruction(machine->program, machine->next);
            print_stack(machine);
        }
        step(machine);
        steps++;
    }
    if (machine->error != NULL)
        report(machine);
    printf("%ld steps, stack", steps);
    print_stack(machine);
    return machine->error != NULL;
}

static int parse_inputs(struct machine *machine, char **words)
{
    for (; *words != NULL; words++) {
        if (machine->input_count == MAX_INPUTS
            || !parse_value(machine->program, *words, &machine->inputs[machine->input_count]))
            return 0;
        machine->input_count++;
    }
    return 1;
}

static void free_program(struct program *program)
{
    while (program->symbols != NULL) {
        struct symbol *next = program->symbols->next;

        free(program->symbols);
        program->symbols = next;
    }
    while (program->fixups != NULL) {
        struct fixup *next = program->fixups->next;

        free(program->fixups);
        program->fixups = next;
    }
}

int main(int argc, char **argv)
{
    static struct program program;
    static struct machine machine = {.program = &program};
    const struct symbol *entry;
    long limit = DEFAULT_STEPS;
    int is_listed = 0, is_traced = 0;
    int status = 2;
    int i;

    for (i = 1; i < argc && argv[i][0] == '-' && isalpha((unsigned char)argv[i][1]); i++) {
        if (strcmp(argv[i], "-l") == 0)
            is_listed = 1;
        else if (strcmp(argv[i], "-t") == 0)
            is_traced = 1;
        else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
            limit = atol(argv[++i]);
        else
            break;
    }
    if (limit < 1 || !parse_inputs(&machine, argv + i)) {
        printf("usage: bytecode [-l] [-t] [-n STEPS] [NUMBER...]\n");
        return 3;
    }
    assemble(&program, stdin);
    entry = find_symbol(&program, "main");
    if (entry == NULL || entry->kind != LABEL)
        complain(line_number, "unknown label", "main");
    if (error_count == 0) {
        if (is_listed)
            list(&program);
        machine.next = entry->value;
        status = run(&machine, limit, is_traced);
    } else {
        printf("%d errors\n", error_count);
    }
    free_program(&program);
    return status;
}
