/*
 * cliq.h - the C library of cliq: war-room channels, pipeline agents, signals and tasks.
 *
 * War-room channels: post messages, which are on disk when the call returns,
 * read them, and wait for new ones in any event loop.
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
 * Agents: register a handler for each kind of message; main is one call (see
 * "agents" below and cliq-sdk(3)). Signals and tasks: see "the hub" below.
 *
 * Every fallible call returns a cliq_status (CLIQ_OK is zero) and fills the
 * error, which may be NULL. Handles are opaque, may be used by one thread at a
 * time, and are freed by their close call, which accepts NULL. Structs have
 * their own size (set by the _INIT macros), so that they can grow. The library
 * has no global state and never exits. It prints nothing, except in
 * cliq_agent_run.
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

/* Results; the numbers are the exit codes of the command line. */
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
                         zero: with the first message posted after the open */
} cliq_channel_options;
#define CLIQ_CHANNEL_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cliq_channel_options), NULL, 0, 0                                                   \
    }

/* Strings are UTF-8 and NUL-ended. In a message that was read, NULL means that the field is
 * missing, and strings are valid until the next call on the same channel. */
typedef struct cliq_message {
    size_t size;
    const char *from, *to, *type, *ref, *body;
    const char *id, *ts; /* set by cliq_channel_post */
    const char *json;    /* when read: the whole record as one line of JSON */
} cliq_message;
#define CLIQ_MESSAGE_INIT                                                                          \
    {                                                                                              \
        sizeof(cliq_message), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
    }

/* Rooms are in $WARROOMS_DIR, else in the nearest .war-rooms/ in the working directory or above. */
CLIQ_API cliq_status cliq_channel_open(cliq_channel **out, const cliq_channel_options *options,
                                       cliq_error *err);

/* Posts a message and sets its id. A body over the limit is truncated and marked, as by the command
 * line. A new room is created. */
CLIQ_API cliq_status cliq_channel_post(cliq_channel *c, cliq_message *m, cliq_error *err);

/* Returns the next message. CLIQ_NOT_FOUND: none yet; wait until cliq_channel_fd is readable. */
CLIQ_API cliq_status cliq_channel_next(cliq_channel *c, cliq_message *m, cliq_error *err);

/* A descriptor that becomes readable when there may be a new message; for poll(2) and any event
 * loop. The channel owns it: do not read or close it. */
CLIQ_API int cliq_channel_fd(cliq_channel *c);

CLIQ_API void cliq_channel_close(cliq_channel *c);

/*
 * ---- the hub ----
 *
 * The hub delivers signals, and tasks that exactly one worker can claim. It is the files in
 * <config>/signals, without a daemon, or a server (cliq serve); calls and results are the same. A
 * worker:
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
 * Writes are on disk when the call returns. Waits are event-driven, without polling. If a server
 * is unreachable, a call makes up to three tries; cliq_next retries until its timeout, and loses or
 * repeats no signal.
 *
 * Threads: one thread at a time may use a handle. Only cliq_hub_stop may be called from any thread,
 * and from a signal handler. Threads with their own handles need no lock. After a fork, only one of
 * the processes may use a handle.
 *
 * Writes to files start registered agents that sleep (cliq-hub(7)), as writes of commands do: the
 * call runs `cliq signal pump`, which must be on PATH, and waits some milliseconds for it. No child
 * process remains; your program may get one SIGCHLD. If the program is missing, the next command,
 * run or server starts them. A server starts agents itself.
 *
 * Linking: a static program that uses this part needs SQLite and libsodium, `pkg-config --static
 * --libs cliq-hub`; other programs need neither.
 */

typedef struct cliq_hub cliq_hub;

typedef struct cliq_hub_options {
    size_t size;
    const char *config;   /* NULL: $CLIQ_HOME, else ~/.cliqrc */
    const char *url;      /* http://HOST:PORT or unix:/PATH; NULL: $CLIQ_URL; "": files, even if
                             CLIQ_URL is set. https is CLIQ_INVALID: use a server on this machine */
    const char *key;      /* for a server; NULL: $CLIQ_KEY, else the key of the local server */
    const char *identity; /* for files; NULL: $CLIQ_IDENTITY, else the user's name. A server
                             derives it from the key */
} cliq_hub_options;
#define CLIQ_HUB_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(cliq_hub_options), NULL, NULL, NULL, NULL                                           \
    }

