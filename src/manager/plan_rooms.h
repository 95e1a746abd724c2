/*
 * plan_rooms - the epics of a plan (room/epics.h) as rooms, all of them or none.
 *
 * With a reviewer, the room plan-review comes first: its task is the plan, its states
 *
 *     plan-review --plan-approve, pass, done--> passed
 *                 --plan-reject, fail---------> failed-final
 *                 --error (+1)----------------> failed: retry, or exhaust
 *
 * and every epic that depends on no other waits for it. A plan that was rejected blocks them; once
 * it is mended, is_anew archives the rooms of the plan that never began, and makes them again.
 *
 * Tests: test/scenario/room_plan.bats
 */
#ifndef CLIQ_MANAGER_PLAN_ROOMS_H
#define CLIQ_MANAGER_PLAN_ROOMS_H

#include "manager/rooms.h"

#define PLAN_REVIEW_ROOM "plan-review"

struct plan_options {
    const char *name;       /* of the plan: its file */
    struct epic_list roles; /* of epics that name none */
    const char *reviewer;   /* the role that reviews the plan; NULL: none */
    unsigned max_retries;
    int64_t timeout_ms;
    bool is_anew, is_dry;
};

/* Fills *rooms with what was made, or would be, in the arena. ST_INVALID: the plan is bad.
 * ST_CONFLICT: a room of it exists. */
enum status
plan_rooms_make(const struct rooms *r, const struct plan_options *o, struct arena *a,
                const struct buf *plan, struct room_config **rooms, size_t *n, struct err *e);

#endif
