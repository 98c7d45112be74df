/* A queue of jobs that is kept in a file: jobs [-f FILE] [COMMAND [then COMMAND]...]
 *
 *     add NAME [PRIORITY [ID,ID...]]   a job, after others if there are IDs
 *     take [COUNT]                     starts what is most urgent
 *     done ID, fail ID                 ends a job that runs
 *     retry [ID]                       lets failed jobs run again
 *     drop ID                          forgets a job
 *     list [STATE], plan, why ID       show the queue, the order to come, what a job waits for
 *
 * Without a command they are read from standard input, one a line. A job is as urgent as the most urgent
 * one that waits for it. Each line of the file is a job:
 *
 *     ID STATE PRIORITY TRIES AFTER NAME
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "jobs.txt"
#define MAX_LINE 120
#define MAX_NAME 20
#define MAX_WORDS 8
#define MAX_JOBS 16
#define MAX_ID 999
#define MAX_PRIORITY 9
#define DEFAULT_PRIORITY 5
#define MAX_TRIES 3

enum state { WAITING, RUNNING, DONE, FAILED, STATES };

static const char *const state_names[STATES] = {"waiting", "running", "done", "failed"};

struct job {
    int id;
    enum state state;
    int priority, tries;
    int *after;
    int after_count;
    enum { UNSEEN, OPEN, CLOSED } mark;
    char name[MAX_NAME + 1];
    struct job *next;
};

/* Jobs are linked in the order of their numbers. */
struct queue {
    struct job *first;
    int count;
    int is_changed;
};

struct command {
    const char *name;
    int most_words;
    int (*run)(struct queue *queue, char **words);
};

static int error(const char *what, const char *word)
{
    printf("error: %s: %s\n", what, word);
    return 0;
}

static int parse_number(const char *word, int low, int high, int *number)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)word[0]))
        return 0;
    value = strtol(word, &end, 10);
    if (*end != '\0' || value < low || value > high)
        return 0;
    *number = value;
    return 1;
}

static enum state parse_state(const char *word)
{
    int state;

    for (state = 0; state < STATES; state++)
        if (strcmp(state_names[state], word) == 0)
            break;
    return state;
}

static int is_name(const char *word)
{
    const char *end = word;

    while (islower((unsigned char)*end) || isdigit((unsigned char)*end) || *end == '-')
        end++;
    return *end == '\0' && end > word && end - word <= MAX_NAME;
}

static struct job *find_job(const struct queue *queue, int id)
{
    struct job *job;

    for (job = queue->first; job != NULL && job->id <= id; job = job->next)
        if (job->id == id)
            return job;
    return NULL;
}

static void free_job(struct job *job)
{
    free(job->after);
    free(job);
}

/* Puts a job in its place; false if the number is taken or there are too many. */
static int insert_job(struct queue *queue, struct job *job)
{
    struct job **link = &queue->first;

    while (*link != NULL && (*link)->id < job->id)
        link = &(*link)->next;
    if (queue->count == MAX_JOBS || (*link != NULL && (*link)->id == job->id))
        return 0;
    job->next = *link;
    *link = job;
    queue->count++;
    return 1;
}

static struct job *new_job(const char *name)
{
    struct job *job = calloc(1, sizeof *job);

    if (job == NULL)
        abort();
    strcpy(job->name, name);
    return job;
}

static void add_after(struct job *job, int id)
{
    int *grown = realloc(job->after, (job->after_count + 1) * sizeof *grown);

    if (grown == NULL)
        abort();
    job->after = grown;
    job->after[job->after_count++] = id;
}

static int waits_for(const struct job *job, int id)
{
    int i;

    for (i = 0; i < job->after_count; i++)
        if (job->after[i] == id)
            return 1;
    return 0;
}

/* Numbers with commas between them, or a dash for none. */
static int parse_after(struct job *job, const char *list)
{
    char *end;
    long id;

    if (strcmp(list, "-") == 0)
        return 1;
    for (;; list = end + 1) {
        if (!isdigit((unsigned char)*list))
            return 0;
        id = strtol(list, &end, 10);
        if (id < 1 || id > MAX_ID || (*end != ',' && *end != '\0'))
            return 0;
        if (!waits_for(job, id))
            add_after(job, id);
        if (*end == '\0')
            return 1;
    }
}

