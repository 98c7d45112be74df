/* Advice for the helmsman: which of two ships gives way, and how.
 *
 * Each line of the input is one sighting of the other ship:
 *     BEARING DISTANCE COURSE SPEED
 * bearing and course in degrees, the bearing relative to our bow; distance in
 * tenths of a mile, speed in tenths of a knot. The arguments describe our own ship:
 *     crossing COURSE SPEED VISIBILITY [sail]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_CIRCLE 360
#define HALF_CIRCLE 180
#define MASTHEAD_SECTOR 112
#define AHEAD_SECTOR 6
#define SLOW_SPEED 30
#define MAX_TRACK 16

enum visibility { CLEAR, HAZE, FOG, VISIBILITIES };

enum encounter { NONE, HEAD_ON, CROSSING_FROM_PORT, CROSSING_FROM_STARBOARD, OVERTAKING, OVERTAKEN };

enum advice { KEEP, WATCH, TURN_STARBOARD, TURN_PORT, SLOW_DOWN, STOP };

struct limits {
    int watch_distance;
    int act_distance;
    int stop_distance;
    int safe_speed;
};

struct ship {
    int course;
    int speed;
    int is_sailing;
};

struct sighting {
    int bearing;
    int distance;
    int course;
    int speed;
};

struct track {
    struct sighting sightings[MAX_TRACK];
    int count;
    int is_closing;
    int is_steady;
};

static const struct limits limits[VISIBILITIES] = {
    {60, 30, 5, 200},
    {80, 40, 8, 140},
    {100, 55, 12, 80},
};

static const char *const encounter_names[] = {
    "none", "head-on", "crossing from port", "crossing from starboard", "overtaking", "overtaken",
};

static const char *const advice_names[] = {
    "keep course", "watch", "turn to starboard", "turn to port", "slow down", "stop",
};

static int normal_angle(int angle)
{
    angle %= FULL_CIRCLE;
    if (angle < 0)
        angle += FULL_CIRCLE;
    return angle;
}

/* The smaller of the two angles between two directions. */
static int difference(int a, int b)
{
    int angle = normal_angle(a - b);

    if (angle > HALF_CIRCLE)
        angle = FULL_CIRCLE - angle;
    return angle;
}

static int is_on_starboard(int bearing)
{
    return bearing > 0 && bearing < HALF_CIRCLE;
}

/* Where the other one sees us, relative to its bow. */
static int aspect(const struct ship *own, const struct sighting *other)
{
    int true_bearing = normal_angle(own->course + other->bearing);

    return normal_angle(true_bearing + HALF_CIRCLE - other->course);
}

static void add_sighting(struct track *track, const struct sighting *seen)
{
    int i;

    if (track->count == MAX_TRACK) {
        for (i = 1; i < MAX_TRACK; i++)
            track->sightings[i - 1] = track->sightings[i];
        track->count--;
    }
    track->sightings[track->count] = *seen;
    track->count++;
}

/* Closing and steady bearings mean danger; one sighting alone is taken for the worst. */
static void judge_track(struct track *track)
{
    const struct sighting *first, *last;
    int drift;

    track->is_closing = 1;
    track->is_steady = 1;
    if (track->count < 2)
        return;
    last = &track->sightings[track->count - 1];
    first = last - 1;
    if (track->count > 2)
        first = last - 2;
    drift = difference(last->bearing, first->bearing);
    track->is_closing = last->distance < first->distance;
    track->is_steady = drift <= 4 || last->distance < 10;
}

static enum encounter classify(const struct ship *own, const struct sighting *other)
{
    int bearing = normal_angle(other->bearing);
    int seen_from = aspect(own, other);
    int off_bow = difference(bearing, 0);
    int off_their_bow = difference(seen_from, 0);

    if (off_their_bow > MASTHEAD_SECTOR && own->speed > other->speed && off_bow <= MASTHEAD_SECTOR)
        return OVERTAKING;
    if (off_bow > MASTHEAD_SECTOR) {
        if (other->speed > own->speed && off_their_bow <= MASTHEAD_SECTOR)
            return OVERTAKEN;
        return NONE;
    }
    if (off_bow <= AHEAD_SECTOR && off_their_bow <= AHEAD_SECTOR)
        return HEAD_ON;
    if (off_their_bow > MASTHEAD_SECTOR)
        return NONE;
    return is_on_starboard(bearing) ? CROSSING_FROM_STARBOARD : CROSSING_FROM_PORT;
}

static int gives_way(const struct ship *own, enum encounter kind)
{
    switch (kind) {
    case HEAD_ON:
        return !own->is_sailing;
    case CROSSING_FROM_STARBOARD:
        return !own->is_sailing;
    case OVERTAKING:
        return 1;
    case CROSSING_FROM_PORT:
    case OVERTAKEN:
    case NONE:
        break;
    }
    return 0;
}

static enum advice advise(const struct ship *own, const struct track *track, enum visibility sight)
{
    const struct limits *limit = &limits[sight];
    const struct sighting *other = &track->sightings[track->count - 1];
    enum encounter kind = classify(own, other);
    enum advice result = KEEP;

    if (own->speed > limit->safe_speed)
        result = SLOW_DOWN;
    if (!track->is_closing || other->distance > limit->watch_distance)
        return result;
    if (result == KEEP)
        result = WATCH;
    if (other->distance <= limit->stop_distance && track->is_steady)
        return STOP;
    if (other->distance > limit->act_distance || !track->is_steady)
        return result;
    if (sight == FOG && kind != NONE)
        return own->speed > SLOW_SPEED ? SLOW_DOWN : STOP;
    if (gives_way(own, kind)) {
        if (kind == OVERTAKING && is_on_starboard(other->bearing))
            result = TURN_PORT;
        else
            result = TURN_STARBOARD;
    }
    return result;
}

static int read_sighting(struct sighting *seen)
{
    if (scanf("%d %d %d %d", &seen->bearing, &seen->distance, &seen->course, &seen->speed) != 4)
        return 0;
    seen->bearing = normal_angle(seen->bearing);
    seen->course = normal_angle(seen->course);
    return 1;
}

static enum visibility parse_visibility(const char *word)
{
    static const char *const words[VISIBILITIES] = {"clear", "haze", "fog"};
    int i;

    for (i = 0; i < VISIBILITIES; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return VISIBILITIES;
}

int main(int argc, char **argv)
{
    struct track track = {.count = 0};
    struct ship own;
    struct sighting seen;
    enum visibility sight;
    int alarms = 0;

    if (argc < 4) {
        fprintf(stderr, "usage: crossing COURSE SPEED VISIBILITY [sail]\n");
        return 2;
    }
    own.course = normal_angle(atoi(argv[1]));
    own.speed = atoi(argv[2]);
    own.is_sailing = argc > 4 && strcmp(argv[4], "sail") == 0;
    sight = parse_visibility(argv[3]);
    if (sight == VISIBILITIES) {
        fprintf(stderr, "crossing: unknown visibility %s\n", argv[3]);
        return 2;
    }
    while (read_sighting(&seen)) {
        enum advice advice;

        add_sighting(&track, &seen);
        judge_track(&track);
        advice = advise(&own, &track, sight);
        if (advice >= TURN_STARBOARD)
            alarms++;
        printf("%03d %3d.%d: %s, %s\n", seen.bearing, seen.distance / 10, seen.distance % 10,
               encounter_names[classify(&own, &seen)], advice_names[advice]);
    }
    printf("%d alarms\n", alarms);
    return alarms > 0;
}
