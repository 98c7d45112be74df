/* Formats text on standard input: paragraphs [-s] [-w WIDTH] [-l LENGTH]
 *
 * Words are filled into lines of the same width. A line that begins with a dot is a command:
 *     .fill .nofill .justify .ragged .break
 *     .width N            of a line
 *     .indent N           .once N does so for the next line only
 *     .centre [N]         the next line, or that many
 *     .space [N]          blank lines
 *     .number [N]         the lines from now on, from N; no longer, if it is 0
 *     .length N           of a page; 0 for no pages
 *     .page [N]           begins another page, with that number
 *     .need [N]           the same, unless so many lines are left on this one
 *     .header LEFT|MIDDLE|RIGHT    .footer likewise; % is the number of the page
 *     .include FILE
 * A number with a sign is added to what it was. -s adds a summary.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUT 160
#define MIN_WIDTH 16
#define MAX_WIDTH 72
#define MIN_TEXT 8
#define MIN_LENGTH 8
#define MAX_LENGTH 66
#define MAX_TITLE 60
#define MAX_NUMBER 999
#define MAX_DEPTH 3
#define MAX_COMPLAINTS 8
#define NONE (-1)

struct command {
    const char *name;
    void (*run)(const char *argument);
    int breaks;
};

static int width = 32, indent, once = NONE;
static int is_filling = 1, is_justifying = 1;
static int lines_to_centre;
static int line_number = NONE;

static int page_length, page_number = 1, lines_on_page, is_page_open;
static char header[MAX_TITLE + 1], footer[MAX_TITLE + 1];

/* The line that is being filled. */
static char line[MAX_WIDTH + 1], *line_end = line;
static int is_left_wide;

static int words, lines, pages, blanks_added;

static const char *source_name = "input";
static int source_line, include_depth;
static char complaints[MAX_COMPLAINTS][MAX_INPUT];
static int complaint_count;

static void complain(const char *message, const char *what)
{
    if (complaint_count < MAX_COMPLAINTS)
        snprintf(complaints[complaint_count], MAX_INPUT, "%.20s:%d: %s %.40s", source_name, source_line, message,
                 what);
    complaint_count++;
}

static int left_margin(void)
{
    return once == NONE ? indent : once;
}

static int room(void)
{
    return width - left_margin();
}

static int lines_of_title(const char *title)
{
    return *title == '\0' ? 0 : 2;
}

static int last_text_line(void)
{
    return page_length - lines_of_title(footer);
}

static void end_line(void)
{
    putchar('\n');
    lines_on_page++;
}

/* One of the parts of a title, up to the next |, with the number of the page in it. */
static const char *take_part(const char *title, char *part)
{
    char *to = part, *end = part + MAX_WIDTH;
    char number[12];

    for (; *title != '\0' && *title != '|'; title++) {
        const char *from = title;
        int length = 1;

        if (*title == '%') {
            length = sprintf(number, "%d", page_number);
            from = number;
        }
        while (length-- > 0 && to < end)
            *to++ = *from++;
    }
    *to = '\0';
    return *title == '|' ? title + 1 : title;
}

static void put_title(const char *title)
{
    char text[MAX_WIDTH + 1], part[MAX_WIDTH + 1];
    int i, length, at, end = 0;

    memset(text, ' ', sizeof text);
    for (i = 0; i < 3; i++) {
        title = take_part(title, part);
        length = (int)strlen(part);
        if (length > width)
            length = width;
        if (length == 0)
            continue;
        at = i * (width - length) / 2;
        memcpy(text + at, part, length);
        if (at + length > end)
            end = at + length;
    }
    printf("%.*s", end, text);
    end_line();
}

static void open_page(void)
{
    if (pages > 0)
        putchar('\f');
    is_page_open = 1;
    lines_on_page = 0;
    pages++;
    if (*header != '\0') {
        put_title(header);
        end_line();
    }
}

static void close_page(void)
{
    if (!is_page_open)
        return;
    if (*footer != '\0') {
        while (lines_on_page < last_text_line())
            end_line();
        end_line();
        put_title(footer);
    }
    page_number++;
    is_page_open = 0;
}

static void close_page_if_full(void)
{
    if (page_length > 0 && lines_on_page >= last_text_line())
        close_page();
}

static void put_line(const char *text, int length, int left)
{
    if (!is_page_open)
        open_page();
    if (line_number != NONE)
        printf("%3d ", line_number++);
    printf("%*s%.*s", left, "", length, text);
    end_line();
    lines++;
    once = NONE;
    close_page_if_full();
}

/* There are none at the top of a page. */
static void put_blank_lines(int count)
{
    while (count-- > 0 && is_page_open) {
        end_line();
        close_page_if_full();
    }
}

