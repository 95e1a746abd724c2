/*
 * guard - supervisors of agents that die before their time.
 *
 * A supervisor (wake/wake_supervisor.h) that is killed leaves signals that nobody gives to the
 * agent, until somebody writes. A server that runs sees it: of each supervisor that it started or
 * found it has a pidfd. One that let its lock go in order is left alone, whatever still waits; else
 * another one is started, if signals still wait.
 *
 *     watching --it ended--> resting --in order--> (none)
 *         ^                     |`--somebody has the lock--> watching
 *         `---- started <-------' killed: after 0.2 s; 1, 2, 4 ... 60 s when they die in a row
 *
 * While it rests after a death nobody is started by this server, whatever comes. Without a server
 * the next writer starts one, at once.
 */
#ifndef CLIQ_SERVE_RESPAWN_H
#define CLIQ_SERVE_RESPAWN_H

#include "serve/serve_impl.h"

/* For struct wake_watcher; ctx is the server. */
void respawn_attended(void *ctx, const char *identity, pid_t pid);
bool respawn_is_resting(const struct serve *s, const char *identity);
void respawn_free(struct serve *s);

/* Pure: how long to rest after so many deaths in a row, this one among them. */
int64_t respawn_rest_ms(unsigned deaths);

#endif