static int split(char *line, char **words)
{
    int count = 0;
    char *word;

    for (word = strtok(line, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n"))
        if (count < MAX_WORDS)
            words[count++] = word;
    words[count] = NULL;
    return count;
}

/* Takes a job from a line of the file; the answer is what is wrong with it, or NULL. */
static const char *load_job(struct queue *queue, char **words)
{
    struct job *job;
    const char *problem = NULL;
    int most_tries;

    if (!is_name(words[5]))
        return "bad name";
    job = new_job(words[5]);
    job->state = parse_state(words[1]);
    most_tries = job->state == WAITING ? MAX_TRIES - 1 : MAX_TRIES;
    if (!parse_number(words[0], 1, MAX_ID, &job->id))
        problem = "bad number";
    else if (job->state == STATES)
        problem = "unknown state";
    else if (!parse_number(words[2], 0, MAX_PRIORITY, &job->priority))
        problem = "bad priority";
    else if (!parse_number(words[3], 0, most_tries, &job->tries))
        problem = "bad number of tries";
    else if (!parse_after(job, words[4]))
        problem = "bad list of jobs";
    else if (!insert_job(queue, job))
        problem = "too many jobs, or one of that number";
    if (problem != NULL)
        free_job(job);
    return problem;
}

/* Does a job wait for itself, in the end? Jobs that are on the way are open. */
static int is_circular(const struct queue *queue, struct job *job)
{
    int i;

    if (job->mark != UNSEEN)
        return job->mark == OPEN;
    job->mark = OPEN;
    for (i = 0; i < job->after_count; i++) {
        struct job *other = find_job(queue, job->after[i]);

        if (other != NULL && is_circular(queue, other))
            return 1;
    }
    job->mark = CLOSED;
    return 0;
}

static int check_order(const struct queue *queue)
{
    struct job *job;
    int i;

    for (job = queue->first; job != NULL; job = job->next) {
        for (i = 0; i < job->after_count; i++)
            if (find_job(queue, job->after[i]) == NULL)
                return error("waits for a job that does not exist", job->name);
        if (is_circular(queue, job))
            return error("waits for itself", job->name);
    }
    return 1;
}

/* A file that does not exist is an empty queue. */
static int load(struct queue *queue, const char *path)
{
    char line[MAX_LINE];
    char *words[MAX_WORDS + 1];
    const char *problem = NULL;
    int number = 0;
    FILE *file = fopen(path, "r");

    if (file == NULL)
        return 1;
    while (problem == NULL && fgets(line, sizeof line, file) != NULL) {
        int count = split(line, words);

        number++;
        if (count == 0 || words[0][0] == '#')
            continue;
        problem = count == 6 ? load_job(queue, words) : "not six words";
    }
    fclose(file);
    if (problem != NULL) {
        printf("%s:%d: %s\n", path, number, problem);
        return 0;
    }
    return check_order(queue);
}

static void write_job(FILE *file, const struct job *job)
{
    int i;

    fprintf(file, "%d %s %d %d ", job->id, state_names[job->state], job->priority, job->tries);
    for (i = 0; i < job->after_count; i++)
        fprintf(file, "%s%d", i > 0 ? "," : "", job->after[i]);
    fprintf(file, "%s %s\n", job->after_count == 0 ? "-" : "", job->name);
}

static int save(const struct queue *queue, const char *path)
{
    FILE *file = fopen(path, "w");
    const struct job *job;

    if (file == NULL)
        return error("cannot be written", path);
    for (job = queue->first; job != NULL; job = job->next)
        write_job(file, job);
    if (fclose(file) != 0)
        return error("cannot be written", path);
    return 1;
}

static int show_file(const char *path)
{
    char line[MAX_LINE];
    FILE *file = fopen(path, "r");

    if (file == NULL)
        return error("cannot be read", path);
    printf("%s:\n", path);
    while (fgets(line, sizeof line, file) != NULL)
        printf("  %s", line);
    fclose(file);
    return 1;
}

/* How many of the jobs before it are not done yet? */
static int blocker_count(const struct queue *queue, const struct job *job)
{
    int i, count = 0;

    for (i = 0; i < job->after_count; i++)
        if (find_job(queue, job->after[i])->state != DONE)
            count++;
    return count;
}

static int urgency(const struct queue *queue, const struct job *job)
{
    const struct job *other;
    int most = job->priority;

    for (other = queue->first; other != NULL; other = other->next) {
        if (other->state == WAITING && waits_for(other, job->id)) {
            int theirs = urgency(queue, other);

            if (theirs > most)
                most = theirs;
        }
    }
    return most;
}

/* Of the jobs that could run now the most urgent, of those the oldest. */
static struct job *next_job(const struct queue *queue)
{
    struct job *job, *best = NULL;

    for (job = queue->first; job != NULL; job = job->next) {
        if (job->state != WAITING || blocker_count(queue, job) > 0)
            continue;
        if (best == NULL || urgency(queue, job) > urgency(queue, best))
            best = job;
    }
    return best;
}

static void set_state(struct queue *queue, struct job *job, enum state state)
{
    printf("%d %s: %s, was %s\n", job->id, job->name, state_names[state], state_names[job->state]);
    job->state = state;
    queue->is_changed = 1;
}

/* The job that a word names, if it is in that state; STATES is any. */
static struct job *get_job(const struct queue *queue, const char *word, enum state state)
{
    struct job *job = NULL;
    int id;

    if (word == NULL)
        error("which job", "a number is missing");
    else if (!parse_number(word, 1, MAX_ID, &id) || (job = find_job(queue, id)) == NULL)
        error("no such job", word);
    else if (state != STATES && job->state != state)
        error(state == RUNNING ? "does not run" : "did not fail", job->name);
    else
        return job;
    return NULL;
}

static int last_id(const struct queue *queue)
{
    const struct job *job = queue->first;

    while (job != NULL && job->next != NULL)
        job = job->next;
    return job == NULL ? 0 : job->id;
}

static int run_add(struct queue *queue, char **words)
{
    struct job *job;
    const char *problem = NULL;
    int i;

    if (words[0] == NULL || !is_name(words[0]))
        return error("bad name", words[0] == NULL ? "" : words[0]);
    job = new_job(words[0]);
    job->id = last_id(queue) + 1;
    job->priority = DEFAULT_PRIORITY;
    if (words[1] != NULL && !parse_number(words[1], 0, MAX_PRIORITY, &job->priority))
        problem = "bad priority";
    else if (words[1] != NULL && words[2] != NULL && !parse_after(job, words[2]))
        problem = "bad list of jobs";
    for (i = 0; i < job->after_count && problem == NULL; i++)
        if (find_job(queue, job->after[i]) == NULL)
            problem = "waits for a job that does not exist";
    if (problem == NULL && (job->id > MAX_ID || !insert_job(queue, job)))
        problem = "too many jobs";
    if (problem != NULL) {
        error(problem, job->name);
        free_job(job);
        return 0;
    }
    printf("%d %s: added, urgency %d, %d before it\n", job->id, job->name, urgency(queue, job),
           blocker_count(queue, job));
    queue->is_changed = 1;
    return 1;
}

static int run_take(struct queue *queue, char **words)
{
    struct job *job;
    int count = 1;

    if (words[0] != NULL && !parse_number(words[0], 1, MAX_JOBS, &count))
        return error("bad count", words[0]);
    for (; count > 0; count--) {
        job = next_job(queue);
        if (job == NULL)
            return error("nothing is ready", "take");
        job->tries++;
        set_state(queue, job, RUNNING);
    }
    return 1;
}

static int run_done(struct queue *queue, char **words)
{
    struct job *job = get_job(queue, words[0], RUNNING);
    const struct job *other;

    if (job == NULL)
        return 0;
    set_state(queue, job, DONE);
    for (other = queue->first; other != NULL; other = other->next)
        if (other->state == WAITING && waits_for(other, job->id) && blocker_count(queue, other) == 0)
            printf("  %d %s is ready\n", other->id, other->name);
    return 1;
}

static int run_fail(struct queue *queue, char **words)
{
    struct job *job = get_job(queue, words[0], RUNNING);

    if (job == NULL)
        return 0;
    set_state(queue, job, FAILED);
    printf("  %d tries left\n", MAX_TRIES - job->tries);
    return 1;
}

/* A job that was tried often enough stays failed; each new try is less urgent. */
static int retry_job(struct queue *queue, struct job *job)
{
    if (job->tries >= MAX_TRIES)
        return error("tried too often", job->name);
    if (job->priority > 0)
        job->priority--;
    set_state(queue, job, WAITING);
    return 1;
}

static int run_retry(struct queue *queue, char **words)
{
    struct job *job;
    int is_fine = 1;

    if (words[0] != NULL) {
        job = get_job(queue, words[0], FAILED);
        return job != NULL && retry_job(queue, job);
    }
    for (job = queue->first; job != NULL; job = job->next)
        if (job->state == FAILED && !retry_job(queue, job))
            is_fine = 0;
    return is_fine;
}

static int run_drop(struct queue *queue, char **words)
{
    struct job *job = get_job(queue, words[0], STATES);
    struct job **link;
    const struct job *other;

    if (job == NULL)
        return 0;
    for (other = queue->first; other != NULL; other = other->next)
        if (waits_for(other, job->id))
            return error("is needed by", other->name);
    for (link = &queue->first; *link != job; link = &(*link)->next)
        ;
    *link = job->next;
    queue->count--;
    queue->is_changed = 1;
    printf("%d %s: dropped\n", job->id, job->name);
    free_job(job);
    return 1;
}

static int run_list(struct queue *queue, char **words)
{
    const struct job *job;
    enum state wanted = STATES;
    int counts[STATES] = {0};
    int state;

    if (words[0] != NULL && (wanted = parse_state(words[0])) == STATES)
        return error("unknown state", words[0]);
    for (job = queue->first; job != NULL; job = job->next) {
        counts[job->state]++;
        if (wanted != STATES && job->state != wanted)
            continue;
        printf("%3d %-*s %-7s %d/%d tries %d", job->id, MAX_NAME, job->name, state_names[job->state],
               job->priority, urgency(queue, job), job->tries);
        if (job->state == WAITING)
            printf(", %d before it", blocker_count(queue, job));
        printf("\n");
    }
    for (state = 0; state < STATES; state++)
        printf("%s%d %s", state > 0 ? ", " : "", counts[state], state_names[state]);
    printf("\n");
    return 1;
}

/* The order in which jobs would be taken if nothing failed any more. Their states are put back then. */
static int run_plan(struct queue *queue, char **words)
{
    enum state states[MAX_JOBS];
    struct job *job;
    int step = 0, i = 0;

    (void)words;
    for (job = queue->first; job != NULL; job = job->next) {
        states[i++] = job->state;
        if (job->state == RUNNING)
            job->state = DONE;
    }
    while ((job = next_job(queue)) != NULL) {
        printf("%2d. %s\n", ++step, job->name);
        job->state = DONE;
    }
    i = 0;
    for (job = queue->first; job != NULL; job = job->next) {
        if (job->state == WAITING)
            printf("  - %s\n", job->name);
        job->state = states[i++];
    }
    return 1;
}

/* Prints a job and below it what it waits for, each once; the answer is how many there are. */
static int explain(const struct queue *queue, struct job *job, int depth)
{
    int i, total = 1;

    printf("%*s%d %s: %s", depth * 2, "", job->id, job->name, state_names[job->state]);
    if (job->mark == CLOSED) {
        printf(", see above\n");
        return 0;
    }
    if (job->state == WAITING && blocker_count(queue, job) == 0)
        printf(", ready");
    printf("\n");
    job->mark = CLOSED;
    for (i = 0; i < job->after_count; i++) {
        struct job *other = find_job(queue, job->after[i]);

        if (other->state != DONE)
            total += explain(queue, other, depth + 1);
    }
    return total;
}

static int run_why(struct queue *queue, char **words)
{
    struct job *job = get_job(queue, words[0], STATES);
    struct job *other;

    if (job == NULL)
        return 0;
    for (other = queue->first; other != NULL; other = other->next)
        other->mark = UNSEEN;
    printf("%d jobs to wait for\n", explain(queue, job, 0) - 1);
    return 1;
}

static const struct command commands[] = {
    {"add", 3, run_add},
    {"take", 1, run_take},
    {"done", 1, run_done},
    {"fail", 1, run_fail},
    {"retry", 1, run_retry},
    {"drop", 1, run_drop},
    {"list", 1, run_list},
    {"plan", 0, run_plan},
    {"why", 1, run_why},
};

static int run_command(struct queue *queue, char **words, int count)
{
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, words[0]) != 0)
            continue;
        if (count - 1 > commands[i].most_words)
            return error("too many words", words[0]);
        return commands[i].run(queue, words + 1);
    }
    return error("unknown command", words[0]);
}

