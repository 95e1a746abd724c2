/*
 * delivery - the frame of the agents that notify people: slack, email, webhook.
 *
 * A notify message has a list of notifications. Each names a channel, which is a member of the
 * agent's setting `channels`; without one it goes to the channel `default`, or to the only channel
 * that there is. The frame finds the channel's settings, reads the notification (notice.h), and
 * calls the agent to deliver it. One that cannot be delivered does not keep the others back.
 *
 *     agents.slack.channels.ops.webhook_url
 *
 * A message has DELIVERY_BUDGET_MS for everything, pauses between tries included: a run that has
 * ended waits for its notifications (setting run.notify_timeout).
 *
 * URLs, keys and passwords are secrets: no error, log or status line contains one. What a server
 * answers may repeat them, so an error shows only its status, or a word of known form.
 *
 * Tests: test/scenario/notify_slack.bats test/scenario/notify_email.bats
 *        test/scenario/notify_webhook.bats
 */
#ifndef CLIQ_AGENTS_NOTIFY_DELIVERY_H
#define CLIQ_AGENTS_NOTIFY_DELIVERY_H

#include "agents/agent_main.h"
#include "agents/notify/notice.h"
#include "net/fetch.h"

enum {
    DELIVERY_BUDGET_MS = 25000,
    DELIVERY_TIMEOUT_MS = 10000, /* of one try; the setting `timeout` changes it */
    DELIVERY_TRIES = 4,
    DELIVERY_ID_SIZE = 33,
};

struct notice_delivery {
    struct context *c;
    const char *name;      /* of the channel */
    const struct json *to; /* its settings, an object */
    struct notice notice;
    char id[DELIVERY_ID_SIZE]; /* hex; the same for each try, another one for each notification */
    int64_t until_ms;          /* on the monotonic clock */
};

typedef enum status delivery_fn(struct notice_delivery *d, struct err *e);
/* Looks at one channel's settings; *says may get a few words ("as cliq-bot in Acme"). */
typedef enum status delivery_test_fn(struct notice_delivery *d, struct buf *says, struct err *e);

/* The body of `cliq agent NAME` for a notifier. Its answer to a test message: every channel.
 * Returns ST_OK or ST_FAILED. */
enum status delivery_serve(delivery_fn *deliver, delivery_test_fn *test, struct err *e);
/* The notify handler of an agent of another kind. */
enum status delivery_run(struct context *c, delivery_fn *deliver, struct err *e);

/* A text or number of the channel's settings, else of the agent's; NULL: none, or not a scalar. */
const char *delivery_setting(const struct notice_delivery *d, const char *key);
/* Sets the error "slack has no channels.ops.webhook_url: cliq settings agents.slack.… -".
 * Returns ST_INVALID. */
enum status delivery_lacks(const struct notice_delivery *d, const char *key, struct err *e);
/* The same for a key of the agent. */
enum status delivery_lacks_own(const struct notice_delivery *d, const char *key, struct err *e);
/* ST_INVALID: the setting is not an http or https URL. */
enum status delivery_check_url(const struct notice_delivery *d, const char *key, const char *url,
                               struct err *e);
/* The setting `timeout`, in what is left of the budget. */
enum status delivery_timeout(const struct notice_delivery *d, int64_t *ms, struct err *e);

/* Posts q->body, with tries and pauses as far as the budget goes. An answer is ST_OK. */
enum status delivery_post(struct notice_delivery *d, struct fetch_request *q,
                          struct fetch_response *r, struct err *e);
/* Sets the error "… answered 429 (too many requests), and wants a pause of 3600 s; 2 tries".
 * Returns ST_FAILED. */
enum status
delivery_answered(const struct fetch_request *q, const struct fetch_response *r, struct err *e);

#endif
