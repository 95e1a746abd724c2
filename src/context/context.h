/*
 * context - everything an agent can read and do, built from its AgentMessage. The C SDK, the shell
 * SDK and the built-in agents all use it.
 *
 * Order of calls: context_build, context_ack (or owes_ack), then anything in any order, then one of
 * context_finalize_standard, context_finalize_gate, context_complete or context_fail;
 * context_release at the end. The first call that ends the phase counts: later ones do nothing and
 * succeed, so one context writes exactly one terminal line.
 *
 * A notify or test message has no phase: its context offers the message, the settings and the calls
 * that write signals.
 *
 * The agent's lines go to <signal_dir>/<phase>.jsonl; for other messages to
 * _notify-<agent>-<id>.jsonl and _test-<agent>-<id>.jsonl, where id is payload.id or else
 * instance_id, with '_' for each byte that may not be in a file name.
 *
 * Secrets of the agent (values of secret keys of its settings, and of variables with such names in
 * its environment) are masked as *** in lines, handoffs and signals. Its files are written as they
 * are.
 *
 * Ownership: strings live in the arena, which must outlive the context, as must the
 * message. A role is payload.role, else roles/<phase>.md with its template variables
 * replaced (team/template.h).
 */
#ifndef CLIQ_CONTEXT_CONTEXT_H
#define CLIQ_CONTEXT_CONTEXT_H

#include "base/flood.h"
#include "base/mask.h"
#include "context/agent_message.h"
#include "context/board.h"
#include "context/handoff.h"
#include "context/state_dir.h"
#include "context/usage.h"

struct context_input {
    const char *channel;      /* "architect--developer" */
    const char *from;         /* "architect" */
    const char *instructions; /* from instructions.md; NULL: none */
    bool is_route;            /* not from a phase in depends_on: only gates send through it */
    bool is_there;            /* false: the channel holds no handoff, and the rest is empty */
    struct handoff handoff;
    const struct json *envelope; /* the handoff as a JSON tree */
    const char *text;            /* rendered for a prompt; "" when there is none */
};

struct context_target {
    const char *name;         /* the phase that reads it */
    const char *channel;      /* absolute path */
    const char *instructions; /* NULL: none */
    bool is_sent;             /* this context has sent to it */
};

#define CONTEXT_DOC_MAX ((size_t)8 << 20)

struct context_doc {
    const char *name;
    const char *text; /* NULL: larger than CONTEXT_DOC_MAX, or not UTF-8 text */
    const char *path; /* absolute */
    int64_t size;     /* bytes */
};

struct context {
    struct arena *arena;
    const struct agent_message *msg;
    const char *agent, *phase, *phase_type;         /* NULL without a phase: phase, phase_type */
    const char *instance_id, *team_name, *req_key;  /* metadata; "" when not given */
    const char *project_dir, *work_dir, *state_dir; /* NULL: unknown */
    const struct json *settings;                    /* an object, maybe empty */
    const struct json *dispatch; /* the payload: action, sources, target_entries, commands … */
    /* The phase's fields, those that the agent's schema declares and those of the protocol's page
     * (action, sources, target_entries, commands, model, review); the payload when it has no
     * phase_config. */
    const struct json *phase_config;
    /* only with a phase */
    bool is_gate, is_support;
    const char *role, *req_spec;  /* "" when there is none */
    struct context_input *inputs; /* every channel that leads to this phase, by name */
    size_t n_inputs;
    const char *input_text; /* the text of all inputs, each below a heading; "": none */
    struct context_doc *design_docs;
    size_t n_design_docs;
    struct context_doc *fetched; /* of the phase's sources: added by context_add_fetched */
    size_t n_fetched;
    const struct json *workflow_inputs; /* inputs.json; NULL: none */
    struct context_target *targets;     /* from handoff_dirs */
    size_t n_targets;
    struct board board;
    /* only at a gate */
    const struct json *check_results; /* [{name,pass,output,exit_code}]; NULL: none */
    const char **route_targets;
    size_t n_route_targets;
    int64_t iteration, max_iterations;
    /* of this agent */
    struct state_dir state; /* dir -1 when there is none */
    int signal_dir;
    const char *signal_name;
    int64_t heard_ns;    /* when the context was opened: the timestamp of its ack */
    int64_t deadline_ms; /* by clock_mono_ms: then the run stops the agent; 0: never */
    bool owes_ack;       /* the ack must be written before any other line, or with it */
    bool is_ticking;  /* finalizing marks the phase's entry of the board, a gate's when it passes */
    bool is_done;     /* a terminal line was written */
    struct mask mask; /* the agent's secrets: not in what it says or hands over */
    struct json *usage; /* what its model used so far; NULL: nothing was reported. It lives
                         * until the next report */
    struct arena usage_arena;
    struct flood said, used; /* lines of progress, and of usage */
};

