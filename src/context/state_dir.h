/*
 * state_dir - the directory that holds a run's files: .cliq/, or frames/<phase>/ of a team phase.
 *
 *     workflow.yml agents.json roles/ req_spec.md inputs.json design/ task_board.md
 *     channels/<from>--<to>/{instructions.md,handoff.json}   files/<phase>/<name>
 *     signals/{<phase>.jsonl,<phase>_routed,<phase>_command_results.json,_pipeline_status}
 *     gates/<gate>/gate_context.md
 *     run/{journal.jsonl,lock,attempts/,logs/,prompts/,messages/,panes/}
 *
 * Every file below it is opened relative to one directory descriptor, by checked names.
 */
#ifndef CLIQ_CONTEXT_STATE_DIR_H
#define CLIQ_CONTEXT_STATE_DIR_H

#include "base/buf.h"

#include <stdbool.h>
#include <sys/stat.h>

struct state_dir {
    int dir;           /* descriptor of the state directory */
    char *state_dir;   /* its absolute path */
    char *project_dir; /* absolute; the parent of .cliq/ */
};

/* Opens the nearest .cliq/ of this user, here or above. ST_NOT_FOUND says to run cliq init.
 * ST_REFUSED: there are only directories of other users; the error names the nearest one's
 * owner. */
enum status state_dir_find(struct state_dir *f, struct err *e);
/* ST_INVALID: the path is not UTF-8, so no message could hold it. */
enum status state_dir_check_path(const char *path, struct err *e);
/* ST_REFUSED: another user owns `path`; `st` is its stat. */
enum status state_dir_check_owner(const struct stat *st, const char *path, struct err *e);
/* Opens the state directory `state_dir`. */
enum status
state_dir_open(struct state_dir *f, const char *state_dir, const char *project_dir, struct err *e);
void state_dir_close(struct state_dir *f);

/* Replaces the file `path` by a link or by temp file + rename, so that readers see the old or
 * the new one, whole. Parent directories are created. Mode 0600. */
enum status state_dir_replace(const struct state_dir *f, const char *path, const void *p, size_t n,
                              struct err *e);
/* Creates the file `path`, removing an older one first; a reader that has the old one open keeps
 * it. For files that readers learn about afterwards: they never see half of it, because it is
 * removed when a write fails. Cheaper than state_dir_replace; otherwise the same. */
enum status state_dir_create(const struct state_dir *f, const char *path, const void *p, size_t n,
                             struct err *e);
/*
 * A file that is written piece by piece, for what is too large for memory: state_dir_begin, then
 * write to .fd, then state_dir_end, which puts it in place of `path` when it is kept and removes it
 * otherwise. Zero is a file that was not begun, and ending it does nothing.
 */
struct state_file {
    int fd, dir; /* dir: of the file, so that the two can be renamed */
    char temp[40];
    const char *name; /* the last component of the caller's path */
    bool is_open;
};
enum status
state_dir_begin(const struct state_dir *f, const char *path, struct state_file *to, struct err *e);
/* Empties it, to write it from its beginning. */
enum status state_dir_rewind(struct state_file *to, struct err *e);
enum status state_dir_end(struct state_file *to, bool is_kept, struct err *e);
/* Opens a regular file for reading (close-on-exec). ST_NOT_FOUND: there is no such file. */
enum status state_dir_open_file(const struct state_dir *f, const char *path, int *fd,
                                struct stat *st, struct err *e);
/* Appends the whole file to `to`. ST_NOT_FOUND: there is no such file. */
enum status
state_dir_read(const struct state_dir *f, const char *path, struct buf *to, struct err *e);
/* Opens the directory `path` (close-on-exec); creates it, 0700, when asked. ST_NOT_FOUND: there
 * is no such directory. */
enum status state_dir_open_dir(const struct state_dir *f, const char *path, bool create, int *fd,
                               struct err *e);
/* Creates a directory and its parents (0700). */
enum status state_dir_mkdir(const struct state_dir *f, const char *path, struct err *e);
/* Removes a file; a missing one is fine. */
enum status state_dir_remove(const struct state_dir *f, const char *path, struct err *e);
/* state_dir_replace and state_dir_read for the file `name`, one component, in an open directory. */
enum status state_dir_replace_at(int dir, const char *name, const void *p, size_t n, struct err *e);
enum status state_dir_read_at(int dir, const char *name, struct buf *to, struct err *e);
/* Creates the file `name` in dir where there is none: first as an unnamed file (O_TMPFILE) in
 * the directory `from` of the same file system, then linked whole. Cheaper than a temporary
 * file, and inotify watches for writes see nothing. False: nothing was created; try another way. */
bool state_dir_link_new(int from, int dir, const char *name, const void *p, size_t n);
/* Opens the unnamed file for the next state_dir_link_new ahead of time, while the caller is
 * idle, whatever that call's `from` is. Single-threaded callers only. An unused one leaves
 * nothing on disk. */
#define STATE_DIR_SPARES 2
void state_dir_spare(int dir);
/* Appends "<state_dir>/<path>". */
void state_dir_path(const struct state_dir *f, struct buf *to, const char *path);

/* ^[a-z][a-z0-9-]*$, no "--", at most 64 bytes: a valid phase name, and so a safe file name. */
bool state_dir_is_phase_name(const char *s);

#endif
