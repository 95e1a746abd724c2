/*
 * runner - chooses the program that runs an agent's entry, by the entry's file extension.
 *
 *     .js .mjs   node            .py   python3
 *     .ts        node --experimental-strip-types (22.6 or newer), else tsx
 *     .sh        sh              else  none: the entry is executable itself
 *
 * Tests: test/unit/test_runner.c
 */
#ifndef CLIQ_TEAM_RUNNER_H
#define CLIQ_TEAM_RUNNER_H

#include "base/err.h"

#include <stdbool.h>

struct runner {
    const char *program; /* NULL: the entry runs itself */
    const char *flag;    /* or NULL */
};

/* ST_NOT_FOUND names the program that this machine lacks. Only the entry's name is read; for .ts
 * node is asked whether it knows the flag. */
enum status runner_find(const char *entry, struct runner *out, struct err *e);

/* Is the program on PATH? A name with a slash is used as a path. */
bool runner_has(const char *program);

#endif
