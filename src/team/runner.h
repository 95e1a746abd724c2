/*
 * runner - the program that runs an agent's entry, by the entry's ending.
 *
 *     .js .mjs   node            .py   python3
 *     .ts        tsx, else node --experimental-strip-types (22.6 or newer)
 *     .sh        sh              else  none: the entry is executable itself
 *
 * Tests: test/unit/test_runner.c
 */
#ifndef CLIQ_TEAM_RUNNER_H
#define CLIQ_TEAM_RUNNER_H

#include "base/err.h"

#include <stdbool.h>

struct runner {
    const char *program; /* NULL: none is needed */
    const char *flag;    /* or NULL */
};

/* ST_NOT_FOUND tells what is not on this machine. Of the entry only the name is looked at; for
 * .ts without tsx, node is asked whether it knows the flag. */
enum status runner_find(const char *entry, struct runner *out, struct err *e);

/* Is it on PATH? A path is taken as it is. */
bool runner_has(const char *program);

#endif
