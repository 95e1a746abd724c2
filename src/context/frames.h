/*
 * frames - the state directories of team phases: frames/<phase>/ of the state directory above, with
 * the same layout, and so on down.
 *
 * What a run has once stays at the top, in .cliq/: its lock, its reviews, its log.
 *
 * Tests: test/unit/test_state_dir.c test/scenario/pipeline_teams.bats
 */
#ifndef CLIQ_CONTEXT_FRAMES_H
#define CLIQ_CONTEXT_FRAMES_H

#include "context/state_dir.h"

#define FRAMES_DIR "frames"

/* Opens the frame of a phase; `create` makes it. ST_NOT_FOUND: there is none. */
enum status frame_open(struct state_dir *out, const struct state_dir *above, const char *phase,
                       bool create, struct err *e);
/* Opens what is above all frames, .cliq/ or runs/<id>/: f itself, if it is no frame. */
enum status frame_top(struct state_dir *out, const struct state_dir *f, struct err *e);

/* Appends the way from there to a phase of f: "build/test" of the phase test in the frame of build,
 * "test" where f is no frame. */
enum status frame_way(const struct state_dir *f, const char *phase, struct buf *to, struct err *e);

/* Takes the frame of a phase; it is closed afterwards. */
typedef enum status
frame_fn(void *ctx, const struct state_dir *frame, const char *phase, struct err *e);
/* Calls fn with each frame of f, not with frames in these, until one fails. */
enum status frames_each(const struct state_dir *f, frame_fn *fn, void *ctx, struct err *e);

#endif
