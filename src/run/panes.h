/*
 * panes - the attempts of a run, each shown in a pane of tmux (proc/tmux.h).
 *
 * A pane only shows: the attempt is started by proc_spawn, with or without panes, and the pane's
 * viewer (`cliq _pane`) follows its log. The server starts with the first attempt and ends with
 * panes_free. Its socket is called after the state directory, so the holder of the run's lock finds
 * a server that a killed orchestrator left: panes_end_left ends it.
 *
 *     run/panes/<attempt>   how the attempt ended; its viewer shows it as title and last line
 *     run/tmux              the socket's name, then the state directory it is for
 *
 * The directory is there as long as a server may be.
 *
 * A viewer that ends while its attempt runs: the server is asked what became of the pane.
 *   it answers       a person closed the pane, or killed its viewer: on_closed
 *   it does not      the whole server is lost. That is an accident and ends nothing: panes are
 *                    given up with a note, and the run goes on with plain processes
 * A server that ends answers no call from before its panes go, so the two are never mixed up.
 * Closing the last pane of all ends the server: that counts as its loss.
 *
 * The pane of a finished attempt keeps its last screen. When a new pane finds no space, it takes
 * the place of the pane that finished first; without one it gets a new window.
 *
 * Trouble with tmux (it says no, it does not answer) never fails an attempt: panes are given up.
 * Tests: test/scenario/tmux.bats
 */
#ifndef CLIQ_RUN_PANES_H
#define CLIQ_RUN_PANES_H

#include "base/loop.h"
#include "proc/proc.h"
#include "run/run.h"

struct panes;
struct pane;

struct panes_host {
    void *ctx;
    const struct plan *plan;
    struct loop *loop;
    void (*on_note)(void *ctx, const char *text); /* how to attach; why no more panes */
};

struct panes *panes_new(const struct panes_host *host); /* NULL without memory */
/* Ends the server and leaves nothing on disk. NULL is fine. */
void panes_free(struct panes *p);

/* A pane that shows the log of an attempt that has begun. on_closed is called once when a person
 * closes it. NULL: there is none. p NULL is fine. */
struct pane *
panes_open(struct panes *p, const struct proc_spec *spec, loop_fn *on_closed, void *ctx);
/* The attempt is over: the pane says how, and stays until its space is needed. No more on_closed;
 * the pane is the panes' own from here on. NULL is fine. */
void pane_finish(struct pane *pane, const char *how);

/* The server, a child of ours; 0: none. For the list of known children. */
pid_t panes_server(const struct panes *p);

/* Does a server live here, of an orchestrator that lives or died? Says how to attach to it. */
bool panes_are_there(const struct state_dir *f, char *attach, size_t size);
/* Shows it on this terminal, until the user detaches or it ends. ST_NOT_FOUND: there is none. */
enum status panes_attach(const struct state_dir *f, struct err *e);
/* Ends the tmux server of a killed orchestrator. The caller holds the lock. */
void panes_end_left(const struct state_dir *f);

#endif
