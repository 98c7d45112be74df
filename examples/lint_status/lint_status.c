/* Collects the remarks of a checker, "severity file text", prints a summary, and says by its exit status whether a build may
 * go on: 1 if there is a remark of the given severity or a worse one.
 */
#include <stdio.h>
#include <string.h>

enum severity { NOTE, WARNING, ERROR, SEVERITIES };

static const char *const names[SEVERITIES] = {"note", "warning", "error"};

struct summary {
    int counts[SEVERITIES];
    enum severity worst;
    int total;
};

static int severity_of(const char *name, enum severity *severity)
{
    for (int i = 0; i < SEVERITIES; i++) {
        if (strcmp(names[i], name) == 0) {
            *severity = (enum severity)i;
            return 0;
        }
    }
    return -1;
}

static void add(struct summary *summary, enum severity severity)
{
    summary->counts[severity]++;
    summary->total++;
    if (severity > summary->worst)
        summary->worst = severity;
}

static int collect(FILE *in, struct summary *summary)
{
    char line[200], word[20], file[60];
    enum severity severity;
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "%19s %59s", word, file) < 2)
            continue;
        if (severity_of(word, &severity) < 0) {
            fprintf(stderr, "unknown severity %s\n", word);
            return -1;
        }
        add(summary, severity);
    }
    return 0;
}

static void print_summary(const struct summary *summary)
{
    for (int i = SEVERITIES - 1; i >= 0; i--)
        if (summary->counts[i] > 0)
            printf("%d %s%s\n", summary->counts[i], names[i], summary->counts[i] == 1 ? "" : "s");
    if (summary->total == 0)
        printf("no remarks\n");
}

int main(int argc, char **argv)
{
    struct summary summary = {0};
    enum severity limit = ERROR;
    if (argc > 1 && severity_of(argv[1], &limit) < 0) {
        fprintf(stderr, "usage: lint_status [note|warning|error] < REMARKS\n");
        return 2;
    }
    if (collect(stdin, &summary) < 0)
        return 2;
    print_summary(&summary);
    if (summary.total == 0)
        return 0;
    return summary.worst > limit;
}
