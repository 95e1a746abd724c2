/*
 * connection_test - an agent tests its own connection: a message of type "test", as the SDK's
 * handlers['test'] gets it (cliq-protocol(7)), and its answer {passed, message}.
 *
 *     connection_test_start(&t, d, agent);           starts it; never blocks
 *     ...
 *     passed = connection_test_end(&t, d, &says);    waits, at most the time limit of the doctor
 *
 * The agent works in a state directory of its own below $TMPDIR, which is removed with all that is
 * in it: a test leaves nothing in the project. What it says is shown without the secrets of the
 * settings and of its environment. Release in any state; it stops an agent that still runs.
 *
 * Tests: test/scenario/doctor_connections.bats
 */
#ifndef CLIQ_DOCTOR_CONNECTION_TEST_H
#define CLIQ_DOCTOR_CONNECTION_TEST_H

#include "base/mask.h"
#include "doctor/doctor.h"
#include "proc/child.h"
#include "team/agent.h"

#include <limits.h>

struct connection_test {
    struct child child;
    const char *agent;  /* borrowed */
    char dir[PATH_MAX]; /* "": none was made */
    struct mask secrets;
    struct err why; /* it could not be started */
    bool is_started;
};

void connection_test_start(struct connection_test *t, struct doctor *d, const struct agent *agent);
bool connection_test_end(struct connection_test *t, struct doctor *d, struct buf *says);
void connection_test_release(struct connection_test *t);

#endif
