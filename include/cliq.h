/*
 * cliq.h - the public library of cliq: war-room channels, pipeline agents, signals and tasks.
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
 * "agents" below and cliq-sdk(3)). Signals and tasks: see "the hub" below.
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
 * ---- the hub ----
 *
 * Signals that arrive, and tasks that exactly one of all who try can claim. The hub is the files
 * in <config>/signals, with nothing running, or a server (cliq serve): the same calls, the same
 * answers. A worker:
 *
 *     cliq_hub *hub = NULL;
 *     cliq_error err = CLIQ_ERROR_INIT;
 *     cliq_claim_options next = CLIQ_CLAIM_OPTIONS_INIT;
 *     cliq_signal_info task = CLIQ_SIGNAL_INFO_INIT;
 *     next.role = "reviewer";
 *     next.wait_ms = -1;
 *     cliq_status s = cliq_hub_open(&hub, NULL, &err);
 *     while (!s && !(s = cliq_claim(hub, &next, &task, &err)))
 *         s = review(task.content) ? cliq_ack(hub, task.id, NULL, &err)
 *                                  : cliq_fail(hub, task.id, NULL, "tests fail", -1, &err);
 *     cliq_hub_close(hub);
 *
 * What is written is on disk when the call returns. What waits, waits for an event, never for a
 * poll. A server that is gone is asked again: up to three times by a call, for as long as it may
 * wait by cliq_next, which misses nothing and tells nothing twice.
 *
 * Threads: a handle belongs to one thread at a time; only cliq_hub_stop may be called from any
 * thread, and from a signal handler. Threads that each open their own handle need no lock. Do not
 * use a handle on both sides of a fork.
 *
 * What is written to files wakes agents that are registered and asleep (cliq-hub(7)), as commands
 * do: when there is one, the call runs `cliq signal pump`, which must be on PATH, and waits for it,
 * some milliseconds. No child is left; your program may see one SIGCHLD. Without that program the
 * next command, run or server wakes them. A server wakes by itself.
 *
 * Linking: statically this part needs SQLite and libsodium, `pkg-config --static --libs
 * cliq-hub`; programs that call nothing of it need neither.
 */

typedef struct cliq_hub cliq_hub;

typedef struct cliq_hub_options {
    size_t size;
    const char *config;   /* NULL: $CLIQ_HOME, else ~/.cliqrc */
    const char *url;      /* http://HOST:PORT or unix:/PATH; NULL: $CLIQ_URL; "": files, whatever
                             that says. https is refused, CLIQ_INVALID: use a server on this machine */
    const char *key;      /* for a server; NULL: $CLIQ_KEY, else the key of our own server */
    const char *identity; /* at the files; NULL: $CLIQ_IDENTITY, else the user's name. A server
                             knows you by the key */
} cliq_hub_options;
#define CLIQ_HUB_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(cliq_hub_options), NULL, NULL, NULL, NULL                                           \
    }

/*
 * A signal, or the task it is. id and claim_id are yours to keep; an id longer than fits (no id of
 * ours is) is "", and stands in json, which is as the HTTP interface answers: there the id of a
 * broadcast has no "signal:". All calls take both forms. The strings live until the next call on
 * the hub that fills a cliq_signal_info, and may be given to that. NULL: there is none.
 */
typedef struct cliq_signal_info {
    size_t size;
    char id[128];             /* "signal:" and 24 letters and digits, whichever call tells it */
    char claim_id[64];        /* of a claim; else "" */
    uint64_t seq;             /* its number in the log; 0: not told */
    double urgency;           /* 0 to 1 */
    int64_t delivery_count;   /* how often it came back */
    const char *type;         /* "task", "build:web:done" */
    const char *content;      /* a text as it is, all else as JSON */
    const char *payload_json; /* what cliq_generate was given */
    const char *from, *to_role, *to_ring, *to_identity, *thread_id;
    const char *json; /* all of it, on one line */
} cliq_signal_info;
#define CLIQ_SIGNAL_INFO_INIT                                                                      \
    {                                                                                              \
        sizeof(cliq_signal_info), "", "", 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL                                                                                   \
    }

/* NULL options: all defaults. Nothing is opened or connected before the first call. */
CLIQ_API cliq_status cliq_hub_open(cliq_hub **out, const cliq_hub_options *options,
                                   cliq_error *err);
CLIQ_API void cliq_hub_close(cliq_hub *hub);

/* From now on cliq_claim and cliq_next do not wait: what they wait for ends with CLIQ_CANCELLED.
 * Everything else goes on working, so that a worker can finish its task. */
CLIQ_API void cliq_hub_stop(cliq_hub *hub);

typedef struct cliq_emit_options {
    size_t size;
    const char *to_role, *to_ring, *to_identity; /* at most one; none: for everyone */
    const char *from_role;                       /* one that you hold */
    const char *parent_id;                       /* what it answers to: they become a thread */
    const char *dedup_key; /* the same key again within a day gives the first signal */
    double urgency;        /* 0: the default, 0.5 */
    const char *more_json; /* an object with other members of the request: tags, resources,
                              metadata, payload, "urgency":0 ... What was given otherwise may not
                              be in it: CLIQ_INVALID, with its name */
} cliq_emit_options;
#define CLIQ_EMIT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cliq_emit_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL                     \
    }

/* Emits a signal; of the type "task" it can be claimed. A type has no '*', which is for patterns.
 * Options and *out may be NULL. */
CLIQ_API cliq_status cliq_emit(cliq_hub *hub, const char *type, const char *content,
                               const cliq_emit_options *options, cliq_signal_info *out,
                               cliq_error *err);
