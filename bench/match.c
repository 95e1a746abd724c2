/*
 * bench/match - matching a signal against 10,000 subscriptions, beside 10.
 *
 * The patterns have five shapes: exact, one star first, in the middle, last, and
 * two stars. Each of TYPES signals matches exactly five of the 10,000 and five of
 * the 10. The two take turns; each number is the median of ROUNDS turns. The note
 * shows the time of a linear search, and of the worst patterns we know: all match
 * except for the last segment.
 *
 * Usage: match
 */
#include "hub/model/match.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, TYPES = 256, REPEAT = 40, MANY = 10000, FEW = 10, SHAPES = 5, WORST_BITS = 13 };
enum { LIMIT_US = 50, NAME_SIZE = 64 };

static char patterns[MANY][NAME_SIZE];
static char types[TYPES][NAME_SIZE];

static void
count_visit(void *context, uint64_t id)
{
    (void)id;
    ++*(size_t *)context;
}

/* The shape with every '#' replaced by k. */
static void
name(char to[NAME_SIZE], const char *shape, unsigned k)
{
    for (size_t n = 0; n < NAME_SIZE && (to[n] = *shape); shape++)
        n += *shape == '#' ? (size_t)snprintf(to + n, NAME_SIZE - n, "%u", k) : 1;
}

/* Adds n patterns in groups of five, one of each shape. A type matches one group. */
static struct matcher *
fill(size_t n)
{
    struct matcher *m;
    struct err e;

    if (matcher_new(&m, &e))
        die("%s", e.text);
    for (size_t i = 0; i < n; i++) {
        unsigned k = (unsigned)(i / SHAPES);
        static const char *const shapes[SHAPES] = {
            "project#:web:build#:done#", "*:web:build#:done#",  "project#:*:build#:done#",
            "project#:web:build#:*",     "project#:*:build#:*",
        };
        name(patterns[i], shapes[i % SHAPES], k);
        if (matcher_add(m, patterns[i], strlen(patterns[i]), i, &e))
            die("%s", e.text);
    }
    return m;
}

static void
name_types(size_t groups)
{
    for (unsigned i = 0; i < TYPES; i++) {
        unsigned k = (unsigned)(i * 7919 % groups);
        name(types[i], "project#:web:build#:done#", k);
    }
}

/* Microseconds per signal. */
static double
speed(struct matcher *m, size_t groups)
{
    size_t found = 0;

    name_types(groups);
    int64_t start = now_ns();
    for (int r = 0; r < REPEAT; r++)
        for (int i = 0; i < TYPES; i++)
            matcher_match(m, types[i], strlen(types[i]), count_visit, &found);
    int64_t took = now_ns() - start;
    if (found != (size_t)REPEAT * TYPES * SHAPES)
        die("%zu subscriptions matched", found);
    return (double)took / 1e3 / (REPEAT * TYPES);
}

static double
each_in_turn(void)
{
    size_t found = 0;
    int64_t start = now_ns();

    for (int i = 0; i < 16; i++)
        for (size_t k = 0; k < MANY; k++)
            found += match_pattern(patterns[k], strlen(patterns[k]), types[i], strlen(types[i]));
    int64_t took = now_ns() - start;
    if (found != 16 * SHAPES)
        die("%zu patterns matched", found);
    return (double)took / 1e3 / 16;
}

static double
worst(void)
{
    char pattern[64], type[64] = "";
    struct matcher *m;
    struct err e;
    size_t found = 0;

    if (matcher_new(&m, &e))
        die("%s", e.text);
    for (unsigned way = 0; way < 1u << WORST_BITS; way++) {
        for (unsigned i = 0; i < WORST_BITS; i++)
            memcpy(pattern + 2 * i, way >> i & 1 ? "*:" : "a:", 2);
        strcpy(pattern + 2 * WORST_BITS, "z");
        if (matcher_add(m, pattern, strlen(pattern), way, &e))
            die("%s", e.text);
    }
    for (unsigned i = 0; i < WORST_BITS; i++)
        strcat(type, "a:");
    strcat(type, "b");
    int64_t start = now_ns();
    for (int i = 0; i < 20; i++)
        matcher_match(m, type, strlen(type), count_visit, &found);
    int64_t took = now_ns() - start;
    if (found)
        die("%zu subscriptions matched", found);
    matcher_free(m);
    return (double)took / 1e3 / 20;
}

int
main(int argc, char **argv)
{
    double many[ROUNDS], few[ROUNDS];

    (void)argv;
    begin(argc, 0, "match");
    struct matcher *large = fill(MANY), *small = fill(FEW);
    for (int i = 0; i < ROUNDS; i++) {
        many[i] = speed(large, MANY / SHAPES);
        few[i] = speed(small, FEW / SHAPES);
    }
    double us = median(many, ROUNDS), peer = median(few, ROUNDS);
    row("match, 10,000 subscriptions beside 10", text("%.2f us", us), text("%.2f us", peer), us,
        AT_MOST, LIMIT_US, "us");
    name_types(MANY / SHAPES);
    note("linear search: %.0f us; the worst %d patterns, none of them matching: %.0f us",
         each_in_turn(), 1 << WORST_BITS, worst());
    matcher_free(large);
    matcher_free(small);
    return 0;
}
