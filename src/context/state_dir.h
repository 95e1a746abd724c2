/*
 * frame - where a run keeps its files: .cliq/, or frames/<phase>/ of a team phase.
 *
 *     workflow.yml agents.json roles/ req_spec.md inputs.json design/ task_board.md
 *     channels/<from>--<to>/{instructions.md,handoff.json}   files/<phase>/<name>
 *     signals/{<phase>.jsonl,<phase>_routed,<phase>_command_results.json,_pipeline_status}
 *     gates/<gate>/gate_context.md
 *     run/{journal.jsonl,lock,attempts/,logs/,prompts/,messages/,panes/}
 *
 * Everything below is reached through one open directory and checked names.
 */
#ifndef CLIQ_CONTEXT_STATE_DIR_H
#define CLIQ_CONTEXT_STATE_DIR_H

#include "base/buf.h"

#include <sys/stat.h>

struct state_dir {
    int dir;           /* the state directory, open */
    char *state_dir;   /* its absolute path */
    char *project_dir; /* absolute; the parent of .cliq/ */
};

/* The frame of our nearest .cliq/ here or above. ST_NOT_FOUND says to run cliq init; ST_REFUSED
 * that there are only such of other users, and whose the nearest is. */
enum status state_dir_find(struct state_dir *f, struct err *e);
/* ST_INVALID: no message could name this path, which is not UTF-8. */
enum status state_dir_check_path(const char *path, struct err *e);
/* ST_REFUSED: `path`, whose stat this is, is another user's. */
enum status state_dir_check_owner(const struct stat *st, const char *path, struct err *e);
/* The frame whose state directory is `state_dir`. */
enum status
state_dir_open(struct state_dir *f, const char *state_dir, const char *project_dir, struct err *e);
void state_dir_close(struct state_dir *f);

/* Replaces the file `path` (below the frame) by a link or by temp file + rename, so that
 * readers see the old or the new one, whole. Parent directories are made. 0600. */
enum status state_dir_replace(const struct state_dir *f, const char *path, const void *p, size_t n,
                              struct err *e);
/* Makes the file `path`, in place of one that is there, for readers who are told of it later:
 * they find it whole, for it is removed when it cannot be written. Who has the old one open
 * keeps that. Cheaper than state_dir_replace, and as for the rest like it. */
enum status state_dir_create(const struct state_dir *f, const char *path, const void *p, size_t n,
                             struct err *e);
/* The whole file appended to `to`. ST_NOT_FOUND when there is none. */
enum status
state_dir_read(const struct state_dir *f, const char *path, struct buf *to, struct err *e);
/* The directory `path` below the frame, opened (close-on-exec); made when asked, 0700.
 * ST_NOT_FOUND when there is none. */
enum status state_dir_open_dir(const struct state_dir *f, const char *path, bool create, int *fd,
                               struct err *e);
/* Makes a directory and its parents below the frame (0700). */
enum status state_dir_mkdir(const struct state_dir *f, const char *path, struct err *e);
/* Removes a file; none there is fine. */
enum status state_dir_remove(const struct state_dir *f, const char *path, struct err *e);
/* state_dir_replace and state_dir_read of the file `name`, one component, in the open directory. */
enum status state_dir_replace_at(int dir, const char *name, const void *p, size_t n, struct err *e);
enum status state_dir_read_at(int dir, const char *name, struct buf *to, struct err *e);
/* Makes the file `name` in dir, whole and at once, where there is none: without a name first,
 * in the directory `from` of the same file system, then linked. Cheaper than a temporary file,
 * and it wakes nobody who waits for writes. False: nothing was made, try another way. */
bool state_dir_link_new(int from, int dir, const char *name, const void *p, size_t n);
/* For who has nothing to do now and files to make soon, and has one thread: opens what the next
 * state_dir_link_new will give a name to, whatever its `from` is. One that gets none leaves
 * nothing. */
#define STATE_DIR_SPARES 2
void state_dir_spare(int dir);
/* "<state_dir>/<path>" appended. */
void state_dir_path(const struct state_dir *f, struct buf *to, const char *path);

/* ^[a-z][a-z0-9-]*$, no "--", at most 64: what may be a phase, and so a file name. */
bool state_dir_is_phase_name(const char *s);

#endif
