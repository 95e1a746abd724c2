/*
 * wake - agents that signals start.
 *
 * An identity registered with an agent and a directory (`cliq identity add ID --agent NAME --dir
 * D`) is started when a signal waits for it (hub_agents_to_wake): its agent gets a `notify`
 * AgentMessage with all signals that wait, as a process of its own. A round of the hub ends with
 * wake_on_round (commands, runs, `signal pump`), a server's loop calls wake_agents: both only start
 * a supervisor, `cliq _wake ID`, and go on; wake_supervisor.h is what that does. Reading starts
 * nothing.
 *
 *     <config>/wake/<id>/lock           held by the supervisor while it lives: "pid\n"; by a
 *                                       server while a stream of that identity is open. Empty:
 *                                       its holder released it; else that was killed, or failed
 *                        chain          its latest starts and ends (wake_chain.h)
 *                        attempt        the agent that runs: "pid start boot\n" (proc/proc.h)
 *                        message.json   its standard input: the latest AgentMessage
 *                        log            what agent and supervisor said; log.1 the older half
 *                        _notify-<agent>-<n>.jsonl   what it answered, if it did (SDKs do)
 *
 * How far an agent is told stands in the log, as `op:"woken"` (docs/formats/events.md).
 *
 * Supervisors and agents have CLIQ_WAKE=<id> in their environment, which keeps them out of the
 * process trees of a run whose agent wrote the signal.
 */
#ifndef CLIQ_WAKE_WAKE_H
#define CLIQ_WAKE_WAKE_H

#include "hub/hub.h"

#include <sys/types.h>

/* Callbacks of a process that stays (the server), for each identity that has signals waiting. */
struct wake_watcher {
    void *ctx;
    /* Does it need no supervisor? */
    bool (*is_awake)(void *ctx, const char *identity, uint64_t upto);
    /* Its supervisor was started, or was there already. */
    void (*attended)(void *ctx, const char *identity, pid_t pid);
};

/* Starts a supervisor for every identity that has signals waiting and no supervisor. A start that
 * fails is tried again after the next round. A running server notices a supervisor that is killed
 * (serve/respawn.h); without one, the next round does. */
void wake_agents(struct hub *h, const struct wake_watcher *w); /* NULL: none */

/* The same as the option on_round of a hub: whatever opens a hub to write sets it, once. */
void wake_on_round(void *unused, struct hub *h);

/* <config>/wake/<id>, opened or made. */
enum status wake_open_dir(const char *config, const char *identity, int *dir, struct err *e);
/* Takes the lock of an agent that is awake. ST_CONFLICT: another process has it. *fd is the
 * caller's: wake_unlock lets go in order, close without a word. */
enum status wake_lock(int dir, int *fd, struct err *e);
void wake_unlock(int fd);
/* The pid that holds the lock, or died with it; 0: none. Takes no lock itself. */
pid_t wake_holder(const char *config, const char *identity);
/* Does no process hold the lock? The caller may start a supervisor, which takes it. */
bool wake_is_asleep(const char *config, const char *identity);

/* The environment of a supervisor of that identity, or without one of `cliq signal pump`: ours
 * without every CLIQ_ variable, which belong to a run or to another agent, and with this store.
 * Lives in the arena; NULL: no memory. */
const char *const *wake_env(struct arena *a, const char *config, const char *identity);

#endif
