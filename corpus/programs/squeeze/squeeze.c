/* Packs text by pointing back at what was said before, and unpacks it again.
 *
 *     squeeze [-w BITS] [-d DEPTH] [-g] pack|unpack|tokens|check
 *
 * `pack` prints the packed bytes in hexadecimal and `unpack` reads them; `tokens` lists what the text was
 * taken apart into; `check` packs with windows of several sizes, unpacks and compares. A match reaches back
 * 2^BITS bytes; DEPTH earlier places are tried. -g takes the first match and does not look whether a longer
 * one begins at the next byte.
 *
 * A packed text: "SQ", BITS, its size in groups of 7 bits, the bits of all tokens, CRC-32. A token is 1 and
 * a byte, or 0, a distance in BITS bits and a length as an Elias gamma code.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BITS 4
#define MAX_BITS 12
#define DEFAULT_BITS 8
#define MAX_DEPTH 64
#define DEFAULT_DEPTH 12
#define MIN_MATCH 3
#define MAX_MATCH 66
#define MAX_ZEROS 6
#define HASH_BITS 6
#define HASH_SIZE (1u << HASH_BITS)
#define HASH_FACTOR 2654435761u
#define NOWHERE SIZE_MAX
#define CHECKSUM_SIZE 4
#define BYTES_A_LINE 16

enum status {
    FINE,
    BAD_DIGIT,
    BAD_MAGIC,
    BAD_WINDOW,
    BAD_SIZE,
    BAD_DISTANCE,
    BAD_LENGTH,
    CUT_SHORT,
    LEFT_OVER,
    BAD_CHECKSUM,
};

static const char *const status_names[] = {
    [FINE] = "fine",
    [BAD_DIGIT] = "not a hexadecimal digit",
    [BAD_MAGIC] = "not a packed text",
    [BAD_WINDOW] = "window out of range",
    [BAD_SIZE] = "size out of range",
    [BAD_DISTANCE] = "match before the start",
    [BAD_LENGTH] = "match beyond the end",
    [CUT_SHORT] = "cut short",
    [LEFT_OVER] = "bytes left over",
    [BAD_CHECKSUM] = "wrong checksum",
};

struct buffer {
    unsigned char *bytes;
    size_t count, capacity;
};

struct settings {
    unsigned window_bits;
    unsigned depth;
    int is_greedy;
};

struct bit_writer {
    struct buffer *out;
    uint32_t held;
    unsigned bits;
};

struct bit_reader {
    const unsigned char *next, *end;
    uint32_t held;
    unsigned bits;
    int is_exhausted;
};

struct match {
    size_t distance, length;
};

/* Positions with the same hash are chained, the latest first; only those in the window are kept. */
struct finder {
    const struct buffer *text;
    size_t window;
    unsigned depth;
    size_t heads[HASH_SIZE];
    size_t *previous;
};

/* A token without a match is the byte at its position. */
struct token {
    size_t position;
    struct match match;
};

struct tally {
    size_t literals, matches;
    size_t covered, longest;
};

typedef void (*visitor)(void *context, const struct buffer *text, const struct token *token);

static void add_byte(struct buffer *buffer, unsigned byte)
{
    if (buffer->count == buffer->capacity) {
        size_t capacity = buffer->capacity == 0 ? 64 : buffer->capacity * 2;
        unsigned char *bytes = realloc(buffer->bytes, capacity);

        if (bytes == NULL)
            abort();
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    buffer->bytes[buffer->count++] = byte & 0xff;
}

static void free_buffer(struct buffer *buffer)
{
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->count = buffer->capacity = 0;
}

static void read_all(FILE *file, struct buffer *buffer)
{
    int byte;

    while ((byte = getc(file)) != EOF)
        add_byte(buffer, byte);
}

/* CRC-32, half a byte at a time. */
static uint32_t checksum(const struct buffer *buffer)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t sum = 0xffffffff;
    size_t i;

    for (i = 0; i < buffer->count; i++) {
        sum ^= buffer->bytes[i];
        sum = table[sum & 15] ^ sum >> 4;
        sum = table[sum & 15] ^ sum >> 4;
    }
    return ~sum;
}

