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

#include "hub/hub.h"

/* The option on_round of the library's hub. A server that the library calls wakes by itself. */
void hub_wake(void *unused, struct hub *h);

#endif
