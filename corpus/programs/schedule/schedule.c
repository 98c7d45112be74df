/* A scheduler with several priorities, simulated: schedule [-q QUANTUM] [-a AGE] [-b]
 *
 * One command a line; the highest priority is 3, times are in ticks:
 *     new NAME PRIORITY WORK    a job arrives
 *     run TICKS                 time passes
 *     expire                    the running job has used up its quantum
 *     block                     the running job waits for something
 *     unblock NAME              what the job has waited for is there
 *     upgrade NAME PRIORITY
 *     finish NAME               the job ends, whether its work is done or not
 *     state NAME                what is known of a job
 *     show                      the queues, as they are
 * Jobs that are left at the end run until none is ready. -b leaves out what happens to each job.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 100
#define MAX_NAME 11
#define MAX_WORDS 5
#define PRIORITIES 4
#define MAX_TICKS 500
#define DEFAULT_AGE 12
#define LOAD_KEPT 0.875

enum state { READY, RUNNING, BLOCKED, FINISHED };

struct job {
    char name[MAX_NAME + 1];
    enum state state;
    int base_priority;
    int priority;
    int work, done;
    int slice;
    int arrived, first_run, ended;
    int ready_since, waited;
    struct job *next;
};

struct queue {
    struct job *head, *tail;
    int length;
};

struct statistic {
    int count;
    double sum, squares, highest;
};

struct command {
    const char *name;
    int words;
    const char *(*run)(char **words);
};

/* How many quanta a job may run at a stretch: the urgent ones are short. */
static const int stretches[PRIORITIES] = {4, 3, 2, 1};

static const char *const state_names[] = {"ready", "running", "blocked", "finished"};

static struct queue ready[PRIORITIES], blocked, finished;
static struct job *running;
static int now, busy_ticks, switches;
static int quantum = 2, age = DEFAULT_AGE, is_brief;
static double load;

static void append(struct queue *queue, struct job *job)
{
    job->next = NULL;
    if (queue->tail == NULL)
        queue->head = job;
    else
        queue->tail->next = job;
    queue->tail = job;
    queue->length++;
}

static void prepend(struct queue *queue, struct job *job)
{
    job->next = queue->head;
    queue->head = job;
    if (queue->tail == NULL)
        queue->tail = job;
    queue->length++;
}

static void unlink_job(struct queue *queue, struct job *job)
{
    struct job **place = &queue->head;
    struct job *before = NULL;

    while (*place != job) {
        before = *place;
        place = &before->next;
    }
    *place = job->next;
    if (queue->tail == job)
        queue->tail = before;
    queue->length--;
}

static struct job *find_in(const struct queue *queue, const char *name)
{
    struct job *job;

    for (job = queue->head; job != NULL; job = job->next)
        if (strcmp(job->name, name) == 0)
            break;
    return job;
}

/* A job that is not finished yet. */
static struct job *find(const char *name)
{
    struct job *job;
    int i;

    if (running != NULL && strcmp(running->name, name) == 0)
        return running;
    for (i = PRIORITIES - 1; i >= 0; i--) {
        job = find_in(&ready[i], name);
        if (job != NULL)
            return job;
    }
    return find_in(&blocked, name);
}

static void log_event(const struct job *job, const char *event)
{
    if (!is_brief)
        printf("%4d %-9s %s %d\n", now, event, job->name, job->priority);
}

static void make_ready(struct job *job)
{
    job->state = READY;
    job->ready_since = now;
    append(&ready[job->priority], job);
}

static void stop_waiting(struct job *job)
{
    unlink_job(&ready[job->priority], job);
    job->waited += now - job->ready_since;
}

static void preempt(void)
{
    struct job *job = running;

    log_event(job, "preempt");
    job->state = READY;
    job->ready_since = now;
    prepend(&ready[job->priority], job);
    running = NULL;
}

static void start(struct job *job)
{
    stop_waiting(job);
    job->state = RUNNING;
    if (job->first_run < 0)
        job->first_run = now;
    running = job;
    switches++;
    log_event(job, "start");
}

static int highest_ready(void)
{
    int priority = PRIORITIES - 1;

    while (priority >= 0 && ready[priority].length == 0)
        priority--;
    return priority;
}

static void dispatch(void)
{
    int priority = highest_ready();

    if (priority < 0)
        return;
    if (running != NULL) {
        if (priority <= running->priority)
            return;
        preempt();
    }
    start(ready[priority].head);
}

/* A job that was moved up because it was old falls back once it had its turn. */
static struct job *end_turn(const char *reason)
{
    struct job *job = running;

    log_event(job, reason);
    job->slice = 0;
    job->priority = job->base_priority;
    running = NULL;
    return job;
}

static void expire(void)
{
    make_ready(end_turn("expire"));
}

static void finish(struct job *job)
{
    switch (job->state) {
    case READY:
        stop_waiting(job);
        break;
    case RUNNING:
        running = NULL;
        break;
    case BLOCKED:
        unlink_job(&blocked, job);
        break;
    case FINISHED:
        return;
    }
    job->state = FINISHED;
    job->ended = now;
    append(&finished, job);
    log_event(job, "finish");
}