static void put_bits(struct bit_writer *writer, uint32_t value, unsigned count)
{
    writer->held = writer->held << count | value;
    writer->bits += count;
    while (writer->bits >= 8) {
        writer->bits -= 8;
        add_byte(writer->out, writer->held >> writer->bits);
    }
}

/* As many zeros as the value has bits after the first, then the value. */
static void put_gamma(struct bit_writer *writer, uint32_t value)
{
    unsigned zeros = 0;

    while (value >> zeros > 1)
        zeros++;
    put_bits(writer, 0, zeros);
    put_bits(writer, value, zeros + 1);
}

static void flush_bits(struct bit_writer *writer)
{
    if (writer->bits > 0)
        put_bits(writer, 0, 8 - writer->bits);
}

static uint32_t take_bits(struct bit_reader *reader, unsigned count)
{
    while (reader->bits < count) {
        if (reader->next == reader->end) {
            reader->is_exhausted = 1;
            return 0;
        }
        reader->held = reader->held << 8 | *reader->next++;
        reader->bits += 8;
    }
    reader->bits -= count;
    return reader->held >> reader->bits & ((1u << count) - 1);
}

/* 0 if there are more zeros than any length has. */
static uint32_t take_gamma(struct bit_reader *reader)
{
    unsigned zeros = 0;

    while (take_bits(reader, 1) == 0 && !reader->is_exhausted)
        if (++zeros > MAX_ZEROS)
            return 0;
    return 1u << zeros | take_bits(reader, zeros);
}

static unsigned hash(const unsigned char *bytes)
{
    uint32_t key = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;

    return key * HASH_FACTOR >> (32 - HASH_BITS);
}

static void open_finder(struct finder *finder, const struct buffer *text, const struct settings *settings)
{
    unsigned i;

    finder->text = text;
    finder->window = (size_t)1 << settings->window_bits;
    finder->depth = settings->depth;
    for (i = 0; i < HASH_SIZE; i++)
        finder->heads[i] = NOWHERE;
    finder->previous = calloc(finder->window, sizeof *finder->previous);
    if (finder->previous == NULL)
        abort();
}

static void remember(struct finder *finder, size_t position)
{
    size_t *head;

    if (finder->text->count - position < MIN_MATCH)
        return;
    head = &finder->heads[hash(finder->text->bytes + position)];
    finder->previous[position & (finder->window - 1)] = *head;
    *head = position;
}

static size_t common_length(const unsigned char *a, const unsigned char *b, size_t limit)
{
    size_t length = 0;

    while (length < limit && a[length] == b[length])
        length++;
    return length;
}

/* The longest match for what comes at a position, the nearest of several; length 0 if there is none. */
static struct match find_match(const struct finder *finder, size_t position)
{
    const unsigned char *bytes = finder->text->bytes;
    struct match best = {0, 0};
    size_t limit = finder->text->count - position;
    size_t candidate, length;
    unsigned tries;

    if (limit < MIN_MATCH)
        return best;
    if (limit > MAX_MATCH)
        limit = MAX_MATCH;
    candidate = finder->heads[hash(bytes + position)];
    for (tries = finder->depth; tries > 0; tries--) {
        if (candidate == NOWHERE || position - candidate > finder->window)
            break;
        length = common_length(bytes + candidate, bytes + position, limit);
        if (length >= MIN_MATCH && length > best.length) {
            best.length = length;
            best.distance = position - candidate;
        }
        if (length == limit)
            break;
        candidate = finder->previous[candidate & (finder->window - 1)];
    }
    return best;
}

/* Takes a text apart and shows each token to the visitor. */
static void scan(const struct buffer *text, const struct settings *settings, visitor visit, void *context)
{
    struct finder finder;
    struct token token;
    size_t position = 0;

    open_finder(&finder, text, settings);
    while (position < text->count) {
        size_t end = position + 1;

        token.position = position;
        token.match = find_match(&finder, position);
        remember(&finder, position);
        if (token.match.length > 0 && !settings->is_greedy
            && find_match(&finder, position + 1).length > token.match.length)
            token.match.length = 0;
        if (token.match.length > 0)
            end = position + token.match.length;
        visit(context, text, &token);
        while (++position < end)
            remember(&finder, position);
    }
    free(finder.previous);
}

