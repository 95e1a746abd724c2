/*
 * acp_session - a conversation with an agent that speaks the Agent Client Protocol: its session and
 * its turns, over its program (acp_program.h). We are the client.
 *
 *     start, initialize                 the agent says its version and what it can
 *     session/new | resume | load       an earlier conversation goes on where the agent offers that
 *     session/prompt                    a turn: updates and requests come, then the stop reason
 *     standard input closed             the agent ends; after a grace its whole tree is stopped
 *
 * During a turn the agent's words go to our standard output (the attempt's log) and into the
 * answer; tools, plans and written files become progress. Its requests are answered by the phase's
 * permissions (acp_permission.h); fs/write_text_file is written by us (work_file.h), and commands
 * of terminal/create are run by us (acp_terminal.h). Any other request is refused, as we offer
 * nothing else.
 *
 * SIGTERM, SIGINT and SIGHUP cancel the turn: session/cancel is sent, questions are taken back, and
 * the agent has 5 s to end the turn. acp_session_prompt returns ST_CANCELLED then.
 *
 * Order of calls: acp_session_open, acp_session_prompt any number of times, acp_session_close,
 * which is safe in every state. Ownership: texts live in the context's arena.
 *
 * Tests: test/scenario/acp.bats test/agents/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_SESSION_H
#define CLIQ_AGENTS_ACP_ACP_SESSION_H

#include "agents/acp/acp_permission.h"
#include "agents/acp/acp_person.h"
#include "agents/model_trouble.h"
#include "base/jsonrpc_peer.h"
#include "proc/child.h"

struct acp_terminal;

/* A permission that a person decides: for a tool, a file or a command. */
struct acp_question {
    struct json rpc_id;      /* of the agent's request */
    const char *id;          /* of the signal */
    struct acp_tool *tool;   /* of a permission; NULL: of a file or a command */
    const char *yes, *no;    /* option ids; NULL: there is no such option */
    const char *path, *text; /* of a file; path NULL: of a command, its params */
    size_t len;
    const char *line; /* of a command */
    struct acp_question *next;
};

struct acp_session {
    struct context *c;
    enum acp_policy policy;
    const char *const *argv;
    struct work_dir dir;

    struct child child;
    struct jsonrpc_peer peer;
    int errors, signals;                    /* its standard error; our signals. -1: none */
    struct buf error_tail;                  /* the end of what it said there */
    struct mask_stream shown, shown_errors; /* what goes to the log hides secrets */
    struct mask_stream shown_raw;
    int raw;              /* run/logs/<phase>.<n>.raw gets its messages as they came; -1: none */
    struct arena scratch; /* of one message */
    unsigned n_rubbish;
    bool is_in_line; /* what the log shows ends inside a line */

    const char *id;         /* of the session */
    const char *auth;       /* names of its ways to sign in; "" */
    const char *quiet_auth; /* the id of one that asks nobody; NULL: there is none */
    const char *model;      /* NULL: not known */
    bool can_resume, can_load;
    bool is_loaded;             /* by session/load, which tells the old conversation */
    bool is_prompting;          /* updates count */
    enum model_trouble trouble; /* why the last request was refused */
    bool is_stopping;           /* a signal came */
    int64_t stop_until_ms;

    struct acp_tools tools;
    struct acp_person person;
    struct acp_question *questions;
    struct acp_terminal *terminals; /* acp_terminal.h */
    unsigned n_terminals;           /* that were made */
    struct buf words;               /* of this turn */
    size_t last_words;              /* those behind the last tool start here */
    const char *message_id;         /* of the message that the words belong to */
    const char *rejected; /* the last thing in this turn that it was not allowed; NULL: none */
    const char *plan;     /* last told */
    double cost_before, cost_usd; /* of the conversation: before us, and now */
    bool has_cost;
    struct usage usage;
};

/* s is zero or was closed; argv as acp_command gives it. Starts the program and a session. */
enum status
acp_session_open(struct acp_session *s, struct context *c, const char *const *argv, struct err *e);
/* One turn: appends the agent's last words to `answer`. */
enum status
acp_session_prompt(struct acp_session *s, const char *prompt, struct buf *answer, struct err *e);
void acp_session_close(struct acp_session *s);

/* The variable in which the program takes the setting api_key; NULL: it takes none. */
const char *acp_key_env(const struct context *c);

/* Starts the program and asks for its version and name, no more: "goose 1.9.0". */
enum status
acp_session_test(struct context *c, const char *const *argv, struct buf *says, struct err *e);

#endif
