/*
 * file_conflicts - which phases may write the same files, by their `files`. Pure; made once, then
 * only read. Two phases conflict when a path could match a pattern of each (base/path_glob.h): they
 * never run at the same time, whatever depends on what.
 *
 * Tests: test/unit/test_sched.c
 */
#ifndef CLIQ_RUN_FILE_CONFLICTS_H
#define CLIQ_RUN_FILE_CONFLICTS_H

#include "team/team.h"

#include <stdbool.h>

/* Have both `files`, and do they overlap? */
bool file_conflicts_between(const struct phase *a, const struct phase *b);

/* For each of the team's phases a row of dag_words(n) words: the phases that conflict with it.
 * *out is NULL when there are none. False: out of memory. */
bool file_conflicts_new(const struct team *t, uint64_t **out);

#endif