struct packing {
    struct bit_writer writer;
    unsigned window_bits;
};

static void pack_token(void *context, const struct buffer *text, const struct token *token)
{
    struct packing *packing = context;
    const struct match *match = &token->match;

    if (match->length == 0) {
        put_bits(&packing->writer, 1, 1);
        put_bits(&packing->writer, text->bytes[token->position], 8);
    } else {
        put_bits(&packing->writer, 0, 1);
        put_bits(&packing->writer, match->distance - 1, packing->window_bits);
        put_gamma(&packing->writer, match->length - MIN_MATCH + 1);
    }
}

static void count_token(void *context, const struct buffer *text, const struct token *token)
{
    struct tally *tally = context;

    (void)text;
    if (token->match.length == 0) {
        tally->literals++;
        return;
    }
    tally->matches++;
    tally->covered += token->match.length;
    if (token->match.length > tally->longest)
        tally->longest = token->match.length;
}

static void print_byte(unsigned char byte)
{
    if (byte == '\\')
        printf("\\\\");
    else if (byte == '\n' || isprint(byte))
        putchar(byte);
    else
        printf("\\x%02x", byte);
}

static void list_token(void *context, const struct buffer *text, const struct token *token)
{
    const unsigned char *from = text->bytes + token->position;
    const unsigned char *end = from + (token->match.length > 0 ? token->match.length : 1);

    printf("%4zu ", token->position);
    if (token->match.length == 0)
        printf("literal    ");
    else
        printf("-%-4zu *%-4zu", token->match.distance, token->match.length);
    printf(" '");
    for (; from < end; from++) {
        if (*from == '\n')
            printf("\\n");
        else
            print_byte(*from);
    }
    printf("'\n");
    count_token(context, text, token);
}

static void put_size(struct buffer *out, size_t size)
{
    while (size >= 0x80) {
        add_byte(out, 0x80 | (size & 0x7f));
        size >>= 7;
    }
    add_byte(out, size);
}

static void pack(const struct buffer *text, const struct settings *settings, struct buffer *out)
{
    struct packing packing = {.writer = {.out = out}, .window_bits = settings->window_bits};
    uint32_t sum = checksum(text);
    int shift;

    add_byte(out, 'S');
    add_byte(out, 'Q');
    add_byte(out, settings->window_bits);
    put_size(out, text->count);
    scan(text, settings, pack_token, &packing);
    flush_bits(&packing.writer);
    for (shift = 24; shift >= 0; shift -= 8)
        add_byte(out, sum >> shift);
}

static enum status unpack_literal(struct bit_reader *reader, struct buffer *text)
{
    unsigned byte = take_bits(reader, 8);

    if (reader->is_exhausted)
        return CUT_SHORT;
    add_byte(text, byte);
    return FINE;
}

static enum status unpack_match(struct bit_reader *reader, unsigned window_bits, size_t size,
                                struct buffer *text)
{
    size_t distance = take_bits(reader, window_bits) + 1;
    uint32_t code = take_gamma(reader);
    size_t length = code + MIN_MATCH - 1;

    if (reader->is_exhausted)
        return CUT_SHORT;
    if (code == 0 || length > size - text->count)
        return BAD_LENGTH;
    if (distance > text->count)
        return BAD_DISTANCE;
    for (; length > 0; length--)
        add_byte(text, text->bytes[text->count - distance]);
    return FINE;
}

static enum status unpack_tokens(struct bit_reader *reader, unsigned window_bits, size_t size,
                                 struct buffer *text)
{
    enum status status = FINE;

    while (status == FINE && text->count < size) {
        if (take_bits(reader, 1) == 1)
            status = unpack_literal(reader, text);
        else
            status = unpack_match(reader, window_bits, size, text);
    }
    if (status == FINE && reader->next != reader->end)
        status = LEFT_OVER;
    return status;
}

