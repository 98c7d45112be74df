/* Writes the unit file of a service from a description of it, lines "key value". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 80, DEFAULT_STOP_SECONDS = 90 };

struct service {
    char command[TEXT_SIZE];
    char user[TEXT_SIZE];
    char directory[TEXT_SIZE];
    int restarts;
    int restart_seconds;
    int stop_seconds;
};

static int is_yes(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
}

static int set(struct service *service, const char *key, const char *value)
{
    if (strcmp(key, "command") == 0)
        snprintf(service->command, TEXT_SIZE, "%s", value);
    else if (strcmp(key, "user") == 0)
        snprintf(service->user, TEXT_SIZE, "%s", value);
    else if (strcmp(key, "directory") == 0)
        snprintf(service->directory, TEXT_SIZE, "%s", value);
    else if (strcmp(key, "restart") == 0)
        service->restarts = is_yes(value);
    else if (strcmp(key, "restart-delay") == 0)
        service->restart_seconds = atoi(value);
    else if (strcmp(key, "stop-timeout") == 0)
        service->stop_seconds = atoi(value);
    else
        return -1;
    return 0;
}

static int read_service(FILE *in, struct service *service)
{
    char line[2 * TEXT_SIZE];
    int number = 0;
    while (fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        if (!value || set(service, line, value) < 0) {
            fprintf(stderr, "line %d: what is \"%s\"?\n", number, line);
            return -1;
        }
    }
    return 0;
}

static void write_unit(const struct service *service)
{
    printf("[Service]\nExecStart=%s\n", service->command);
    if (service->user[0])
        printf("User=%s\n", service->user);
    if (service->directory[0])
        printf("WorkingDirectory=%s\n", service->directory);
    printf("Restart=%s\n", service->restarts ? "on-failure" : "no");
    if (service->restarts) {
        if (service->restart_seconds > 0)
            printf("RestartSec=%d\n", service->restart_seconds);
        if (service->stop_seconds != DEFAULT_STOP_SECONDS)
            printf("TimeoutStopSec=%d\n", service->stop_seconds);
    }
    printf("\n[Install]\nWantedBy=multi-user.target\n");
}

int main(void)
{
    struct service service = {.stop_seconds = DEFAULT_STOP_SECONDS};
    if (read_service(stdin, &service) < 0)
        return 2;
    if (!service.command[0]) {
        fprintf(stderr, "there is no command\n");
        return 1;
    }
    write_unit(&service);
    return 0;
}
