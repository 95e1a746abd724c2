/*
 * cli - the frame of the CLI agents: a program that people also use at a terminal, driven without
 * one.
 *
 *     prompt -> standard input of the program -> JSON lines -> the vendor's parser -> turn ->
 * answer
 *
 * The program is a child (proc/child.h) in our session and process group of its own; its
 * environment is ours plus what the vendor sets. What it prints is masked (context/context.h), kept
 * as it is in <attempt>.raw beside the attempt's log, and told: readable lines to our standard
 * output, progress and usage lines to the run. Where the stream tells usage only at its end, the
 * program's own file of the conversation is read beside it (cli_journal.h).
 *
 * Limits: any number of lines; a line longer than CLI_LINE_MAX (cli_lines.h) is only counted. After
 * the last event of a turn the program has CLI_GRACE_MS to end; then its tree is stopped, and the
 * turn counts. An error that only a person can mend ends it at once. A rate limit that the program
 * gives up on is waited for, and the question asked again; only the phase's timeout ends that.
 *
 * A vendor is a table and pure functions: one file each (claude_code.c, codex.c, …).
 *
 * Tests: test/unit/test_cli_streams.c test/scenario/cli_agents.bats test/agents/claude_code.bats
 */
#ifndef CLIQ_AGENTS_CLI_CLI_H
#define CLIQ_AGENTS_CLI_CLI_H

#include "agents/agent_main.h"
#include "agents/cli/cli_turn.h"

enum { CLI_GRACE_MS = 5000, CLI_ARGS_MAX = 160, CLI_ENV_MAX = 24, CLI_ENVIRON_MAX = 512 };

/* The input of a turn. */
struct cli_request {
    const struct context *c;
    const char *model, *api_key, *base_url; /* NULL: not given */
    const char *session;                    /* to continue; NULL: begin one */
    const char *new_session;                /* a UUID for it */
    const char *prompt;
};

/* The command line that the vendor writes; texts live in the arena. */
struct cli_command {
    struct arena *arena;
    const char *argv[CLI_ARGS_MAX + 1];
    size_t n_args;
    const char *env[CLI_ENV_MAX + 1]; /* NAME=value, in place of what we have */
    size_t n_env;
    bool is_over; /* too many, or no memory */
};

void cli_arg(struct cli_command *k, const char *text); /* NULL: nothing is added */
void
cli_option(struct cli_command *k, const char *name, const char *value); /* NULL value: neither */
/* The phase's field or setting `key`: a list gives an argument each, a text is one. */
void cli_args_of(struct cli_command *k, const struct context *c, const char *key);
/* The same as one argument behind `name`, joined by commas. */
void
cli_list_option(struct cli_command *k, const char *name, const struct context *c, const char *key);
/* Writes the text into the private file <state_dir>/run/<name>; no secrets. Its directories are
 * made. */
void cli_file(struct cli_command *k, const struct context *c, const char *name, const char *text);
void cli_env(struct cli_command *k, const char *name, const char *value); /* NULL: not set */
/* What the program finds in its environment; NULL: nothing. */
const char *cli_env_of(const struct cli_command *k, const char *name);
const char *
cli_format(struct cli_command *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The request's base URL as a client of OpenAI's API wants it, with its version; as others do,
 * without this one ("/v1"). NULL: none was given. */
const char *cli_openai_url(struct cli_command *k, const struct cli_request *r);
const char *cli_bare_url(struct cli_command *k, const struct cli_request *r, const char *version);

/* Our environment with the command's in place of what has the same name. */
void cli_build_env(const struct cli_command *k, const char *env[CLI_ENVIRON_MAX + CLI_ENV_MAX + 1]);
/* "agent|cursor-agent": the first that is on PATH, else the first; in the arena. */
const char *cli_find_binary(struct arena *a, const char *names);

struct cli_vendor {
    const char *agent;     /* "claude-code" */
    const char *sign_in;   /* what a person does without a key: "run claude once and /login" */
    const char *key_env;   /* the variable of the key: for advice and the test handler */
    const char *signed_in; /* a file below HOME that a sign-in leaves; NULL: none is known */
    /* Arguments and environment; argv[0] is there. */
    void (*command)(struct cli_command *k, const struct cli_request *r);
    void (*line)(struct turn *t, const struct json *line);
    /* Of standard error; true: it is told, and need not be shown as it is. Or NULL. */
    bool (*error_line)(struct turn *t, const char *p, size_t n);
    void (*exited)(struct turn *t, int code); /* without a last event; or NULL */
    /* The file in which the program keeps the conversation `session` while it works, as a pattern
     * (cli_journal.h), and a line of it, which may come behind the last event of the stream and
     * knows no better; or NULL. */
    const char *(*journal)(struct cli_command *k, const char *session);
    void (*journal_line)(struct turn *t, const struct json *line);
    /* Does the phase in another way, when the program can; false: it cannot. NULL: there is none.
     */
    bool (*instead)(struct context *c, const char *binary, enum status *s, struct err *e);
    bool is_prompt_in_args; /* it does not read standard input */
    bool is_thread_total;   /* tokens in a continued conversation are those of all its turns */
    bool is_cost_total;     /* and so is the cost */
};

extern const struct cli_vendor cli_claude_code, cli_codex, cli_gemini, cli_cursor, cli_opencode;

/* The body of `cliq agent NAME`. */
enum status cli_agent_run(const struct cli_vendor *v, struct err *e);

/* ---- pure parts, for tests ---- */

/* The use of this turn, when the vendor's program reports `total` for the whole conversation, which
 * had used `before`. A total below that is not one: it counts as it is. */
struct usage
cli_usage_since(const struct cli_vendor *v, const struct usage *total, const struct usage *before);
/* The end of codex's usage limit, of its words "try again at 11:49 PM", local time, in seconds
 * since 1970; 0: they do not tell it. */
int64_t codex_resets_s(const char *words, int64_t now_s);
/* The error of a turn for people: the vendor's words and what to do. */
void cli_advise(struct buf *to, const struct cli_vendor *v, const struct turn *t);

#endif