static void move_to_priority(struct job *job, int priority)
{
    stop_waiting(job);
    job->priority = priority;
    make_ready(job);
}

/* Nobody waits for ever: who has waited for long moves up. */
static void age_jobs(void)
{
    struct job *job, *next;
    int priority;

    for (priority = PRIORITIES - 2; priority >= 0; priority--) {
        for (job = ready[priority].head; job != NULL; job = next) {
            next = job->next;
            if (now - job->ready_since < age)
                continue;
            move_to_priority(job, priority + 1);
            log_event(job, "age");
        }
    }
}

static int count_ready(void)
{
    int count = 0;
    int i;

    for (i = 0; i < PRIORITIES; i++)
        count += ready[i].length;
    return count;
}

static void tick(void)
{
    int wanting = count_ready() + (running != NULL);

    load = LOAD_KEPT * load + (1 - LOAD_KEPT) * wanting;
    now++;
    if (running != NULL) {
        busy_ticks++;
        running->done++;
        running->slice++;
        if (running->done >= running->work)
            finish(running);
        else if (running->slice >= quantum * stretches[running->priority])
            expire();
    }
    age_jobs();
    dispatch();
}

static int parse_number(const char *text, int least, int most, int *number)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < least || value > most)
        return 0;
    *number = (int)value;
    return 1;
}

static const char *command_new(char **words)
{
    struct job *job;
    int priority, work;

    if (strlen(words[1]) > MAX_NAME)
        return "name is too long";
    if (find(words[1]) != NULL)
        return "name is taken";
    if (!parse_number(words[2], 0, PRIORITIES - 1, &priority))
        return "bad priority";
    if (!parse_number(words[3], 1, MAX_TICKS, &work))
        return "bad amount of work";
    job = calloc(1, sizeof *job);
    if (job == NULL)
        abort();
    strcpy(job->name, words[1]);
    job->base_priority = job->priority = priority;
    job->work = work;
    job->arrived = now;
    job->first_run = -1;
    log_event(job, "new");
    make_ready(job);
    dispatch();
    return NULL;
}

static const char *command_run(char **words)
{
    int ticks;

    if (!parse_number(words[1], 1, MAX_TICKS, &ticks))
        return "bad number of ticks";
    while (ticks-- > 0)
        tick();
    return NULL;
}

static const char *command_expire(char **words)
{
    (void)words;
    if (running == NULL)
        return "nothing runs";
    expire();
    dispatch();
    return NULL;
}

static const char *command_block(char **words)
{
    struct job *job;

    (void)words;
    if (running == NULL)
        return "nothing runs";
    job = end_turn("block");
    job->state = BLOCKED;
    append(&blocked, job);
    dispatch();
    return NULL;
}

static const char *command_unblock(char **words)
{
    struct job *job = find_in(&blocked, words[1]);

    if (job == NULL)
        return "no such job is blocked";
    unlink_job(&blocked, job);
    log_event(job, "unblock");
    make_ready(job);
    dispatch();
    return NULL;
}

static const char *command_upgrade(char **words)
{
    struct job *job = find(words[1]);
    int priority;

    if (job == NULL)
        return "no such job";
    if (!parse_number(words[2], 0, PRIORITIES - 1, &priority))
        return "bad priority";
    if (priority <= job->base_priority)
        return "that is no upgrade";
    job->base_priority = priority;
    if (priority <= job->priority)
        return NULL;
    if (job->state == READY)
        move_to_priority(job, priority);
    else
        job->priority = priority;
    log_event(job, "upgrade");
    dispatch();
    return NULL;
}

static const char *command_finish(char **words)
{
    struct job *job = find(words[1]);

    if (job == NULL)
        return "no such job";
    finish(job);
    dispatch();
    return NULL;
}

static const char *command_state(char **words)
{
    const struct job *job = find(words[1]);
    int waited;

    if (job == NULL)
        job = find_in(&finished, words[1]);
    if (job == NULL)
        return "no such job";
    waited = job->waited;
    if (job->state == READY)
        waited += now - job->ready_since;
    printf("%4d %s is %s: priority %d of %d, done %d of %d, waited %d\n", now, job->name,
           state_names[job->state], job->priority, job->base_priority, job->done, job->work, waited);
    return NULL;
}

static void show_queue(const char *title, const struct queue *queue)
{
    const struct job *job;

    printf("     %s:", title);
    for (job = queue->head; job != NULL; job = job->next)
        printf(" %s(%d/%d)", job->name, job->done, job->work);
    printf("\n");
}

static const char *command_show(char **words)
{
    char title[] = "ready 0";
    int i;

    (void)words;
    printf("%4d %s: %s, load %.3f\n", now, state_names[RUNNING], running != NULL ? running->name : "-",
           load);
    for (i = PRIORITIES - 1; i >= 0; i--) {
        title[strlen(title) - 1] = (char)('0' + i);
        if (ready[i].length > 0)
            show_queue(title, &ready[i]);
    }
    show_queue(state_names[BLOCKED], &blocked);
    show_queue(state_names[FINISHED], &finished);
    return NULL;
}