/* The size of the text; false if it has more than four groups. */
static int take_size(struct bit_reader *reader, size_t *size)
{
    unsigned shift = 0;
    uint32_t group;

    *size = 0;
    do {
        if (shift > 21)
            return 0;
        group = take_bits(reader, 8);
        *size |= (size_t)(group & 0x7f) << shift;
        shift += 7;
    } while (group & 0x80);
    return 1;
}

static enum status unpack(const struct buffer *in, struct buffer *text)
{
    struct bit_reader reader = {0};
    enum status status;
    unsigned window_bits;
    uint32_t sum = 0;
    size_t size;
    int i;

    if (in->count < 2 || in->bytes[0] != 'S' || in->bytes[1] != 'Q')
        return BAD_MAGIC;
    if (in->count < 4 + CHECKSUM_SIZE)
        return CUT_SHORT;
    reader.next = in->bytes + 3;
    reader.end = in->bytes + in->count - CHECKSUM_SIZE;
    window_bits = in->bytes[2];
    if (window_bits < MIN_BITS || window_bits > MAX_BITS)
        return BAD_WINDOW;
    if (!take_size(&reader, &size))
        return BAD_SIZE;
    if (reader.is_exhausted)
        return CUT_SHORT;
    status = unpack_tokens(&reader, window_bits, size, text);
    if (status != FINE)
        return status;
    for (i = 0; i < CHECKSUM_SIZE; i++)
        sum = sum << 8 | reader.end[i];
    return sum == checksum(text) ? FINE : BAD_CHECKSUM;
}

static double percent(size_t part, size_t whole)
{
    return whole == 0 ? 100.0 : 100.0 * part / whole;
}

static int digit_value(int letter)
{
    if (isdigit(letter))
        return letter - '0';
    letter = tolower(letter);
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    return -1;
}

/* Pairs of hexadecimal digits with spaces between them; a # begins a comment. */
static enum status read_hex(const struct buffer *text, struct buffer *out)
{
    size_t i;
    int high = -1, value;

    for (i = 0; i < text->count; i++) {
        if (text->bytes[i] == '#') {
            while (i + 1 < text->count && text->bytes[i + 1] != '\n')
                i++;
            continue;
        }
        if (isspace(text->bytes[i]))
            continue;
        value = digit_value(text->bytes[i]);
        if (value < 0)
            return BAD_DIGIT;
        if (high < 0) {
            high = value;
        } else {
            add_byte(out, high << 4 | value);
            high = -1;
        }
    }
    return high < 0 ? FINE : CUT_SHORT;
}

static void print_hex(const struct buffer *buffer)
{
    size_t i;

    for (i = 0; i < buffer->count; i++) {
        int is_last = (i + 1) % BYTES_A_LINE == 0 || i + 1 == buffer->count;

        printf("%02x%c", buffer->bytes[i], is_last ? '\n' : ' ');
    }
}

static int run_pack(const struct buffer *input, const struct settings *settings)
{
    struct buffer packed = {0};

    pack(input, settings, &packed);
    print_hex(&packed);
    printf("# %zu bytes of %zu, %.1f %%\n", packed.count, input->count, percent(packed.count, input->count));
    free_buffer(&packed);
    return 0;
}

static int run_unpack(const struct buffer *input, const struct settings *settings)
{
    struct buffer packed = {0}, text = {0};
    enum status status = read_hex(input, &packed);
    size_t i;

    (void)settings;
    if (status == FINE)
        status = unpack(&packed, &text);
    for (i = 0; i < text.count; i++)
        print_byte(text.bytes[i]);
    if (text.count > 0 && text.bytes[text.count - 1] != '\n')
        printf("\n");
    printf("# %zu bytes from %zu: %s\n", text.count, packed.count, status_names[status]);
    free_buffer(&packed);
    free_buffer(&text);
    return status != FINE;
}

