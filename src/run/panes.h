/*
 * panes - the tmux executor: attempts that people can watch, each in a pane (proc/tmux.h).
 *
 * The server starts with the first attempt and ends with panes_free. Its socket is called
 * after the state directory, so whoever holds the run's lock finds a server that a killed
 * orchestrator left: panes_end_left ends it.
 *
 *     run/panes/<attempt>.json        what to run (proc/proc_spec.h); the pane's viewer removes it
 *     run/panes/<attempt>.json.said   whether it began: "started", "taken" (its attempt file
 *                                     was there) or "failed " and why; panes_said removes it
 *
 * The directory is there as long as a server may be.
 *
 * Panes are a comfort: what goes wrong with them never fails an attempt. When tmux says no
 * or does not answer, or a viewer dies before it said a word, they are given up with a note,
 * and the rest of the run uses plain processes.
 */
#ifndef CLIQ_RUN_PANES_H
#define CLIQ_RUN_PANES_H

#include "base/loop.h"
#include "proc/proc.h"
#include "run/run.h"

struct panes;

struct panes_host {
    void *ctx;
    const struct plan *plan;
    struct loop *loop;
    void (*on_said)(void *ctx);                   /* some viewer: ask for each that begins */
    void (*on_note)(void *ctx, const char *text); /* how to attach; why no more panes */
};

struct panes *panes_new(const struct panes_host *host); /* NULL without memory */
/* Ends the server and leaves nothing on disk. NULL is fine. */
void panes_free(struct panes *p);

/* Will panes_spawn try? */
bool panes_are_open(const struct panes *p); /* NULL: no */
/* Plain processes from now on; those in panes go on. Noted once. */
void panes_give_up(struct panes *p, const char *why);

/* Starts a viewer that starts the attempt. ST_FAILED: it did not, and will not. ST_IO: cannot
 * tell; void the attempt file before it is started again. Panes are given up then. *viewer
 * is of the viewer; its pid is 0 when it was gone at once. */
enum status
panes_spawn(struct panes *p, const struct proc_spec *spec, struct proc_id *viewer, struct err *e);
/* A pane for an attempt that runs already, begun by an orchestrator that died: its viewer shows
 * the log until it ends. */
void panes_show(struct panes *p, const struct proc_spec *spec);
/* What the viewer said: ST_OK, it began. ST_CONFLICT: it was begun before. ST_FAILED: it
 * cannot be begun, and why. ST_NOT_FOUND: nothing yet. */
enum status panes_said(struct panes *p, const struct proc_spec *spec, struct err *e);

/* The server, a child of ours; 0: none. For the list of known children. */
pid_t panes_server(const struct panes *p);

/* Does a server live here, of an orchestrator that lives or died? Says how to attach to it. */
bool panes_are_there(const struct state_dir *f, char *attach, size_t size);
/* Ends the server that an orchestrator which died left. For whoever holds the lock. */
void panes_end_left(const struct state_dir *f);

#endif