/* Broadcasts; the data is any JSON, or NULL. *out may be NULL. */
CLIQ_API cliq_status cliq_generate(cliq_hub *hub, const char *type, const char *data_json,
                                   cliq_signal_info *out, cliq_error *err);
/* What matches the pattern ("build:*:done": a '*' stands alone between colons, for exactly one
 * segment) comes to your inbox from now on. wakes: 1, 0, or -1 to leave it as it was; at first it
 * is 0. */
CLIQ_API cliq_status cliq_subscribe(cliq_hub *hub, const char *pattern, int wakes, cliq_error *err);
CLIQ_API cliq_status cliq_unsubscribe(cliq_hub *hub, const char *pattern, cliq_error *err);

typedef struct cliq_claim_options {
    size_t size;
    const char *id;   /* this one; NULL: the most urgent, then the oldest, that is for you */
    const char *role; /* of those, only for this role, which you hold */
    const char *const *types; /* and only of these types, NULL behind the last; NULL: any */
    unsigned lease_s;         /* how long before others get it; 0: 300 */
    int64_t wait_ms;          /* how long to wait for one; 0: not at all, -1: for ever */
} cliq_claim_options;
#define CLIQ_CLAIM_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cliq_claim_options), NULL, NULL, NULL, 0, 0                                         \
    }

/* CLIQ_NOT_FOUND: nothing to claim, or nothing came in time. CLIQ_CONFLICT: somebody else has it.
 */
CLIQ_API cliq_status cliq_claim(cliq_hub *hub, const cliq_claim_options *options,
                                cliq_signal_info *out, cliq_error *err);

/*
 * What becomes of a task. The holder is known by his identity; those who share one tell themselves
 * apart by claim_id, which may be NULL. CLIQ_CONFLICT: the claim is not yours, or not any more.
 */
/* It is done. */
CLIQ_API cliq_status cliq_ack(cliq_hub *hub, const char *id, const char *claim_id, cliq_error *err);
/* lease_s more from now on; 0: 300. */
CLIQ_API cliq_status cliq_extend(cliq_hub *hub, const char *id, const char *claim_id,
                                 unsigned lease_s, cliq_error *err);
/* Somebody else may have it. */
CLIQ_API cliq_status cliq_release(cliq_hub *hub, const char *id, const char *claim_id,
                                  cliq_error *err);
/* It failed, and comes again after retry_s seconds (-1: 1, then 2, 4, 8); the fifth time it is a
 * dead letter. The text says why and may be NULL. */
CLIQ_API cliq_status cliq_fail(cliq_hub *hub, const char *id, const char *claim_id, const char *why,
                               int64_t retry_s, cliq_error *err);

typedef struct cliq_listen_options { /* all zero: your inbox, from now on */
    size_t size;
    const char *pattern;     /* whatever has a type that matches, instead of your inbox */
    int everything;          /* non-zero: whatever there is, instead of your inbox */
    const char *role, *ring; /* of that, only what is from or to this role; to this ring */
    double min_urgency;      /* and at least so urgent */
    int from_start;          /* non-zero: begin with the oldest */
    uint64_t after;          /* else begin behind this seq, when it is not 0 */
} cliq_listen_options;
#define CLIQ_LISTEN_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cliq_listen_options), NULL, 0, NULL, NULL, 0, 0, 0                                  \
    }

/* Says what cliq_next is to tell, and from where on: what comes between this call and cliq_next is
 * not missed. Called again, it begins anew. NULL options: all defaults. */
CLIQ_API cliq_status cliq_listen(cliq_hub *hub, const cliq_listen_options *options,
                                 cliq_error *err);
/* The next signal, in the order of the log. CLIQ_TIMEOUT: none came in time; -1: for ever. Without
 * cliq_listen before: your inbox, from the first call on. Who keeps out->seq can go on from there
 * another day, with `after`. */
CLIQ_API cliq_status cliq_next(cliq_hub *hub, int64_t timeout_ms, cliq_signal_info *out,
                               cliq_error *err);

/* A descriptor that becomes readable when cliq_next may have something new; for poll(2) and any
 * event loop. Then call cliq_next with a timeout of 0 until it says CLIQ_TIMEOUT, also once before
 * the first wait. It is the hub's, until cliq_listen or cliq_hub_close: do not read or close it. A
 * server that was lost is looked for again in cliq_next, which takes up to a second then. Listens
 * to your inbox if cliq_listen was not called. -1: it cannot be had. */
CLIQ_API int cliq_hub_fd(cliq_hub *hub);

/* Your inbox, or with "target" that of a role or an @identity, as a JSON array. args_json is NULL
 * or an object: {"view":"now","limit":20,"after":CURSOR} ...; see GET /inbox in cliq-hub(7). The
 * texts live until the next cliq_inbox or cliq_hub_call; *cursor is NULL on the last page, and the
 * pointer itself may be NULL. */
CLIQ_API cliq_status cliq_inbox(cliq_hub *hub, const char *args_json, const char **json,
                                const char **cursor, cliq_error *err);
/* Anything else that can be asked of the hub, by its name: "thread", "list", "get", "history",
 * "status", "requeue", "inbox resolve", "signal schedule", "role add" ... with the arguments and
 * the answer of the HTTP interface (/openapi.json), without its envelope. */
CLIQ_API cliq_status cliq_hub_call(cliq_hub *hub, const char *op, const char *args_json,
                                   const char **json, const char **cursor, cliq_error *err);

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