static int run_tokens(const struct buffer *input, const struct settings *settings)
{
    struct tally tally = {0};

    scan(input, settings, list_token, &tally);
    printf("%zu literals, %zu matches", tally.literals, tally.matches);
    if (tally.matches > 0)
        printf(" of %.2f bytes, at most %zu", (double)tally.covered / tally.matches, tally.longest);
    printf("\n");
    return 0;
}

/* One line of the check: does the text come back, and how small did it get? */
static int check_window(const struct buffer *input, const struct settings *settings, size_t *packed_size)
{
    struct buffer packed = {0}, text = {0};
    struct tally tally = {0};
    enum status status;
    int is_same;

    scan(input, settings, count_token, &tally);
    pack(input, settings, &packed);
    status = unpack(&packed, &text);
    is_same = text.count == input->count
              && (text.count == 0 || memcmp(text.bytes, input->bytes, text.count) == 0);
    printf("%6u %5zu %5zu %5zu %5zu %6.1f  %s\n", 1u << settings->window_bits, tally.literals, tally.matches,
           tally.longest, packed.count, percent(packed.count, input->count),
           status != FINE ? status_names[status] : is_same ? "same" : "different");
    *packed_size = packed.count;
    free_buffer(&packed);
    free_buffer(&text);
    return status == FINE && is_same;
}

static int run_check(const struct buffer *input, const struct settings *settings)
{
    struct settings trial = *settings;
    unsigned best_bits = MIN_BITS;
    size_t size, best = NOWHERE;
    int failures = 0;

    printf("%zu bytes, checksum %08x\n", input->count, (unsigned)checksum(input));
    printf("window  lits  refs  long bytes      %%\n");
    for (trial.window_bits = MIN_BITS; trial.window_bits <= MAX_BITS; trial.window_bits += 2) {
        if (!check_window(input, &trial, &size))
            failures++;
        if (size < best) {
            best = size;
            best_bits = trial.window_bits;
        }
    }
    printf("best with -w %u: %zu bytes%s\n", best_bits, best, best < input->count ? "" : ", not worth it");
    return failures > 0;
}

static int parse_number(const char *word, unsigned low, unsigned high, unsigned *number)
{
    char *end;
    unsigned long value;

    if (word == NULL || !isdigit((unsigned char)*word))
        return 0;
    value = strtoul(word, &end, 10);
    if (*end != '\0' || value < low || value > high)
        return 0;
    *number = value;
    return 1;
}

struct command {
    const char *name;
    int (*run)(const struct buffer *input, const struct settings *settings);
};

static const struct command commands[] = {
    {"pack", run_pack},
    {"unpack", run_unpack},
    {"tokens", run_tokens},
    {"check", run_check},
};

static const struct command *find_command(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* The options; the command is what is left. */
static const struct command *parse_arguments(char **arguments, struct settings *settings)
{
    for (; *arguments != NULL && **arguments == '-'; arguments++) {
        if (strcmp(*arguments, "-g") == 0) {
            settings->is_greedy = 1;
        } else if (strcmp(*arguments, "-w") == 0) {
            if (!parse_number(*++arguments, MIN_BITS, MAX_BITS, &settings->window_bits))
                return NULL;
        } else if (strcmp(*arguments, "-d") == 0) {
            if (!parse_number(*++arguments, 1, MAX_DEPTH, &settings->depth))
                return NULL;
        } else {
            return NULL;
        }
    }
    if (*arguments == NULL || arguments[1] != NULL)
        return NULL;
    return find_command(*arguments);
}

int main(int argc, char **argv)
{
    struct settings settings = {DEFAULT_BITS, DEFAULT_DEPTH, 0};
    struct buffer input = {0};
    const struct command *command;
    int status;

    command = argc > 1 ? parse_arguments(argv + 1, &settings) : NULL;
    if (command == NULL) {
        printf("usage: squeeze [-w %d-%d] [-d 1-%d] [-g] pack|unpack|tokens|check\n", MIN_BITS, MAX_BITS,
               MAX_DEPTH);
        return 2;
    }
    read_all(stdin, &input);
    status = command->run(&input, &settings);
    free_buffer(&input);
    return status;
}