static const struct command commands[] = {
    {"new", 4, command_new},
    {"run", 2, command_run},
    {"expire", 1, command_expire},
    {"block", 1, command_block},
    {"unblock", 2, command_unblock},
    {"upgrade", 3, command_upgrade},
    {"finish", 2, command_finish},
    {"state", 2, command_state},
    {"show", 1, command_show},
};

static int split(char *line, char **words)
{
    int count = 0;
    char *word;

    for (word = strtok(line, " \t\n"); word != NULL && count < MAX_WORDS; word = strtok(NULL, " \t\n"))
        words[count++] = word;
    return count;
}

static const char *run_line(char *line)
{
    char *words[MAX_WORDS];
    int count = split(line, words);
    size_t i;

    if (count == 0 || words[0][0] == '#')
        return NULL;
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, words[0]) != 0)
            continue;
        if (count != commands[i].words)
            return "wrong number of words";
        return commands[i].run(words);
    }
    return "unknown command";
}

static void add_value(struct statistic *statistic, double value)
{
    if (statistic->count == 0 || value > statistic->highest)
        statistic->highest = value;
    statistic->count++;
    statistic->sum += value;
    statistic->squares += value * value;
}

static double mean(const struct statistic *statistic)
{
    return statistic->count == 0 ? 0 : statistic->sum / statistic->count;
}

static double deviation(const struct statistic *statistic)
{
    double average = mean(statistic);
    double variance;

    if (statistic->count < 2)
        return 0;
    variance = statistic->squares / statistic->count - average * average;
    return variance > 0 ? sqrt(variance) : 0;
}

static void print_statistic(const char *title, const struct statistic *statistic)
{
    printf("%-10s mean %.3f, deviation %.3f, highest %.2f\n", title, mean(statistic), deviation(statistic),
           statistic->highest);
}

static void report_job(const struct job *job, double stretch)
{
    printf("%-11s %8d %7d", job->name, job->base_priority, job->arrived);
    if (job->first_run < 0)
        printf(" %7s", "never");
    else
        printf(" %7d", job->first_run);
    printf(" %6d %6d %7.2f%s\n", job->ended, job->waited, stretch, job->done < job->work ? " cut short" : "");
}

static void report(void)
{
    struct statistic waiting = {0}, turnaround = {0}, by_priority[PRIORITIES] = {{0}};
    const struct job *job;
    int i;

    printf("%-11s %8s %7s %7s %6s %6s %7s\n", "job", "priority", "arrived", "started", "ended", "waited",
           "stretch");
    for (job = finished.head; job != NULL; job = job->next) {
        int time = job->ended - job->arrived;
        double stretch = job->done > 0 ? (double)time / job->done : 0;

        report_job(job, stretch);
        add_value(&waiting, job->waited);
        add_value(&turnaround, time);
        add_value(&by_priority[job->base_priority], stretch);
    }
    print_statistic("waiting", &waiting);
    print_statistic("turnaround", &turnaround);
    for (i = PRIORITIES - 1; i >= 0; i--)
        if (by_priority[i].count > 0)
            printf("priority %d: %d jobs, mean stretch %.2f\n", i, by_priority[i].count, mean(&by_priority[i]));
    printf("%d ticks, %d switches", now, switches);
    if (now > 0)
        printf(", busy %.1f%%, %.2f jobs in 100 ticks", 100.0 * busy_ticks / now, 100.0 * finished.length / now);
    printf(", load %.3f\n", load);
}

static void free_queue(struct queue *queue)
{
    struct job *job;

    while (queue->head != NULL) {
        job = queue->head;
        queue->head = job->next;
        free(job);
    }
}

/* Reads a line; one that is too long is cut off, and told. */
static int read_line(char *line, int size, int *is_cut)
{
    int character;

    *is_cut = 0;
    if (fgets(line, size, stdin) == NULL)
        return 0;
    if (strchr(line, '\n') != NULL)
        return 1;
    while ((character = getchar()) != EOF && character != '\n')
        *is_cut = 1;
    return 1;
}

static int parse_options(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-b") == 0)
            is_brief = 1;
        else if (strcmp(argv[i], "-q") == 0 && i + 1 < argc && parse_number(argv[i + 1], 1, 20, &quantum))
            i++;
        else if (strcmp(argv[i], "-a") == 0 && i + 1 < argc && parse_number(argv[i + 1], 1, 100, &age))
            i++;
        else
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char line[MAX_LINE];
    const char *error;
    int line_number = 0, errors = 0, is_cut;

    if (!parse_options(argc, argv)) {
        printf("usage: schedule [-q QUANTUM] [-a AGE] [-b]\n");
        return 2;
    }
    while (read_line(line, sizeof line, &is_cut)) {
        line_number++;
        error = is_cut ? "line is too long" : run_line(line);
        if (error != NULL) {
            printf("line %d: %s\n", line_number, error);
            errors++;
        }
    }
    while (running != NULL)
        tick();
    report();
    if (blocked.length > 0)
        show_queue("left blocked", &blocked);
    free_queue(&finished);
    free_queue(&blocked);
    return errors > 0 ? 1 : blocked.length > 0 ? 3 : 0;
}
