/*
 * cliq.h - the public library of cliq: war-room channels and pipeline agents.
 *
 * War-room channels from C: post messages that are on disk when the call
 * returns, read them back, and wait for new ones in any event loop.
 *
 *     cliq_channel *c = NULL;
 *     cliq_error err = CLIQ_ERROR_INIT;
 *     cliq_channel_options o = CLIQ_CHANNEL_OPTIONS_INIT;
 *     o.room = "room-001";
 *     cliq_message m = CLIQ_MESSAGE_INIT;
 *     m.from = "engineer"; m.to = "qa"; m.type = "done"; m.ref = "EPIC-001";
 *     m.body = "Work complete";
 *     if (cliq_channel_open(&c, &o, &err) || cliq_channel_post(c, &m, &err))
 *         fprintf(stderr, "%s\n", err.text);
 *     cliq_channel_close(c);
 *
 * Agents in C: a handler for each kind of message, and main is one call (see
 * "agents" below and cliq-sdk(3)).
 *
 * Every fallible call returns a cliq_status (CLIQ_OK is zero) and fills the
 * error, which may be NULL. Handles are opaque, may be used from one thread at
 * a time, and are freed by their close call, which takes NULL. Structs carry
 * their own size (the _INIT macros set it), so they can grow. The library keeps
 * no global state, prints nothing (but cliq_agent_run, which is a whole main) and
 * never exits.
 */
#ifndef CLIQ_H
#define CLIQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLIQ_VERSION_MAJOR 0
#define CLIQ_VERSION_MINOR 1
#define CLIQ_VERSION_PATCH 0
#define CLIQ_VERSION       "0.1.0"

#if defined(__GNUC__)
#define CLIQ_API                __attribute__((visibility("default")))
#define CLIQ_PRINTF(text, args) __attribute__((__format__(__printf__, text, args)))
#else
#define CLIQ_API
#define CLIQ_PRINTF(text, args)
#endif

/* Outcomes; the numbers are the exit codes of the command line. */
typedef enum cliq_status {
    CLIQ_OK = 0,
    CLIQ_FAILED = 1,
    CLIQ_INVALID = 2,
    CLIQ_ESCALATED = 3,
    CLIQ_NOT_FOUND = 4,
    CLIQ_CONFLICT = 5,
    CLIQ_TIMEOUT = 6,
    CLIQ_REFUSED = 7,
    CLIQ_IO = 74,
    CLIQ_CANCELLED = 130
} cliq_status;

typedef struct cliq_error {
    size_t size;
    char text[1024];
} cliq_error;
#define CLIQ_ERROR_INIT                                                                            \
    {                                                                                              \
        sizeof(cliq_error), ""                                                                     \
    }

/* The version of the library in use, "0.1.0". */
CLIQ_API const char *cliq_version(void);

/* ---- channels ---- */

typedef struct cliq_channel cliq_channel;

typedef struct cliq_channel_options {
    size_t size;
    const char *room; /* required */
    int not_durable;  /* non-zero: posts return before they are synced to disk */
    int from_start;   /* non-zero: cliq_channel_next begins with the oldest message;
                         zero: with the first one posted after the open */
} cliq_channel_options;
#define CLIQ_CHANNEL_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cliq_channel_options), NULL, 0, 0                                                   \
    }

/* Strings are UTF-8 and NUL-ended; NULL: the field is missing (when read). When
 * read they live until the next call on the same channel. */
typedef struct cliq_message {
    size_t size;
    const char *from, *to, *type, *ref, *body;
    const char *id, *ts; /* made by cliq_channel_post */
    const char *json;    /* when read: the whole record as one line of JSON */
} cliq_message;
#define CLIQ_MESSAGE_INIT                                                                          \
    {                                                                                              \
        sizeof(cliq_message), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
    }

/* Rooms live in $WARROOMS_DIR, else in the nearest .war-rooms/ here or above. */
CLIQ_API cliq_status cliq_channel_open(cliq_channel **out, const cliq_channel_options *options,
                                       cliq_error *err);

/* Posts a message and sets its id. A body over the limit is cut and marked, as the
 * command line does. The room is made when it is new. */
CLIQ_API cliq_status cliq_channel_post(cliq_channel *c, cliq_message *m, cliq_error *err);

/* The next message. CLIQ_NOT_FOUND: none now; wait until cliq_channel_fd is readable. */
CLIQ_API cliq_status cliq_channel_next(cliq_channel *c, cliq_message *m, cliq_error *err);

