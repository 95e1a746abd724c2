/*
 * hook - answers an event of a client's hooks: the agent in it is told of messages, kept from
 * files that others have leased, and others see when it starts and ends.
 *
 *     struct hook h;
 *     s = hook_begin(&h, &options, text, len, &answer, e);    answer empty: the client goes on
 *     ... give the answer to the client ...
 *     hook_end(&h);
 *
 *     START, END  agent:<id>:wake and :sleep (wake/life_cycle.h)
 *     PROMPT      unread messages become context of the prompt
 *     STOP        unread messages make the agent go on with them, once: not when it goes on
 *                 already because a hook said so
 *     BEFORE      a write to a file that another identity has leased is denied, with the holder and
 *                 until when
 *     AFTER       a heartbeat: at most once in HOOK_BEAT_MS, the agent's claims and leases that
 *                 would end soon are made longer
 *
 * Unread is what waits in the inbox of the identity itself and has no receipt yet. hook_end marks
 * what the answer told as seen, so a message is told again if the process ends in between, and
 * never lost. Whatever cannot be done (a store that is locked, broken or not there) is left undone:
 * the client goes on.
 *
 * The agent is --as, CLIQ_IDENTITY, the phase of a run, else client and directory
 * (context/agent_client.h).
 *
 * Tests: test/cli/hook.bats test/agents/door.bats
 */
#ifndef CLIQ_HOOK_HOOK_H
#define CLIQ_HOOK_HOOK_H

#include "hook/hook_event.h"
#include "hubclient/hubclient.h"

#define HOOK_BEAT_MS 60000
#define HOOK_SHOWN   10 /* messages in one answer */

struct hook_options {
    const char *identity;              /* NULL: found as above */
    const struct agent_client *client; /* NULL: known by the event */
    const char
        *config; /* the store to use, whatever CLIQ_URL says; NULL: as the hub's client does */
    unsigned lock_wait_ms;
};

struct hook {
    struct arena arena;
    struct hook_event event;
    struct hubclient hub;
    bool is_open;
    char identity[AGENT_IDENTITY_SIZE];
    const char *shown[HOOK_SHOWN]; /* ids of messages that the answer tells */
    size_t n_shown;
};

enum status hook_begin(struct hook *h, const struct hook_options *o, const char *text, size_t len,
                       struct buf *answer, struct err *e);
void hook_end(struct hook *h); /* safe after a failed begin */

#endif