/* Runs the commands between each `then`; the answer is how many went wrong. */
static int run_arguments(struct queue *queue, char **arguments)
{
    char *words[MAX_WORDS + 1];
    int errors = 0;

    while (*arguments != NULL) {
        int count = 0;

        for (; *arguments != NULL && strcmp(*arguments, "then") != 0; arguments++)
            if (count < MAX_WORDS)
                words[count++] = *arguments;
        words[count] = NULL;
        if (count > 0 && !run_command(queue, words, count))
            errors++;
        if (*arguments != NULL)
            arguments++;
    }
    return errors;
}

static int run_lines(struct queue *queue, FILE *file)
{
    char line[MAX_LINE];
    char *words[MAX_WORDS + 1];
    int errors = 0;

    while (fgets(line, sizeof line, file) != NULL) {
        int count = split(line, words);

        if (count > 0 && words[0][0] != '#' && !run_command(queue, words, count))
            errors++;
    }
    return errors;
}

static void free_queue(struct queue *queue)
{
    while (queue->first != NULL) {
        struct job *next = queue->first->next;

        free_job(queue->first);
        queue->first = next;
    }
}

int main(int argc, char **argv)
{
    struct queue queue = {NULL, 0, 0};
    const char *path = DEFAULT_FILE;
    char **arguments = argv + 1;
    int errors, is_fine = 0;

    if (argc > 2 && strcmp(argv[1], "-f") == 0) {
        path = argv[2];
        arguments += 2;
    }
    if (load(&queue, path)) {
        errors = *arguments != NULL ? run_arguments(&queue, arguments) : run_lines(&queue, stdin);
        is_fine = errors == 0;
        if (errors > 0)
            printf("%d errors\n", errors);
        if (queue.is_changed)
            is_fine = save(&queue, path) && show_file(path) && is_fine;
    }
    free_queue(&queue);
    return is_fine ? 0 : 1;
}