/*
 * A signal or task. The strings (NULL: absent) are valid until the next call on the hub that fills
 * a cliq_signal_info, and may be arguments of that call. `json` is the form of the HTTP interface,
 * where the id of a broadcast has no "signal:" prefix; all calls accept both forms. `id` is "" if
 * the id is too long (none of cliq's is).
 */
typedef struct cliq_signal_info {
    size_t size;
    char id[128];             /* "signal:" and 24 letters and digits */
    char claim_id[64];        /* of a claim; else "" */
    uint64_t seq;             /* its number in the log; 0: unknown */
    double urgency;           /* 0 to 1 */
    int64_t delivery_count;   /* number of redeliveries */
    const char *type;         /* "task", "build:web:done" */
    const char *content;      /* a string's text, or another value as JSON */
    const char *payload_json; /* the data of cliq_generate */
    const char *from, *to_role, *to_ring, *to_identity, *thread_id;
    const char *json; /* the whole signal on one line */
} cliq_signal_info;
#define CLIQ_SIGNAL_INFO_INIT                                                                      \
    {                                                                                              \
        sizeof(cliq_signal_info), "", "", 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL                                                                                   \
    }

/* NULL options: all defaults. The first call opens files or connects. */
CLIQ_API cliq_status cliq_hub_open(cliq_hub **out, const cliq_hub_options *options,
                                   cliq_error *err);
CLIQ_API void cliq_hub_close(cliq_hub *hub);

/* Cancels the waits of cliq_claim and cliq_next, now and later: they return CLIQ_CANCELLED. All
 * other calls still work, so that a worker can finish its task. */
CLIQ_API void cliq_hub_stop(cliq_hub *hub);

typedef struct cliq_emit_options {
    size_t size;
    const char *to_role, *to_ring, *to_identity; /* at most one; none: for everyone */
    const char *from_role;                       /* a role that you hold */
    const char *parent_id; /* the signal this one replies to: makes a thread */
    const char *dedup_key; /* with the same key within a day, the first signal is returned */
    double urgency;        /* 0: the default, 0.5 */
    const char *more_json; /* an object with other members of the request: tags, resources,
                              metadata, payload, "urgency":0 ... A member that is set otherwise too
                              is CLIQ_INVALID */
} cliq_emit_options;
#define CLIQ_EMIT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(cliq_emit_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL                     \
    }

/* Emits a signal. A signal of type "task" can be claimed. A type must not contain '*', which is for
 * patterns. Options and out may be NULL. */
CLIQ_API cliq_status cliq_emit(cliq_hub *hub, const char *type, const char *content,
                               const cliq_emit_options *options, cliq_signal_info *out,
                               cliq_error *err);
/* Emits a broadcast; data_json is any JSON or NULL. out may be NULL. */
CLIQ_API cliq_status cliq_generate(cliq_hub *hub, const char *type, const char *data_json,
                                   cliq_signal_info *out, cliq_error *err);
/* Delivers signals whose type matches the pattern to your inbox from now on. "build:*:done": '*' is
 * a whole segment between colons and matches exactly one. wakes: 1 or 0: whether they start your
 * agent; -1: unchanged, at first 0. */
CLIQ_API cliq_status cliq_subscribe(cliq_hub *hub, const char *pattern, int wakes, cliq_error *err);
CLIQ_API cliq_status cliq_unsubscribe(cliq_hub *hub, const char *pattern, cliq_error *err);

typedef struct cliq_claim_options {
    size_t size;
    const char *id;           /* a certain task; NULL: your most urgent, then oldest one */
    const char *role;         /* only tasks for this role, which you hold; NULL: any */
    const char *const *types; /* only these types, NULL-ended; NULL: any */
    unsigned lease_s;         /* seconds until others may claim it; 0: 300 */
    int64_t wait_ms;          /* how long to wait for a task; 0: no wait, -1: no limit */
} cliq_claim_options;
#define CLIQ_CLAIM_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cliq_claim_options), NULL, NULL, NULL, 0, 0                                         \
    }

/* CLIQ_NOT_FOUND: no task, or none before wait_ms. CLIQ_CONFLICT: another worker holds it. */
CLIQ_API cliq_status cliq_claim(cliq_hub *hub, const cliq_claim_options *options,
                                cliq_signal_info *out, cliq_error *err);

/*
 * Ending or extending a claim. The identity must hold the task; workers that share an identity also
 * pass claim_id, else NULL. CLIQ_CONFLICT: you do not hold the claim, or its lease expired.
 */
