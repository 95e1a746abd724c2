/*
 * tmux - a run that people can watch: one pane for each agent.
 *
 * A server of our own (socket `-L <socket>`, no configuration of the user) holds one
 * session. Pane 0 shows the orchestrator's live view; every attempt gets a pane, in the
 * window that is being filled or, when there is no more space, in a new one. A pane whose
 * command ended stays and shows its last words until tmux_kill_pane. People attach with
 * `tmux -L <socket> attach`.
 *
 * The agent does not run on the pane's terminal. The pane's command is
 *
 *     cliq _exec --view FILE            (FILE: see proc/proc_spec.h)
 *
 * which starts the agent with proc_spawn, exactly as in process mode, sets the pane's title, and
 * then shows what is appended to the log until the agent ends. So
 *   - the log is complete and byte for byte what the agent wrote, with or without tmux;
 *   - the agent's identity is in its attempt file, and its pidfd tells its death at once,
 *     whatever the pane does (a viewer that hangs leaves a zombie: dead);
 *   - nothing that happens to the terminal reaches the agent: it has its own session, no
 *     controlling terminal and no SIGHUP. A killed tmux server takes the views with it; the
 *     agents run on, and so does the run;
 *   - what an agent prints is escaped before it reaches a terminal.
 * (Tried and left: `pipe-pane`, which loses what comes before it is set up, writes the log
 * from the server and changes the bytes; becoming the agent in the pane, which the server's
 * end would hang up.)
 *
 * Did it start? The viewer says so in FILE.said (run/panes.h), which is renamed into place.
 * If the pane's process is gone without a word and there is no attempt file, void the
 * attempt. The viewer does not wait for the agent: whoever inherits it learns how it ended.
 *
 * Every call of tmux is bounded by TMUX_WAIT_MS and has three outcomes:
 *   ST_OK       tmux did it
 *   ST_FAILED   tmux says no, with its own words: it was not done
 *   ST_IO       cannot tell (no answer in time, killed, garbled): it may have been done, or
 *               may yet be. Never take this for a no.
 *
 * The server is no child of ours when it starts, but comes to us if we are a subreaper
 * (proc.h): server_pid is for the list of known children.
 */
#ifndef CLIQ_PROC_TMUX_H
#define CLIQ_PROC_TMUX_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define TMUX_WAIT_MS  5000
#define TMUX_NAME_MAX 64 /* socket and session: path_is_name, no dots in a session's */

struct tmux {
    char socket[TMUX_NAME_MAX + 1];
    char window[16]; /* "@3": where the next pane goes */
    unsigned panes;  /* in it, when the last one was made */
    pid_t server_pid;
    unsigned wait_ms; /* 0: TMUX_WAIT_MS; for tests */
};

struct tmux_pane {
    char id[16]; /* "%4" */
    pid_t pid;   /* of its command: the viewer, not the agent */
};

/* Is there a tmux that we can use (3.0 or later) in PATH? */
bool tmux_available(void);

/* Starts the server with the session `session`, whose first pane runs argv. Nothing of it
 * needs to be released; tmux_kill_server ends it. */
enum status tmux_start(struct tmux *t, const char *session, const char *socket,
                       const char *const *argv, struct err *e);
/* A new pane that executes argv (no shell between), in one call: the caller waits for it. The
 * pane's title is what its command sets with an escape sequence. */
enum status
tmux_spawn(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e);
/* ST_OK also when it was gone already. */
enum status tmux_kill_pane(struct tmux *t, const struct tmux_pane *pane, struct err *e);
enum status tmux_kill_server(struct tmux *t, struct err *e);
/* tmux leaves the socket of a server that ended behind. Removes it, unless somebody listens on it
 * or is about to. True: there is none any more. */
bool tmux_sweep(const struct tmux *t);
/* Does the server of t->socket live and answer? */
bool tmux_is_there(struct tmux *t);

#endif