static int count_gaps(void)
{
    const char *at;
    int gaps = 0;

    for (at = line; at < line_end; at++)
        if (at[0] == ' ' && at[1] != ' ')
            gaps++;
    return gaps;
}

/* How many of the blanks go into one of the gaps, so that they are spread evenly. */
static int share(int blanks, int gap, int gaps)
{
    return (gap + 1) * blanks / gaps - gap * blanks / gaps;
}

/* Makes the line as wide as there is room, from its end; the wide gaps are at the left and at the right by turns. */
static void spread(void)
{
    int gaps = count_gaps(), gap = 0;
    int blanks = room() - (int)(line_end - line);
    char *from = line_end, *to = line_end + blanks;
    int more;

    is_left_wide = !is_left_wide;
    if (gaps == 0 || blanks == 0)
        return;
    blanks_added += blanks;
    line_end = to;
    while (to > from) {
        *to-- = *from--;
        if (from[1] != ' ' || from[0] == ' ')
            continue;
        more = share(blanks, is_left_wide ? gap : gaps - 1 - gap, gaps);
        gap++;
        while (more-- > 0)
            *to-- = ' ';
    }
}

static void flush_line(int is_full)
{
    if (line_end == line)
        return;
    if (is_full && is_justifying)
        spread();
    put_line(line, (int)(line_end - line), left_margin());
    line_end = line;
    *line_end = '\0';
}

static void break_line(void)
{
    flush_line(0);
    once = NONE;
}

static int ends_sentence(char character)
{
    return character == '.' || character == '!' || character == '?';
}

static void append(const char *text, int length)
{
    memcpy(line_end, text, length);
    line_end += length;
    *line_end = '\0';
}

/* A word that is longer than a line is divided. */
static void add_word(const char *word, int length)
{
    int blanks = 0;

    if (line_end > line)
        blanks = ends_sentence(line_end[-1]) ? 2 : 1;
    if (line_end - line + blanks + length > room()) {
        flush_line(1);
        blanks = 0;
    }
    if (length > room()) {
        int first = room() - 1;

        append(word, first);
        append("-", 1);
        add_word(word + first, length - first);
        return;
    }
    append("  ", blanks);
    append(word, length);
}

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

static const char *skip_word(const char *text)
{
    while (*text != '\0' && *text != ' ' && *text != '\t')
        text++;
    return text;
}

static void fill(const char *text)
{
    const char *word = skip_blanks(text), *end;

    if (word > text) {
        break_line();
        once = indent + (int)(word - text);
        if (once > width - MIN_TEXT)
            once = width - MIN_TEXT;
    }
    while (*word != '\0') {
        end = skip_word(word);
        add_word(word, (int)(end - word));
        words++;
        word = skip_blanks(end);
    }
}

static void centre(const char *text)
{
    const char *start = skip_blanks(text);
    int length = (int)strlen(start), left;

    while (length > 0 && start[length - 1] == ' ')
        length--;
    left = (room() - length) / 2;
    put_line(start, length, left_margin() + (left > 0 ? left : 0));
    lines_to_centre--;
}

static void add_text(const char *text)
{
    if (lines_to_centre > 0) {
        centre(text);
    } else if (*skip_blanks(text) == '\0') {
        break_line();
        put_blank_lines(1);
    } else if (is_filling) {
        fill(text);
    } else {
        put_line(text, (int)strlen(text), left_margin());
    }
}

/* The number that a command is given, within limits; what it was if there is something wrong with it. */
static int number(const char *argument, int before, int least, int most)
{
    char *end;
    long value = strtol(argument, &end, 10);

    if (end == argument || *skip_blanks(end) != '\0') {
        complain("bad number", argument);
        return before;
    }
    if ((*argument == '+' || *argument == '-') && value >= -MAX_NUMBER && value <= MAX_NUMBER)
        value += before;
    if (value < least || value > most) {
        complain("out of range:", argument);
        return before;
    }
    return (int)value;
}

static int number_or_one(const char *argument, int most)
{
    return *argument == '\0' ? 1 : number(argument, 0, 0, most);
}

static void run_fill(const char *argument)
{
    (void)argument;
    is_filling = 1;
}

static void run_nofill(const char *argument)
{
    (void)argument;
    is_filling = 0;
}

static void run_justify(const char *argument)
{
    (void)argument;
    is_justifying = 1;
}

static void run_ragged(const char *argument)
{
    (void)argument;
    is_justifying = 0;
}

static void run_break(const char *argument)
{
    (void)argument;
}

static void run_width(const char *argument)
{
    int least = indent + MIN_TEXT;

    width = number(argument, width, least > MIN_WIDTH ? least : MIN_WIDTH, MAX_WIDTH);
}

static void run_indent(const char *argument)
{
    indent = number(argument, indent, 0, width - MIN_TEXT);
}

