/* Prints in which order waiting jobs run: the more urgent first; among equals, the one that came first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 32, NAME_SIZE = 20 };

struct job {
    char name[NAME_SIZE];
    int urgency;
    int minutes;
};

struct queue {
    struct job jobs[MAX_JOBS];
    int count;
};

static int runs_before(const struct job *one, const struct job *other)
{
    return one->urgency >= other->urgency;
}

/* Puts a job where it belongs; the jobs behind it move one place back. */
static int enqueue(struct queue *queue, const struct job *job)
{
    if (queue->count == MAX_JOBS)
        return -1;
    int place = queue->count;
    while (place > 0 && runs_before(job, &queue->jobs[place - 1])) {
        queue->jobs[place] = queue->jobs[place - 1];
        place--;
    }
    queue->jobs[place] = *job;
    queue->count++;
    return 0;
}

static int read_jobs(FILE *in, struct queue *queue)
{
    struct job job;
    char line[80];
    int number = 0;
    while (fgets(line, sizeof line, in)) {
        number++;
        int fields = sscanf(line, "%19s %d %d", job.name, &job.urgency, &job.minutes);
        if (fields <= 0)
            continue;
        if (fields < 3) {
            fprintf(stderr, "line %d: a job is \"name urgency minutes\"\n", number);
            return -1;
        }
        if (enqueue(queue, &job) < 0) {
            fprintf(stderr, "line %d: too many jobs\n", number);
            return -1;
        }
    }
    return 0;
}

static void print_plan(const struct queue *queue)
{
    int start = 8 * 60;
    for (int i = 0; i < queue->count; i++) {
        const struct job *job = &queue->jobs[i];
        printf("%02d:%02d %s\n", start / 60, start % 60, job->name);
        start += job->minutes;
    }
}

int main(void)
{
    static struct queue queue;
    if (read_jobs(stdin, &queue) < 0)
        return 2;
    print_plan(&queue);
    return 0;
}