/* The task is done. */
CLIQ_API cliq_status cliq_ack(cliq_hub *hub, const char *id, const char *claim_id, cliq_error *err);
/* Extends the lease to lease_s from now; 0: 300. */
CLIQ_API cliq_status cliq_extend(cliq_hub *hub, const char *id, const char *claim_id,
                                 unsigned lease_s, cliq_error *err);
/* Gives the task back: others may claim it. */
CLIQ_API cliq_status cliq_release(cliq_hub *hub, const char *id, const char *claim_id,
                                  cliq_error *err);
/* The task failed. It is delivered again after retry_s seconds (-1: 1, then 2, 4, 8); after the
 * fifth failure it is a dead letter. `why` may be NULL. */
CLIQ_API cliq_status cliq_fail(cliq_hub *hub, const char *id, const char *claim_id, const char *why,
                               int64_t retry_s, cliq_error *err);

typedef struct cliq_listen_options { /* all zero: your inbox, from now on */
    size_t size;
    const char *pattern;     /* signals of matching type, instead of your inbox */
    int everything;          /* non-zero: all signals, instead of your inbox */
    const char *role, *ring; /* only signals from or to this role; only to this ring */
    double min_urgency;      /* only signals at least this urgent */
    int from_start;          /* non-zero: start with the oldest */
    uint64_t after;          /* else, if not 0: start after this seq */
} cliq_listen_options;
#define CLIQ_LISTEN_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cliq_listen_options), NULL, 0, NULL, NULL, 0, 0, 0                                  \
    }

/* Sets the filter and the start position of cliq_next: signals between this call and cliq_next are
 * not lost. A later call replaces the filter. NULL options: all defaults. */
CLIQ_API cliq_status cliq_listen(cliq_hub *hub, const cliq_listen_options *options,
                                 cliq_error *err);
/* Returns the next signal, in the order of the log. One with the type "reset" and the id "" is no
 * signal: signals up to out->seq were lost (another program cut the log short, or old ones were
 * deleted), so what was made of them may be wrong; the next call goes on behind them. CLIQ_TIMEOUT:
 * none before timeout_ms (-1: no limit). Without cliq_listen: your inbox, from the first call on.
 * To continue later, save out->seq and set it as `after`. */
CLIQ_API cliq_status cliq_next(cliq_hub *hub, int64_t timeout_ms, cliq_signal_info *out,
                               cliq_error *err);

/* A descriptor that becomes readable when cliq_next may have a signal; for poll(2) and any event
 * loop; -1: failure. Call cliq_next with a timeout of 0 until CLIQ_TIMEOUT, before the first wait
 * and each time it is readable. The hub owns it: do not read or close it. It is valid until
 * cliq_listen or cliq_hub_close. To reconnect to a server, cliq_next takes up to a second. Listens
 * to your inbox if cliq_listen was not called. */
CLIQ_API int cliq_hub_fd(cliq_hub *hub);

/* Returns your inbox, or with "target" that of a role or an @identity, as a JSON array. args_json
 * is NULL or an object: {"view":"now","limit":20,"after":CURSOR} ...; see GET /inbox in
 * cliq-hub(7). The texts are valid until the next cliq_inbox or cliq_hub_call. *cursor is NULL on
 * the last page; cursor may be NULL. */
CLIQ_API cliq_status cliq_inbox(cliq_hub *hub, const char *args_json, const char **json,
                                const char **cursor, cliq_error *err);
/* Calls any operation of the hub by its name: "thread", "list", "get", "history", "status",
 * "requeue", "inbox resolve", "signal schedule", "role add" ... Arguments and result are those of
 * the HTTP interface (/openapi.json), without its envelope. */
CLIQ_API cliq_status cliq_hub_call(cliq_hub *hub, const char *op, const char *args_json,
                                   const char **json, const char **cursor, cliq_error *err);

/*
 * ---- agents ----
 *
 * An agent is a program that the orchestrator starts once for a phase (or a notification, or a
 * test). It reads one AgentMessage (JSON) from standard input, appends status lines to
 * <signal_dir>/<phase>.jsonl, writes handoffs for later phases, and exits. You write the
 * handler; the library does the rest:
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
 * If a handler fails, the library writes the error line with the text in err. If it succeeds and
 * did not end the phase itself, the library writes the complete line; the handler of a gate must
 * give a verdict. Only the first call that ends the phase has an effect; later ones succeed.
 *
 * Handoffs, files and signals are written when the call returns, and remain if the agent fails
 * later. Only the task board is written at the end.
 *
 * Wrong arguments, including NULL handles, give CLIQ_INVALID (or NULL, or zero), never a crash.
 */

