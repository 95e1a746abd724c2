/*
 * tmux - a server of our own (socket `-L <socket>`, no configuration of the user) with one session
 * of panes. People attach with `tmux -L <socket> attach`, or `cliq attach`.
 *
 * A pane only shows: its command is a viewer of a log (src/cmd/pane.c), never the agent. So the log
 * is byte for byte what the agent wrote, and nothing that happens to the terminal reaches the
 * agent. (`pipe-pane` was tried: it loses what comes before it is set up, and changes the bytes.)
 * A pane whose command ended stays and keeps its last screen.
 *
 * New panes go to the window that is being filled; tmux says no (ST_FAILED) when it is full.
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
    char session[TMUX_NAME_MAX + 2]; /* "=run": exactly that one */
    char window[16];                 /* "@3": where the next pane goes */
    unsigned panes;                  /* in it, when the last one was made */
    pid_t server_pid;
    unsigned wait_ms; /* 0: TMUX_WAIT_MS; for tests */
};

struct tmux_pane {
    char id[16]; /* "%4" */
    pid_t pid;   /* of its command, the viewer */
};

/* Is there a tmux that we can use (3.0 or later) in PATH? */
bool tmux_available(void);

/* Starts the server with the session `session`, whose first pane runs argv. Nothing of it
 * needs to be released; tmux_kill_server ends it. */
enum status tmux_start(struct tmux *t, const char *session, const char *socket,
                       const char *const *argv, struct err *e);
/* Each makes a pane that executes argv (no shell between) in one call, which the caller waits for.
 * The pane's title is what its command sets with an escape sequence. */
enum status /* in the window being filled; ST_FAILED: no space */
tmux_split(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e);
enum status /* in a window of its own, which is filled from now on */
tmux_new_window(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e);
enum status /* in place of *pane, whose command is ended; ST_FAILED: it is not there any more */
tmux_respawn(struct tmux *t, const char *const *argv, struct tmux_pane *pane, struct err *e);

/* How a pane ended whose command is known to have ended. */
enum tmux_fate {
    TMUX_CLOSED, /* the server lives, and the pane is gone, or its command was killed */
    TMUX_ENDED,  /* its command ended by itself */
    TMUX_UNSEEN, /* the server has not noticed the end yet: ask again */
    TMUX_LOST,   /* server or session are gone, or do not answer: e says which */
};
/* Asks the server. A server that is about to end answers no client: then panes are lost, not
 * closed. */
enum tmux_fate tmux_fate_of(struct tmux *t, const struct tmux_pane *pane, struct err *e);

enum status tmux_kill_server(struct tmux *t, struct err *e);
/* tmux leaves the socket of a server that ended behind. Removes it, unless a server listens on it
 * or is about to. True: there is none any more. */
bool tmux_sweep(const struct tmux *t);
/* Does the server of t->socket live and answer? */
bool tmux_is_there(struct tmux *t);
/* Shows the session on this terminal until the user detaches or the server ends. */
enum status tmux_attach(const struct tmux *t, struct err *e);

#endif
