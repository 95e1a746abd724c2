/*
 * hub_wake - what is written through the library wakes agents, as what commands write does.
 *
 * A process that is not ours must not get children it did not ask for. So the library starts no
 * supervisor: it runs `cliq signal pump`, found on PATH, and waits for that, a few milliseconds;
 * pump starts the supervisors, which nobody waits for, and the host has no child left. It is run
 * only when somebody sleeps for whom signals wait. Without the program the next command, run or
 * server wakes them: nothing is lost, and the call does not fail.
 */
#ifndef CLIQ_SDK_HUB_WAKE_H
#define CLIQ_SDK_HUB_WAKE_H

#include "hub/hub.h"

/* The option on_round of the library's hub. A server that the library calls wakes by itself. */
void hub_wake(void *unused, struct hub *h);

#endif