typedef struct cliq_agent cliq_agent;
typedef struct cliq_context cliq_context;

/* Handles one message. The library owns the context and frees it when the handler returns. */
typedef cliq_status (*cliq_handler)(cliq_context *ctx, void *user, cliq_error *err);

/* The name is that of the agent's manifest: 1 to 64 of A-Z a-z 0-9 . _ -, not starting with . or -.
 * NULL: a bad name, or out of memory. */
CLIQ_API cliq_agent *cliq_agent_new(const char *name);

/*
 * Registers the handler for "phase:standard", "phase:gate", "notify" or "test"; a later one for
 * the same key replaces it. CLIQ_INVALID: another key. The handler gets `user`. Without a
 * handler for "test", tests pass.
 */
CLIQ_API cliq_status cliq_agent_on(cliq_agent *agent, const char *key, cliq_handler handler,
                                   void *user);

/*
 * The body of main: reads the message from standard input, acknowledges it, calls its handler,
 * writes the terminal status line. Returns the exit code: 0 if the handler succeeded, else 1.
 * Prints errors and the texts of cliq_progress on standard error too.
 */
CLIQ_API int cliq_agent_run(cliq_agent *agent);

/*
 * The same for a message in memory, for unit tests: reads and prints nothing.
 * CLIQ_INVALID: not an AgentMessage; no handler was called, nothing was written. CLIQ_FAILED:
 * the handler failed or is missing; err and the error line have the reason.
 */
CLIQ_API cliq_status cliq_agent_dispatch(cliq_agent *agent, const char *json, size_t len,
                                         cliq_error *err);

/* What is in a message that cliq_make_message makes. NULL: the default, or left out. */
typedef struct cliq_agent_message {
    size_t size;
    const char *agent;         /* required: the agent's name */
    const char *project_dir;   /* required: an absolute path */
    const char *type;          /* "phase", "notify" or "test"; NULL: "phase" */
    const char *phase;         /* required in a message of type "phase" */
    const char *phase_type;    /* "standard", "gate" or "team"; NULL: "standard" */
    const char *targets;       /* the phases that it may send to: "reviewer deploy" */
    const char *work_dir;      /* NULL: project_dir */
    const char *signal_dir;    /* NULL: <project_dir>/.cliq/signals */
    const char *instance_id;   /* NULL: "test-1" */
    const char *team_name;     /* NULL: "" */
    const char *req_key;       /* NULL: "" */
    const char *settings_json; /* the agent's settings, an object; NULL: {} */
    const char *payload_json;  /* more members of the payload, an object; NULL: none */
} cliq_agent_message;
#define CLIQ_AGENT_MESSAGE_INIT                                                                    \
    {                                                                                              \
        sizeof(cliq_agent_message), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL                                                                       \
    }

/* Makes an AgentMessage for cliq_agent_dispatch, in tests: *json, which you free(3). It is checked
 * as an agent checks it. CLIQ_INVALID: err says what is wrong; *json is NULL. */
CLIQ_API cliq_status cliq_make_message(const cliq_agent_message *m, char **json, cliq_error *err);

CLIQ_API void cliq_agent_free(cliq_agent *agent);

/*
 * ---- the context of an agent ----
 *
 * Strings are UTF-8 and NUL-ended, and valid until the handler returns. A missing text is "",
 * unless NULL is mentioned.
 *
 * A path selects a value in JSON: "channels.ops.webhook_url", "notifications[0].event"; NULL or
 * "": the whole. A string is returned as its text, another value as JSON; NULL: absent or null.
 */

/* The message: "phase", "notify" or "test". */
CLIQ_API const char *cliq_context_type(const cliq_context *ctx);
/* The name given to cliq_agent_new; it is written into handoffs. */
CLIQ_API const char *cliq_context_agent(const cliq_context *ctx);
/* metadata.instance_id, .team_name, .req_key */
CLIQ_API const char *cliq_context_instance_id(const cliq_context *ctx);
CLIQ_API const char *cliq_context_team_name(const cliq_context *ctx);
CLIQ_API const char *cliq_context_req_key(const cliq_context *ctx);
/* Absolute paths: the project's root; the agents' working directory; the pipeline's own directory
 * (channels, signals); the directory of the status lines. NULL: not set. */
