/*
 * plan_show - what `cliq run --dry-run` prints: each phase that would run, with its agent and
 * commands, the values of its templates as far as they are known, what its `when` gives, and where
 * a gate may route to.
 *
 * Handoffs are read of phases that the run keeps (--resume, --from); those of phases that would
 * run are not known yet.
 */
#ifndef CLIQ_CMD_LIB_PLAN_SHOW_H
#define CLIQ_CMD_LIB_PLAN_SHOW_H

#include "run/run.h"

/* The part of a plan that would be done. */
struct plan_extent {
    bool *runs; /* one a phase */
    size_t n;   /* of these */
    enum run_status ended;
};

enum status plan_show(const struct plan *p, const struct plan_extent *x, bool is_json,
                      struct buf *out, struct err *e);

#endif