/* context_open reads the message: enough to send, signal and end. context_read adds the files of
 * the phase: role, requirement, inputs, instructions, documents, board. ST_INVALID names the
 * wrong file or field; c can be released whatever they return. */
enum status
context_open(struct arena *a, const struct agent_message *m, struct context *c, struct err *e);
enum status context_read(struct context *c, struct err *e);
/* context_open, then context_read. */
enum status
context_build(struct arena *a, const struct agent_message *m, struct context *c, struct err *e);
void context_release(struct context *c);

/* Until the run stops the agent for its time limit, in ms; INT64_MAX: it has none. */
int64_t context_left_ms(const struct context *c);
/* May the agent wait for so long? False: the time limit comes first, and `why` says both times and
 * what to do, as the end of a sentence. */
bool context_may_wait(const struct context *c, int64_t ms, struct err *why);

/* Appends the phase's prompt (context/prompt.h). */
enum status context_prompt(struct context *c, struct buf *to, struct err *e);
/* The same in two parts: identity and role; the other sections. */
enum status
context_prompt_parts(struct context *c, struct buf *system, struct buf *to, struct err *e);

/* Writes the handoff for a target at once. data and text may be NULL, not both. An unknown
 * target is ST_INVALID; the sentence lists the known ones. */
enum status context_send(struct context *c, const char *target, const struct json *data,
                         const char *text, struct err *e);
/* Writes files/<phase>/<name>; the name may hold directories, but no .. component. */
enum status
context_write_file(struct context *c, const char *name, const void *p, size_t n, struct err *e);

/* Shows files/<phase>/<name> to the model: its text is in the prompt, when it is text and not too
 * large, else its path. */
enum status context_add_fetched(struct context *c, const char *name, struct err *e);

enum status context_ack(struct context *c, struct err *e);
enum status context_progress(struct context *c, const char *text, struct err *e);
/* Progress that another maker's program tells: it may repeat itself without end, so of more than 50
 * lines a second the rest is only counted. */
enum status context_echo(struct context *c, const char *text, struct err *e);
/* Reports what the model used so far, in all of this attempt: appends a progress line, with `text`
 * as its message unless NULL: at most 20 a second. The terminal line repeats the last report. */
enum status
context_usage(struct context *c, const struct usage *u, const char *text, struct err *e);
/* Writes signals/<phase>_<name>.json. The names command_results and routed are ST_INVALID. */
enum status
context_signal(struct context *c, const char *name, const struct json *payload, struct err *e);
/* Asks for a notification: `to` is "agent" or "agent:channel"; payload NULL: {}. */
enum status context_notify(struct context *c, const char *event, const char *to,
                           const struct json *payload, struct err *e);

/* When the board is dirty, applies its edits to the file (board.h). */
enum status context_write_board(struct context *c, struct err *e);

enum status context_complete(struct context *c, const struct json *result, struct err *e);
/* A text too long for one line is truncated. */
enum status context_fail(struct context *c, const char *text, struct err *e);
/* Writes the board when it is dirty, then a complete line. */
enum status context_finalize_standard(struct context *c, struct err *e);
/* The same with a result: {"summary":…}, the outcome in a sentence for people. */
enum status context_finalize_summary(struct context *c, const char *summary, struct err *e);

struct context_verdict {
    const char *outcome;               /* PASS, ROUTE or ESCALATE */
    const char *target;                /* ROUTE: one of route_targets; else NULL or "" */
    const char *comment;               /* the reason */
    const char *reviewer, *decided_at; /* NULL: not given */
};

/*
 * Ends a gate. ROUTE writes the verdict's envelope into channels/<gate>--<target>; PASS writes it
 * into the channel of each successor that this context has not sent to. Then come the board and a
 * complete line with {"verdict":{outcome,target?,reason}}. A bad verdict is ST_INVALID, and nothing
 * is written.
 */
enum status
context_finalize_gate(struct context *c, const struct context_verdict *v, struct err *e);

#endif
