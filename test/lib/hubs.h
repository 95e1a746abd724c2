/*
 * hubs - what the tests of hub/ share: a store in the case's directory, asked in one line.
 *
 *     struct hub *h = open_hub();
 *     const char *id = emit(h, "ruby", "{\"signal_type\":\"task\"}");
 *     CHECK_REPLY(ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id), 200);
 *     close_hub(h);
 */
#ifndef CLIQ_TEST_HUBS_H
#define CLIQ_TEST_HUBS_H

#include "hub/hub_writer.h"

#include "test.h"

#define HUB_LOG "config/signals/events.jsonl"

struct hub *open_hub(void); /* in "config" */
void close_hub(struct hub *h);
/* Frees what all answers so far pointed to; open_hub and the case's end do, too. */
void forget_answers(void);

/* One request; "!name" is an admin at the files. The answer lives until forget_answers. */
struct hub_reply *ask(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same as a round in steps, which keeps the lock for the next one (hub_writer.h). */
struct hub_reply *ask_on(struct hub *h, enum hub_op op, const char *who, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* All steps but hub_settle. */
void submit_on(struct hub *h, const struct hub_request *r, size_t n, struct arena *a,
               struct hub_reply *replies);
/* With a dedup_key. */
struct hub_reply *
ask_keyed(struct hub *h, enum hub_op op, const char *who, const char *key, const char *json);
/* Emits and gives the id, with "signal:". */
const char *emit(struct hub *h, const char *who, const char *json);
const char *claim(struct hub *h, const char *who, const char *id); /* the claim_id */

/* A member of the answer's data as text: "delivery_state", "[0].id"; "(none)" without it. */
const char *got(const struct hub_reply *r, const char *path);
/* The member `key` of every element of data (or of data's only member), joined by blanks. */
const char *each(const struct hub_reply *r, const char *key);
/* All of data as JSON. */
const char *data(const struct hub_reply *r);

#define CHECK_REPLY(reply, want)                                                                   \
    do {                                                                                           \
        const struct hub_reply *r_ = (reply);                                                      \
        if (r_->status != (want))                                                                  \
            fail_msg("%s:%d: %d %s: %s", __FILE__, __LINE__, r_->status, r_->code ? r_->code : "", \
                     r_->message ? r_->message : data(r_));                                        \
    } while (0)
#define CHECK_REFUSED(reply, want, which, text)                                                    \
    do {                                                                                           \
        const struct hub_reply *no_ = (reply);                                                     \
        CHECK_REPLY(no_, want);                                                                    \
        assert_string_equal(no_->code, which);                                                     \
        if (!strstr(no_->message, text))                                                           \
            fail_msg("\"%s\" does not say \"%s\"", no_->message, text);                            \
    } while (0)

#endif
