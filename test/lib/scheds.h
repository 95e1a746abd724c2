/*
 * scheds - what the tests of run/sched share: a team from a line (the notation: unit/test_sched.c).
 */
#ifndef CLIQ_TEST_SCHEDS_H
#define CLIQ_TEST_SCHEDS_H

#include "team/team.h"

#include "test.h"

/* The number of the phase of this name; the case fails without it. */
size_t find_phase(const struct team *t, const char *name, size_t len);
char *keep_name(struct team *t, const char *p, size_t len);
void team_alloc(struct team *t, size_t n);
void add_dep(struct team *t, struct phase *p, size_t dep, size_t max);
void team_of(struct team *t, const char *line);
void team_drop(struct team *t);

#endif