/* A descriptor that becomes readable when there may be something new; for poll(2)
 * and any event loop. It is the channel's: do not read or close it. */
CLIQ_API int cliq_channel_fd(cliq_channel *c);

CLIQ_API void cliq_channel_close(cliq_channel *c);

/*
 * ---- agents ----
 *
 * An agent is a program that the orchestrator starts once for a phase (or a notification,
 * or a test): it reads one AgentMessage, JSON, from standard input, appends what happens to
 * it to <signal_dir>/<phase>.jsonl, leaves handoffs for the phases behind it, and ends.
 * You write what it does; the rest is here:
 *
 *     static cliq_status
 *     analyse(cliq_context *ctx, void *user, cliq_error *err)
 *     {
 *         cliq_status s = cliq_progress(ctx, "Starting analysis...", err);
 *         const char *answer = think(cliq_context_role(ctx), cliq_context_input_text(ctx, NULL));
 *         for (size_t i = 0; !s && i < cliq_context_target_count(ctx); i++)
 *             s = cliq_send_text(ctx, cliq_context_target(ctx, i), answer, err);
 *         return s ? s : cliq_finalize_standard(ctx, err);
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         cliq_agent *agent = cliq_agent_new("my-analyst");
 *         cliq_agent_on(agent, "phase:standard", analyse, NULL);
 *         int code = cliq_agent_run(agent);
 *         cliq_agent_free(agent);
 *         return code;
 *     }
 *
 * The life of a message:   ok ("ack")  ->  your handler: progress, notify, handoffs
 *                              `-> exactly one of  complete (exit 0)  |  error (exit 1)
 *
 * A handler that fails gives the error line, with what it wrote into err. One that succeeds
 * and did not end the phase itself gives complete; a gate's must give a verdict. The first
 * call that ends the phase counts; later ones do nothing and succeed.
 *
 * What was sent, written or signalled is there when the call returns, and stays when the
 * agent fails later. Only the task board is written at the end.
 *
 * Wrong arguments, NULL handles too, are CLIQ_INVALID (or NULL, or zero), never a crash.
 */

typedef struct cliq_agent cliq_agent;
typedef struct cliq_context cliq_context;

/* Does the work of one message. The context is the library's and gone when it returns. */
typedef cliq_status (*cliq_handler)(cliq_context *ctx, void *user, cliq_error *err);

/* The name is the one in the agent's manifest: 1 to 64 of A-Z a-z 0-9 . _ -, not starting
 * with . or -. NULL when it is not, or without memory. */
CLIQ_API cliq_agent *cliq_agent_new(const char *name);

/*
 * Registers the handler for "phase:standard", "phase:gate", "notify" or "test"; a later one
 * for the same key replaces it. CLIQ_INVALID for another key. `user` is handed through.
 * Without a handler for "test" there is one that passes.
 */
CLIQ_API cliq_status cliq_agent_on(cliq_agent *agent, const char *key, cliq_handler handler,
                                   void *user);

/*
 * The body of main: reads the message from standard input, acknowledges it, calls its
 * handler, writes the terminal line. Gives the exit code: 0 when the handler succeeded, else
 * 1. Says what failed, and what cliq_progress is told, on standard error as well.
 */
CLIQ_API int cliq_agent_run(cliq_agent *agent);

/*
 * The same for a message in memory, for unit tests: reads and prints nothing.
 * CLIQ_INVALID: it is no AgentMessage, nothing was called or written. CLIQ_FAILED: the
 * handler failed (or there is none); err and the error line say why.
 */
CLIQ_API cliq_status cliq_agent_dispatch(cliq_agent *agent, const char *json, size_t len,
                                         cliq_error *err);

CLIQ_API void cliq_agent_free(cliq_agent *agent);

/*
 * ---- what an agent knows ----
 *
 * Strings are UTF-8 and NUL-ended and live until the handler returns. A text that the
 * pipeline does not have is "", unless NULL is mentioned.
 *
 * Calls with a path look into JSON: "channels.ops.webhook_url", "notifications[0].event";
 * NULL or "" is the whole. A string is given as it is, everything else as JSON; NULL when
 * there is no such value, or it is null.
 */

