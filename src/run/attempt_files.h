/*
 * attempt_files - the files and the environment of an attempt, made before it starts: templates are
 * resolved, message and prompt are written.
 *
 *     run/messages/<phase>.<n>.json   the AgentMessage, its standard input
 *     run/prompts/<phase>.<n>.md      what a model is told, for agents that ask one
 *     run/logs/<phase>.<n>.log        its output
 *     run/attempts/<phase>.<n>        made by the child: it runs at most once
 *     gates/<gate>/gate_context.md    what a gate's agent is about to judge
 *
 * A gate with commands whose agent is not `checks` or `exec` has two stages: first the
 * built-in `checks` agent runs the commands (files named <gate>.<n>.checks, signals in
 * run/checks/), then the gate's own agent judges.
 */
#ifndef CLIQ_RUN_ATTEMPT_FILES_H
#define CLIQ_RUN_ATTEMPT_FILES_H

#include "base/mask.h"
#include "context/usage.h"
#include "proc/proc.h"
#include "run/run.h"

enum stage { STAGE_AGENT, STAGE_CHECKS };

struct attempt_id {
    size_t phase;
    unsigned n, iteration;
    enum stage stage;
    bool is_routed;
    const struct usage *session; /* the conversation that it can go on with; NULL: none; borrowed */
    unsigned redo;               /* times it was made impossible before it began, and named anew */
};

/* "build.2" or "review.1.checks" appended. */
void attempt_id_name(const struct plan *p, const struct attempt_id *a, struct buf *to);

/* Does this gate begin with the commands as a stage of their own? */
bool attempt_files_has_checks(const struct plan *p, size_t phase);

/* The phase's `when`: true without one. ST_INVALID when it cannot be resolved. */
enum status attempt_files_when(const struct plan *p, size_t phase, const char *run_id,
                               bool *is_true, struct err *e);

/* An attempt that can be started once its message is written. Strings are in the arena. */
struct attempt_files {
    struct proc_spec spec;
    const char *token;   /* CLIQ_ATTEMPT, and attempt_id of message and lines */
    const char *message; /* the text of spec.in */
    size_t message_len;
};

/* Writes the files but the message, and describes the process; memory comes from the arena.
 * ST_INVALID: a template cannot be resolved; nothing must be started. */
enum status
attempt_files_write(const struct plan *p, const struct attempt_id *a, const char *run_id,
                    struct arena *arena, struct attempt_files *out, struct err *e);
/* Writes the message. It is read only after the start, so it can be written last. */
enum status
attempt_files_message(const struct plan *p, const struct attempt_files *x, struct err *e);

/* Appends the last line of the attempt's log that shows anything, masked; nothing when there is
 * none. */
void attempt_files_last_line(const struct plan *p, const struct attempt_files *x,
                             const struct mask *m, struct buf *to);

/* The same for one notification, an element of its message's list. Its files are called
 * _notify-<agent>-<id>: an id is delivered at most once in a run. */
enum status
attempt_files_notify(const struct plan *p, const struct agent *agent, const char *id,
                     const struct json *notification, const char *run_id, struct arena *arena,
                     struct proc_spec *spec, const char **token, struct err *e);

/* A copy of the receivers of a phase's notify map with their texts expanded, in the arena. */
enum status
attempt_files_receivers(const struct plan *p, size_t phase, const char *run_id, struct arena *arena,
                        const struct json *to, struct json **out, struct err *e);
/* Appends the last line of that notification's log, as attempt_files_last_line. */
void attempt_files_last_words(const struct plan *p, const char *agent, const char *id,
                              const struct mask *m, struct buf *to);

#endif
