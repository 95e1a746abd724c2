/*
 * ledger - what the models of a run used: of each phase, over all its attempts.
 *
 * It is a fold: the run gives it every event that the journal gets, so a replay of the journal
 * (run/replay.h) makes the same ledger again. Between two events, ledger_report takes what the
 * attempt that runs has told so far; the event of its result carries its last report.
 *
 * The ledger also knows the vendor's conversation of each phase, which the next attempt goes on
 * with: its id, what its attempts used, and the agent that it was with.
 *
 *     struct ledger l = { 0 };
 *     if (ledger_init(&l, team->n_phases)) …
 *     ledger_take(&l, &event);
 *     struct usage all = ledger_total(&l);
 *     ledger_release(&l);
 *
 * Ownership: it owns copies of all texts; what it returns lives as long as the ledger.
 *
 * Tests: test/unit/test_ledger.c
 */
#ifndef CLIQ_RUN_LEDGER_H
#define CLIQ_RUN_LEDGER_H

#include "context/usage.h"
#include "run/sched.h"

struct ledger_phase {
    struct usage past; /* of the attempts that ended */
    struct usage now;  /* the last report of the attempt that runs */
    /* the last conversation: session_id NULL: there is none */
    struct usage session;
    const char *session_agent; /* NULL: not known */
    const char *agent;         /* of the latest attempt; NULL: not known */
};

struct ledger {
    struct arena texts;
    struct ledger_phase *phases;
    size_t n;
};

bool ledger_init(struct ledger *l, size_t n_phases); /* false: out of memory */
void ledger_release(struct ledger *l);

/* What the attempt of the phase that runs has used so far; it replaces its report before. */
void ledger_report(struct ledger *l, size_t phase, const struct usage *u);
/* An event of the run: a new attempt, or the end of one, with its usage. */
void ledger_take(struct ledger *l, const struct sched_event *ev);

struct usage ledger_phase_usage(const struct ledger *l, size_t phase);
struct usage ledger_total(const struct ledger *l);
/* The conversation of the phase that an attempt by this agent can go on with; NULL: none. */
const struct usage *ledger_session(const struct ledger *l, size_t phase, const char *agent);

#endif