CLIQ_API const char *cliq_context_project_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_work_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_state_dir(const cliq_context *ctx);
CLIQ_API const char *cliq_context_signal_dir(const cliq_context *ctx);
/* The agent's settings, only the keys that its manifest declares. */
CLIQ_API const char *cliq_context_settings(const cliq_context *ctx, const char *path);
/* The payload: a phase's configuration, or the notifications of a notify message. */
CLIQ_API const char *cliq_context_payload(const cliq_context *ctx, const char *path);
/* The phase's configuration: action, sources, target_entries, commands, model, review. The same as
 * the payload, but "phase_config.x" is the phase's field x: one of these, or one that the schema of
 * the agent's manifest declares. */
CLIQ_API const char *cliq_context_dispatch(const cliq_context *ctx, const char *path);
/* The original AgentMessage: version, handoff_dirs, input_artifacts ... */
CLIQ_API const char *cliq_context_message(const cliq_context *ctx, const char *path);

/* A phase's name, and its type "standard" or "gate"; NULL for other messages. */
CLIQ_API const char *cliq_context_phase(const cliq_context *ctx);
CLIQ_API const char *cliq_context_phase_type(const cliq_context *ctx);
/* The texts of roles/<phase>.md and req_spec.md. */
CLIQ_API const char *cliq_context_role(const cliq_context *ctx);
CLIQ_API const char *cliq_context_req_spec(const cliq_context *ctx);
/* The prompt of this phase for a model: role, requirement, inputs, rules of the response. NULL: no
 * phase, or out of memory. */
CLIQ_API const char *cliq_context_prompt(cliq_context *ctx);
/* Non-zero: a support phase, which runs only when a gate routes to it. */
CLIQ_API int cliq_context_is_support(const cliq_context *ctx);

/* The channels with a handoff to this phase ("architect--developer"), sorted by name. NULL: i is
 * out of range. */
CLIQ_API size_t cliq_context_input_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_input_channel(const cliq_context *ctx, size_t i);
/* A handoff's data and text, rendered for a prompt; channel NULL: all, each below a heading. The
 * sender's name ("architect") also selects a channel. NULL: no such handoff. */
CLIQ_API const char *cliq_context_input_text(const cliq_context *ctx, const char *channel);
/* A value of a channel's handoff envelope: "data.files[0]", "text", "phase"; path NULL: the whole.
 */
CLIQ_API const char *cliq_context_input(const cliq_context *ctx, const char *via, const char *path);

/* The documents in design/: their names, sorted, and the text of one. NULL: no such document, or
 * one that is not UTF-8 text or larger than 8 MiB: read its file. */
CLIQ_API size_t cliq_context_design_doc_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_design_doc_name(const cliq_context *ctx, size_t i);
CLIQ_API const char *cliq_context_design_doc(const cliq_context *ctx, const char *name);
/* The team's inputs, inputs.json. */
CLIQ_API const char *cliq_context_workflow_inputs(const cliq_context *ctx, const char *path);
/* The phases that this one can send to. NULL: i is out of range. */
CLIQ_API size_t cliq_context_target_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_target(const cliq_context *ctx, size_t i);

/* One automated check of a gate. */
typedef struct cliq_check {
    size_t size;
    const char *name, *output;
    int pass;      /* non-zero: it passed */
    int exit_code; /* -1: unknown */
} cliq_check;
#define CLIQ_CHECK_INIT                                                                            \
    {                                                                                              \
        sizeof(cliq_check), NULL, NULL, 0, -1                                                      \
    }

/* For gates: the checks (CLIQ_NOT_FOUND: i is out of range), the phases it may route back to (NULL:
 * out of range), the current iteration, from 1, and its maximum. */
CLIQ_API size_t cliq_context_check_count(const cliq_context *ctx);
CLIQ_API cliq_status cliq_context_check(const cliq_context *ctx, size_t i, cliq_check *check,
                                        cliq_error *err);
CLIQ_API size_t cliq_context_route_target_count(const cliq_context *ctx);
CLIQ_API const char *cliq_context_route_target(const cliq_context *ctx, size_t i);
CLIQ_API int64_t cliq_context_iteration(const cliq_context *ctx);
CLIQ_API int64_t cliq_context_max_iterations(const cliq_context *ctx);

/* ---- actions of an agent ---- JSON arguments are checked: CLIQ_INVALID. */

