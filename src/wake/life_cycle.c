#include "wake/life_cycle.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct hub_request
life_cycle_request(struct arena *a, const char *identity, enum hub_op op, const char *json)
{
    const char *text = arena_dup(a, json, strlen(json));
    struct json *args = NULL;

    if (text)
        json_parse(a, text, strlen(text), &args, NULL);
    return (struct hub_request){ .op = op,
                                 .identity = "cliq",
                                 .is_admin = true,
                                 .is_file = true,
                                 .is_system = true,
                                 .about = identity,
                                 .args = args };
}

#define LIFE                                                                                       \
    "{\"type\":\"agent:%s:%s\",\"source\":\"system\",\"data\":{\"agentId\":\"%s\",\"state\":\"%"   \
    "s\"}}"

size_t
life_cycle_wake(struct arena *a, const char *id, struct hub_request *to)
{
    char cancel[200], wake[400];

    snprintf(cancel, sizeof cancel, "{\"type\":\"agent:%s:idle\",\"repeatKey\":\"lifecycle-idle\"}",
             id);
    snprintf(wake, sizeof wake, LIFE, id, "wake", id, "wake");
    to[0] = life_cycle_request(a, id, HUB_CANCEL, cancel);
    to[1] = life_cycle_request(a, id, HUB_GENERATE, wake);
    return 2;
}

size_t
life_cycle_sleep(struct arena *a, const char *id, struct hub_request *to)
{
    char sleep[400], idle[500];

    snprintf(sleep, sizeof sleep, LIFE, id, "sleep", id, "sleep");
    snprintf(idle, sizeof idle,
             "{\"type\":\"agent:%s:idle\",\"source\":\"system\",\"repeatKey\":\"lifecycle-idle\","
             "\"deliverAt\":%" PRId64 ",\"data\":{\"agentId\":\"%s\",\"state\":\"idle\"}}",
             id, clock_wall_ns() / 1000000 + LIFE_CYCLE_IDLE_MS, id);
    to[0] = life_cycle_request(a, id, HUB_GENERATE, sleep);
    to[1] = life_cycle_request(a, id, HUB_SCHEDULE, idle);
    return 2;
}
