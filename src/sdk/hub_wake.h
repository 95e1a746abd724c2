/*
 * hub_wake - starts sleeping agents after a write through the library.
 *
 * The host program must not get unexpected child processes, so the library starts no supervisors
 * itself. It runs `cliq signal pump` from PATH and waits for it, a few milliseconds; pump starts
 * the supervisors as daemons. It runs only if a sleeping agent has waiting signals. If the program
 * is missing, the call does not fail; the next command, run or server wakes the agents.
 */
#ifndef CLIQ_SDK_HUB_WAKE_H
#define CLIQ_SDK_HUB_WAKE_H

#include "hubclient/hubclient.h"

/* Call it after hubclient_call. Does nothing after a read, or at a server, which wakes by itself.
 */
void hub_wake(struct hubclient *d);

#endif
