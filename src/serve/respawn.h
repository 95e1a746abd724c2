/*
 * respawn - starts killed supervisors of agents again.
 *
 * A killed supervisor (wake/wake_supervisor.h) leaves signals that its agent does not get until the
 * next write. The server watches each supervisor that it started or found with a pidfd. If one ends
 * without releasing its lock, and signals still wait, the server starts another one.
 *
 *     watching --it ended--> resting --lock released--> (none)
 *         ^                     |`--another has the lock--> watching
 *         `---- started <-------' killed: after 0.2 s; 1, 2, 4 ... 60 s when they die in a row
 *
 * While it rests after a death this server starts no supervisor for that identity. Without a server
 * the next writer starts one at once.
 *
 * Tests: test/scenario/wake.bats
 */
#ifndef CLIQ_SERVE_RESPAWN_H
#define CLIQ_SERVE_RESPAWN_H

#include "serve/serve_impl.h"

/* For struct wake_watcher; ctx is the server. */
void respawn_attended(void *ctx, const char *identity, pid_t pid);
bool respawn_is_resting(const struct serve *s, const char *identity);
void respawn_free(struct serve *s);

/* Pure: back-off after that many deaths in a row, including this one. */
int64_t respawn_rest_ms(unsigned deaths);

#endif