/* The message: "phase", "notify" or "test". */
CLIQ_API const char *cliq_context_type(const cliq_context *ctx);
/* The name given to cliq_agent_new; it stands in the handoffs. */
CLIQ_API const char *cliq_context_agent(const cliq_context *ctx);
/* metadata.instance_id, .team_name, .req_key */
CLIQ_API const char *cliq_context_instance_id(const cliq_context *ctx);
CLIQ_API const char *cliq_context_team_name(const cliq_context *ctx);
CLIQ_API const char *cliq_context_req_key(const cliq_context *ctx);
/* Absolute paths: the project's root; where agents work on files; the pipeline's own
 * directory (channels, signals); where the signal lines go. NULL when not told. */
CLIQ_API const char *cliq_context_project_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_work_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_state_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_signal_dir(const cliq_context *ctx);
/* The agent's settings, only the keys that its manifest declares. */
CLIQ_API const char *cliq_context_settings(const cliq_context *ctx, const char *path);
/* The payload: of a phase its configuration, of a notify message its notifications. */
CLIQ_API const char *cliq_context_payload(const cliq_context *ctx, const char *path);
/* The phase's configuration: action, sources, target_entries, commands, model, review. The
 * same as the payload; "phase_config.action" is "action". */
CLIQ_API const char *cliq_context_dispatch(const cliq_context *ctx, const char *path);
/* The AgentMessage as it came: version, handoff_dirs, input_artifacts ... */
CLIQ_API const char *cliq_context_message(const cliq_context *ctx, const char *path);

/* Of a phase (NULL for other messages): its name; "standard" or "gate". */
CLIQ_API const char *cliq_context_phase(const cliq_context *ctx);
CLIQ_API const char *cliq_context_phase_type(const cliq_context *ctx);
/* roles/<phase>.md and req_spec.md */
CLIQ_API const char *cliq_context_role(const cliq_context *ctx);
CLIQ_API const char *cliq_context_req_spec(const cliq_context *ctx);
/* The prompt that a model would be given for this phase: role, requirement, inputs, rules of
 * the answer. NULL without a phase or memory. */
CLIQ_API const char *cliq_context_prompt(cliq_context *ctx);
/* Non-zero: a support phase, which runs because a gate routed to it. */
CLIQ_API int cliq_context_is_support(const cliq_context *ctx);

/* The handoffs that lead here, by channel ("architect--developer"), in order of their names;
 * channels without one do not count. NULL behind the last. */
CLIQ_API size_t cliq_context_input_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_input_channel(const cliq_context *ctx, size_t i);
/* One handoff rendered for a prompt, data and text; NULL channel: all, each below a heading.
 * A channel may be called by its writer alone, "architect". NULL when there is none. */
CLIQ_API const char *cliq_context_input_text(const cliq_context *ctx, const char *channel);
/* A value of the envelope that came via a channel: "data.files[0]", "text", "phase"; NULL
 * path: the whole envelope. */
CLIQ_API const char *cliq_context_input(const cliq_context *ctx, const char *via, const char *path);

/* design/: the names of the documents, sorted, and the text of one. NULL: no such. */
CLIQ_API size_t cliq_context_design_doc_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_design_doc_name(const cliq_context *ctx, size_t i);
CLIQ_API const char *cliq_context_design_doc(const cliq_context *ctx, const char *name);
/* The team's inputs, inputs.json. */
CLIQ_API const char *cliq_context_workflow_inputs(const cliq_context *ctx, const char *path);
/* The phases that this one can send to. NULL behind the last. */
CLIQ_API size_t cliq_context_target_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_target(const cliq_context *ctx, size_t i);

/* One automated check of a gate. */
typedef struct cliq_check {
    size_t size;
    const char *name, *output;
    int pass;      /* non-zero: it passed */
    int exit_code; /* -1: not told */
} cliq_check;
#define CLIQ_CHECK_INIT                                                                            \
    {                                                                                              \
        sizeof(cliq_check), NULL, NULL, 0, -1                                                      \
    }

/* Of a gate: the checks (CLIQ_NOT_FOUND behind the last), the phases it may route back to
 * (NULL behind the last), the present iteration, from 1, and how many there may be. */
CLIQ_API size_t cliq_context_check_count(const cliq_context *ctx);
CLIQ_API cliq_status cliq_context_check(const cliq_context *ctx, size_t i, cliq_check *check,
                                        cliq_error *err);
CLIQ_API size_t cliq_context_route_target_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_route_target(const cliq_context *ctx, size_t i);
CLIQ_API int64_t cliq_context_iteration(const cliq_context *ctx);
CLIQ_API int64_t cliq_context_max_iterations(const cliq_context *ctx);

