/*
 * wake_supervisor - the supervisor of an agent that signals wake: `cliq _wake ID`.
 *
 *     take the lock (taken: done) -> adopt the agent of a killed supervisor -> while signals wait:
 *     start the agent with all of them, wait for its end, record the last signal given
 *     -> release the lock, look once more
 *
 * An agent that ends with exit code 0 was told. One that fails, crashes or runs for more than
 * WAKE_RUN_MS was not: it is started again with the same signals and those that came since,
 * after 1, 2, 4 and 8 s; after WAKE_TRIES failures they are set aside (they stay in the inbox)
 * and its log says so. So every signal is given at least once, and twice only to an agent that
 * did not succeed, or whose success was not recorded: after a supervisor was killed, the next one
 * waits for its agent, and takes a `complete` line of the agent as success.
 *
 * An agent that cannot be started as it is registered (no such agent, no such directory, not
 * trusted) is told in its log; its signals wait until that is corrected and a new signal is
 * written.
 *
 * Every start and every end is told (life_cycle.h).
 */
#ifndef CLIQ_WAKE_WAKE_SUPERVISOR_H
#define CLIQ_WAKE_WAKE_SUPERVISOR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAKE_TRIES  5
#define WAKE_RUN_MS (20 * 60 * 1000)

/* The input of the decision. */
struct wake_facts {
    size_t n_waiting;
    unsigned failures; /* of these, in a row */
    uint64_t last;     /* of them, after a failure: what came later is not tried with them */
    bool has_rested;   /* since the last failure */
    bool is_hopeless;  /* it cannot be started at all */
};

enum wake_action {
    WAKE_LEAVE,     /* nothing to do for us */
    WAKE_START,     /* with all that wait, after a failure with the same again */
    WAKE_REST,      /* before the next try */
    WAKE_SET_ASIDE, /* it was tried often enough */
};

/* Pure. *rest_ms is set for WAKE_REST. */
enum wake_action wake_supervisor_decide(const struct wake_facts *f, int64_t *rest_ms);

/* Runs the supervisor. ST_OK also when another one has the lock. */
enum status wake_supervisor_run(const char *config, const char *identity, struct err *e);

/* Could the agent be started in that directory, or what is missing? */
enum status wake_supervisor_check(const char *agent, const char *dir, struct err *e);

#endif
