/*
 * context - what an agent knows and may do, made from its AgentMessage. The C SDK, the
 * shell SDK and the built-in agents all stand on it.
 *
 * Order of calls: context_build, context_ack (or owes_ack), then anything in any order, then one of
 * context_finalize_standard, context_finalize_gate, context_complete or context_fail;
 * context_release at the end. The first of these that ends the phase counts: later ones
 * do nothing and succeed, so exactly one terminal line is written by one context.
 *
 * For notify and test messages there is no phase: only the message, the settings and the
 * calls that write signals.
 *
 * The agent's lines go to <signal_dir>/<phase>.jsonl; for other messages to
 * _notify-<agent>-<id>.jsonl and _test-<agent>-<id>.jsonl, where id is payload.id or else
 * instance_id, with '_' for what is not of a file name.
 *
 * Ownership: strings live in the arena, which must outlive the context, as must the
 * message. A role is payload.role, else roles/<phase>.md with its template variables
 * replaced (team/template.h).
 */
#ifndef CLIQ_CONTEXT_CONTEXT_H
#define CLIQ_CONTEXT_CONTEXT_H

#include "context/agent_message.h"
#include "context/board.h"
#include "context/handoff.h"
#include "context/state_dir.h"

struct context_input {
    const char *channel;      /* "architect--developer" */
    const char *from;         /* "architect" */
    const char *instructions; /* its instructions.md; NULL: none */
    bool is_there;            /* a handoff was left; without one the rest is empty */
    struct handoff handoff;
    const struct json *envelope; /* the same as a tree */
    const char *text;            /* rendered for a prompt; "" when there is none */
};

struct context_target {
    const char *name;         /* the phase that reads it */
    const char *channel;      /* absolute path */
    const char *instructions; /* NULL: none */
    bool is_sent;             /* by this context */
};

struct context_doc {
    const char *name, *text;
};

struct context {
    struct arena *arena;
    const struct agent_message *msg;
    const char *agent, *phase, *phase_type;         /* phase, phase_type: NULL without a phase */
    const char *instance_id, *team_name, *req_key;  /* metadata; "" when not given */
    const char *project_dir, *work_dir, *state_dir; /* NULL when not known */
    const struct json *settings;                    /* an object, perhaps empty */
    const struct json *dispatch; /* the payload: action, sources, target_entries, commands … */
    /* of a phase */
    bool is_gate, is_support;
    const char *role, *req_spec;  /* "" when there is none */
    struct context_input *inputs; /* every channel that leads here, by name */
    size_t n_inputs;
    const char *input_text; /* all of them, each below a heading; "" when there is none */
    struct context_doc *design_docs;
    size_t n_design_docs;
    const struct json *workflow_inputs; /* inputs.json; NULL: none */
    struct context_target *targets;     /* those of handoff_dirs */
    size_t n_targets;
    struct board board;
    /* of a gate */
    const struct json *check_results; /* [{name,pass,output,exit_code}]; NULL: none */
    const char **route_targets;
    size_t n_route_targets;
    int64_t iteration, max_iterations;
    /* our own */
    struct state_dir state; /* dir -1 when there is none */
    int signal_dir;
    const char *signal_name;
    int64_t heard_ns; /* when it was opened: the time of its ack */
    bool owes_ack;    /* it is to be written before any other line, or with it */
    bool is_done;     /* a terminal line was written */
};

/* What the message says: enough to send, signal and end. context_read adds what the files
 * of the phase say: role, requirement, inputs, instructions, documents, board. ST_INVALID
 * names the file or field that is wrong; c can be released whatever they return. */
enum status
context_open(struct arena *a, const struct agent_message *m, struct context *c, struct err *e);
enum status context_read(struct context *c, struct err *e);
/* Both. */
enum status
context_build(struct arena *a, const struct agent_message *m, struct context *c, struct err *e);
void context_release(struct context *c);

/* The phase's prompt (context/prompt.h) appended. */
enum status context_prompt(struct context *c, struct buf *to, struct err *e);

/* Writes the handoff for a target at once. data and text may be NULL, not both. An unknown
 * target is ST_INVALID; the sentence lists the known ones. */
enum status context_send(struct context *c, const char *target, const struct json *data,
                         const char *text, struct err *e);
/* files/<phase>/<name>; the name may hold directories, but no .. */
enum status
context_write_file(struct context *c, const char *name, const void *p, size_t n, struct err *e);

enum status context_ack(struct context *c, struct err *e);
enum status context_progress(struct context *c, const char *text, struct err *e);
/* signals/<phase>_<name>.json */
enum status
context_signal(struct context *c, const char *name, const struct json *payload, struct err *e);
/* Asks for a notification: `to` is "agent" or "agent:channel"; payload NULL: {}. */
enum status context_notify(struct context *c, const char *event, const char *to,
                           const struct json *payload, struct err *e);

/* Writes the board when it is dirty: what was done to ours is done to the file. */
enum status context_write_board(struct context *c, struct err *e);

enum status context_complete(struct context *c, const struct json *result, struct err *e);
/* A text too long for a line is cut. */
enum status context_fail(struct context *c, const char *text, struct err *e);
/* The board when it is dirty, then complete. */
enum status context_finalize_standard(struct context *c, struct err *e);

struct context_verdict {
    const char *outcome;               /* PASS, ROUTE or ESCALATE */
    const char *target;                /* ROUTE: one of route_targets; else NULL or "" */
    const char *comment;               /* why */
    const char *reviewer, *decided_at; /* NULL: not told */
};

/*
 * The end of a gate. ROUTE: the verdict's envelope into channels/<gate>--<target>; PASS:
 * into the channel of each successor this context has not sent to; then the board, then
 * complete with {"verdict":{outcome,target?,reason}}. ST_INVALID for a bad verdict:
 * nothing was written.
 */
enum status
context_finalize_gate(struct context *c, const struct context_verdict *v, struct err *e);

#endif