/* ---- what an agent does ---- JSON is checked: what is not JSON is CLIQ_INVALID. */

/* Writes the handoff for one of the targets: text alone, or data (an object) and text, of
 * which one may be NULL. Another phase is CLIQ_INVALID. */
CLIQ_API cliq_status cliq_send_text(cliq_context *ctx, const char *target, const char *text,
                                    cliq_error *err);
CLIQ_API cliq_status cliq_send(cliq_context *ctx, const char *target, const char *data_json,
                               const char *text, cliq_error *err);
/* Writes files/<phase>/<name>; the name may hold directories, but no "..". */
CLIQ_API cliq_status cliq_write_file(cliq_context *ctx, const char *name, const void *content,
                                     size_t len, cliq_error *err);
/* A note for people who watch; the second as printf(3). */
CLIQ_API cliq_status cliq_progress(cliq_context *ctx, const char *text, cliq_error *err);
CLIQ_API cliq_status cliq_progressf(cliq_context *ctx, const char *format, ...) CLIQ_PRINTF(2, 3);
/* Writes signals/<phase>_<name>.json; NULL: {}. */
CLIQ_API cliq_status cliq_signal(cliq_context *ctx, const char *name, const char *payload_json,
                                 cliq_error *err);
/* Asks the orchestrator to notify: channel_ref is "slack:oncall" or "email"; the payload is
 * an object, NULL: {}. */
CLIQ_API cliq_status cliq_register_notification(cliq_context *ctx, const char *event,
                                                const char *channel_ref, const char *payload_json,
                                                cliq_error *err);

/*
 * The task board: "- [ ] <phase>" a phase, notes below it. Marks are no-ops when the phase is
 * not on it or is marked so already; so is a note without its phase. It is written at the
 * end of the phase, only when it was changed, without undoing what others did meanwhile.
 */
CLIQ_API cliq_status cliq_board_mark_complete(cliq_context *ctx, const char *phase);
CLIQ_API cliq_status cliq_board_mark_incomplete(cliq_context *ctx, const char *phase);
CLIQ_API cliq_status cliq_board_add_note(cliq_context *ctx, const char *phase, const char *note);
CLIQ_API cliq_status cliq_board_replace(cliq_context *ctx, const char *content);
/* Lives until the board is changed. */
CLIQ_API const char *cliq_board_content(const cliq_context *ctx);
CLIQ_API int cliq_board_is_dirty(const cliq_context *ctx);

/* ---- how it ends ---- */

typedef enum cliq_outcome {
    CLIQ_VERDICT_PASS = 1, /* the pipeline goes on */
    CLIQ_VERDICT_ROUTE,    /* back to the phase `target` */
    CLIQ_VERDICT_ESCALATE  /* a person is needed */
} cliq_outcome;

typedef struct cliq_verdict {
    size_t size;
    cliq_outcome outcome;   /* required */
    const char *target;     /* CLIQ_VERDICT_ROUTE: one of the route targets */
    const char *comment;    /* required: why */
    const char *reviewer;   /* who decided; NULL: not told */
    const char *decided_at; /* ISO time; NULL: not told */
} cliq_verdict;
#define CLIQ_VERDICT_INIT                                                                          \
    {                                                                                              \
        sizeof(cliq_verdict), (cliq_outcome)0, NULL, NULL, NULL, NULL                              \
    }

/* The end of a standard phase: the board, then complete. */
CLIQ_API cliq_status cliq_finalize_standard(cliq_context *ctx, cliq_error *err);
/* The same, with a result for the complete line: any JSON, NULL: none. Also for a notify
 * message. Not for gates: those end with a verdict. */
CLIQ_API cliq_status cliq_finalize_result(cliq_context *ctx, const char *result_json,
                                          cliq_error *err);
/* The end of a gate: the verdict's handoff (to the target of a ROUTE; of a PASS to the targets
 * that nothing was sent to), the board, complete. CLIQ_INVALID, with nothing written, when the
 * target is not a route target, or the phase no gate. */
CLIQ_API cliq_status cliq_finalize_gate(cliq_context *ctx, const cliq_verdict *verdict,
                                        cliq_error *err);
/* The end of a test: {"passed":...,"message":...} is its result. A test that does not pass
 * is no failure of the handler. */
CLIQ_API cliq_status cliq_test_result(cliq_context *ctx, int passed, const char *message,
                                      cliq_error *err);

#ifdef __cplusplus
}
#endif

#endif
