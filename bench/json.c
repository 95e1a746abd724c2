/*
 * bench/json - parsing one message and writing it again, beside jansson.
 *
 * The message is a typical one of a room: eight members, about 300 bytes, a body
 * with a few line breaks. Ours parses into an arena and writes into a buf, both
 * reset for every message; jansson does json_loadb and json_dumps(JSON_COMPACT).
 *
 * Both run in this process, in turns, for ROUNDS rounds each. The output is one
 * line with the medians:
 *
 *     json parse+write 300 B: cliq X MB/s, jansson Y MB/s, ratio Z
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Both headers define JSON_... types: renames jansson's. */
#define JSON_NULL   JANSSON_NULL
#define JSON_FALSE  JANSSON_FALSE
#define JSON_TRUE   JANSSON_TRUE
#define JSON_STRING JANSSON_STRING
#define JSON_ARRAY  JANSSON_ARRAY
#define JSON_OBJECT JANSSON_OBJECT
#include <jansson.h>
#undef JSON_NULL
#undef JSON_FALSE
#undef JSON_TRUE
#undef JSON_STRING
#undef JSON_ARRAY
#undef JSON_OBJECT

#include "base/json.h"

enum { ROUNDS = 7, BATCH = 1000, ROUND_MS = 300 };

static const char message[] =
    "{\"v\":1,\"id\":\"engineer-done-1775215174499753000-85510\","
    "\"ts\":\"2026-04-03T11:19:34Z\",\"from\":\"engineer\",\"to\":\"qa\",\"type\":\"done\","
    "\"ref\":\"EPIC-001\",\"body\":\"Implemented the login flow and its tests.\\n\\n- src/auth.c: "
    "the session cookie\\n- test/auth.c: 14 cases\\n\\nAll pass; please look at the expiry "
    "edge, it is subtle.\"}";

enum { MESSAGE_LEN = sizeof message - 1 };

typedef void work_fn(void);

static void
ours(void)
{
    static struct arena a;
    static struct buf b;
    struct json *doc;

    arena_reset(&a);
    buf_reset(&b);
    if (!json_parse(&a, message, MESSAGE_LEN, &doc, NULL))
        abort();
    json_write(&b, doc);
    if (b.len != MESSAGE_LEN || memcmp(b.p, message, b.len))
        abort();
}

static void
theirs(void)
{
    json_t *doc = json_loadb(message, MESSAGE_LEN, 0, NULL);
    char *text = json_dumps(doc, JSON_COMPACT);

    if (!text || strcmp(text, message))
        abort();
    free(text);
    json_decref(doc);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Megabytes of messages per second in one round. */
static double
speed(work_fn *work)
{
    double start = now(), took;
    size_t n = 0;

    do {
        for (int i = 0; i < BATCH; i++)
            work();
        n += BATCH;
        took = now() - start;
    } while (took * 1000 < ROUND_MS);
    return (double)(n * MESSAGE_LEN) / took / 1e6;
}

static int
by_size(const void *l, const void *r)
{
    double a = *(const double *)l, b = *(const double *)r;

    return a < b ? -1 : a > b;
}

static double
median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, by_size);
    return v[ROUNDS / 2];
}

int
main(void)
{
    double us[ROUNDS], them[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        us[i] = speed(ours);
        them[i] = speed(theirs);
    }
    double x = median(us), y = median(them);
    printf("json parse+write 300 B: cliq %.0f MB/s, jansson %.0f MB/s, ratio %.1f\n", x, y, x / y);
    return 0;
}