/* Writes the handoff for a target: text alone, or data (an object) and text, of which one may be
 * NULL. CLIQ_INVALID: the phase is not a target. */
CLIQ_API cliq_status cliq_send_text(cliq_context *ctx, const char *target, const char *text,
                                    cliq_error *err);
CLIQ_API cliq_status cliq_send(cliq_context *ctx, const char *target, const char *data_json,
                               const char *text, cliq_error *err);
/* Writes files/<phase>/<name>; the name may have directories, but no "..". */
CLIQ_API cliq_status cliq_write_file(cliq_context *ctx, const char *name, const void *content,
                                     size_t len, cliq_error *err);
/* Reports progress to people who watch the run; the second formats as printf(3). */
CLIQ_API cliq_status cliq_progress(cliq_context *ctx, const char *text, cliq_error *err);
CLIQ_API cliq_status cliq_progressf(cliq_context *ctx, const char *format, ...) CLIQ_PRINTF(2, 3);
/* Writes signals/<phase>_<name>.json; payload NULL: {}. The names command_results and routed are
 * reserved: CLIQ_INVALID. */
CLIQ_API cliq_status cliq_signal(cliq_context *ctx, const char *name, const char *payload_json,
                                 cliq_error *err);
/* Asks the orchestrator to send a notification. channel_ref: "slack:oncall" or "email". payload: an
 * object; NULL: {}. */
CLIQ_API cliq_status cliq_register_notification(cliq_context *ctx, const char *event,
                                                const char *channel_ref, const char *payload_json,
                                                cliq_error *err);

/*
 * The task board: one line "- [ ] <phase>" per phase, with notes below it. Marks and notes for a
 * phase that is not on the board have no effect. If it was changed, the board is written at the
 * end of the phase; changes that other agents made meanwhile are kept.
 */
CLIQ_API cliq_status cliq_board_mark_complete(cliq_context *ctx, const char *phase);
CLIQ_API cliq_status cliq_board_mark_incomplete(cliq_context *ctx, const char *phase);
CLIQ_API cliq_status cliq_board_add_note(cliq_context *ctx, const char *phase, const char *note);
CLIQ_API cliq_status cliq_board_replace(cliq_context *ctx, const char *content);
/* Valid until the board is changed. */
CLIQ_API const char *cliq_board_content(const cliq_context *ctx);
CLIQ_API int cliq_board_is_dirty(const cliq_context *ctx);

/* ---- ending a phase ---- */

typedef enum cliq_outcome {
    CLIQ_VERDICT_PASS = 1, /* the pipeline continues */
    CLIQ_VERDICT_ROUTE,    /* back to the phase `target` */
    CLIQ_VERDICT_ESCALATE  /* a person is needed */
} cliq_outcome;

typedef struct cliq_verdict {
    size_t size;
    cliq_outcome outcome;   /* required */
    const char *target;     /* CLIQ_VERDICT_ROUTE: one of the route targets */
    const char *comment;    /* required: the reason */
    const char *reviewer;   /* who decided; may be NULL */
    const char *decided_at; /* ISO time; may be NULL */
} cliq_verdict;
#define CLIQ_VERDICT_INIT                                                                          \
    {                                                                                              \
        sizeof(cliq_verdict), (cliq_outcome)0, NULL, NULL, NULL, NULL                              \
    }

/* Ends a standard phase: writes the board, then the complete line. */
CLIQ_API cliq_status cliq_finalize_standard(cliq_context *ctx, cliq_error *err);
/* The same with a result in the complete line: any JSON, or NULL. Also for notify messages; not for
 * gates, which end with a verdict. */
CLIQ_API cliq_status cliq_finalize_result(cliq_context *ctx, const char *result_json,
                                          cliq_error *err);
/* Ends a gate: writes the verdict's handoff (ROUTE: to its target; PASS: to the targets without a
 * handoff), the board, the complete line. CLIQ_INVALID: the target is not a route target, or the
 * phase is not a gate; nothing is written. */
CLIQ_API cliq_status cliq_finalize_gate(cliq_context *ctx, const cliq_verdict *verdict,
                                        cliq_error *err);
/* Ends a test with the result {"passed":...,"message":...}. A test that does not pass is not a
 * failure of the handler. */
CLIQ_API cliq_status cliq_test_result(cliq_context *ctx, int passed, const char *message,
                                      cliq_error *err);

#ifdef __cplusplus
}
#endif

#endif