static void run_once(const char *argument)
{
    once = number(argument, indent, 0, width - MIN_TEXT);
}

static void run_centre(const char *argument)
{
    lines_to_centre = number_or_one(argument, MAX_LENGTH);
}

static void run_space(const char *argument)
{
    put_blank_lines(number_or_one(argument, MAX_LENGTH));
}

static void run_need(const char *argument)
{
    int needed = number_or_one(argument, MAX_LENGTH);

    if (page_length > 0 && lines_on_page + needed > last_text_line())
        close_page();
}

static void run_page(const char *argument)
{
    close_page();
    if (*argument != '\0')
        page_number = number(argument, page_number, 1, MAX_NUMBER);
}

static void run_length(const char *argument)
{
    close_page();
    page_length = number(argument, page_length, 0, MAX_LENGTH);
    if (page_length > 0 && page_length < MIN_LENGTH)
        page_length = MIN_LENGTH;
}

static void set_title(char *title, const char *text)
{
    *title = '\0';
    strncat(title, text, MAX_TITLE);
    if (strlen(text) > MAX_TITLE)
        complain("cut off:", text);
}

static void run_header(const char *argument)
{
    set_title(header, argument);
}

static void run_footer(const char *argument)
{
    set_title(footer, argument);
}

static void run_number(const char *argument)
{
    int first = number_or_one(argument, MAX_NUMBER);

    line_number = first > 0 ? first : NONE;
}

static void format(FILE *source);

static void run_include(const char *argument)
{
    const char *outer_name = source_name;
    int outer_line = source_line;
    FILE *source;

    if (include_depth == MAX_DEPTH) {
        complain("too deep:", argument);
        return;
    }
    source = fopen(argument, "r");
    if (source == NULL) {
        complain("cannot be read:", argument);
        return;
    }
    include_depth++;
    source_name = argument;
    format(source);
    source_name = outer_name;
    source_line = outer_line;
    include_depth--;
    fclose(source);
}

static const struct command commands[] = {
    {"fill", run_fill, 1},
    {"nofill", run_nofill, 1},
    {"justify", run_justify, 1},
    {"ragged", run_ragged, 1},
    {"break", run_break, 1},
    {"width", run_width, 1},
    {"indent", run_indent, 1},
    {"once", run_once, 1},
    {"centre", run_centre, 1},
    {"space", run_space, 1},
    {"need", run_need, 1},
    {"page", run_page, 1},
    {"length", run_length, 1},
    {"header", run_header, 0},
    {"footer", run_footer, 0},
    {"number", run_number, 1},
    {"include", run_include, 0},
};

/* After the dot. */
static void run_command(const char *text)
{
    const char *end = skip_word(text);
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        size_t length = strlen(commands[i].name);

        if (length != (size_t)(end - text) || memcmp(commands[i].name, text, length) != 0)
            continue;
        if (commands[i].breaks)
            break_line();
        commands[i].run(skip_blanks(end));
        return;
    }
    complain("unknown command", text);
}

/* Reads a line without its end; one that is too long is cut off. */
static int read_line(FILE *source, char *text)
{
    int length = 0, is_cut = 0;
    int character;

    while ((character = getc(source)) != EOF && character != '\n') {
        if (length == MAX_INPUT - 1)
            is_cut = 1;
        else if (character != '\0')
            text[length++] = (char)character;
    }
    text[length] = '\0';
    source_line++;
    if (is_cut)
        complain("line is too long:", text);
    return character != EOF || length > 0;
}

static void format(FILE *source)
{
    char text[MAX_INPUT];

    source_line = 0;
    while (read_line(source, text)) {
        if (*text == '.')
            run_command(text + 1);
        else
            add_text(text);
    }
}

static void print_complaints(void)
{
    int i;

    for (i = 0; i < complaint_count && i < MAX_COMPLAINTS; i++)
        printf("%s\n", complaints[i]);
    if (complaint_count > MAX_COMPLAINTS)
        printf("and %d more\n", complaint_count - MAX_COMPLAINTS);
}

static int usage(void)
{
    printf("usage: paragraphs [-s] [-w WIDTH] [-l LENGTH]\n");
    return 2;
}

int main(int argc, char **argv)
{
    int with_summary = 0;
    int i;

    source_name = "arguments";
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-s") == 0)
            with_summary = 1;
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            run_width(argv[++i]);
        else if (strcmp(argv[i], "-l") == 0 && i + 1 < argc)
            run_length(argv[++i]);
        else
            return usage();
    }
    source_name = "input";
    format(stdin);
    break_line();
    close_page();
    if (with_summary)
        printf("%d words, %d lines, %d pages, %d blanks added\n", words, lines, pages, blanks_added);
    print_complaints();
    return complaint_count > 0;
}
