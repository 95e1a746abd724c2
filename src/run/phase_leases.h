/*
 * phase_leases - a run takes leases in the hub for phases with `files`, so that agents outside of
 * it (clients with hooks, people who commit, other runs) keep off them.
 *
 * The holder is the phase's name, as for everything that its agent does. A lease begins with an
 * attempt and ends when nothing of the attempt is left; it lasts a little longer than the attempt
 * may, so it ends by itself whatever becomes of the orchestrator. The hub is asked by the
 * publisher's thread: the run does not wait for it. A lease that is refused is told as a note; the
 * phase runs all the same, and its writes are refused where clients ask.
 *
 * Phases of one run are kept apart by the scheduler (file_conflicts.h), not by the hub.
 *
 * Tests: test/scenario/pipeline_files.bats
 */
#ifndef CLIQ_RUN_PHASE_LEASES_H
#define CLIQ_RUN_PHASE_LEASES_H

#include "base/path.h"
#include "run/hub_publisher.h"
#include "run/run.h"

struct phase_leases {
    struct arena arena;
    const struct plan *plan;
    const char *project; /* NULL: no phase has files */
    const char **paths;  /* a JSON list for each phase; NULL: it has none */
};

/* ST_INVALID: a pattern leads out of the project. */
enum status phase_leases_init(struct phase_leases *l, const struct plan *p, struct err *e);
void phase_leases_release(struct phase_leases *l); /* zero is fine */

/* After the scheduler has applied it. publisher NULL: there is no hub. */
void phase_leases_event(struct phase_leases *l, const struct sched_event *ev,
                        struct hub_publisher *publisher);

/* The identity that holds the leases of a phase: its name; of one in a team phase "build.test". */
void phase_leases_holder(const char *way, const char *phase, char to[PATH_NAME_MAX + 1]);

#endif
