/*
 * hubs - helpers for tests of hub/: a store in the case's directory, and one-line requests.
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
/* Frees the memory of all replies; close_hub does so too. */
void forget_answers(void);

/* Sends one request; "!name" is an admin on files. The reply is valid until forget_answers. */
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
/* Emits and returns the id, with "signal:". */
const char *emit(struct hub *h, const char *who, const char *json);
const char *claim(struct hub *h, const char *who, const char *id); /* the claim_id */

/* A member of the reply's data as text: "delivery_state", "[0].id"; "(none)": absent. */
const char *got(const struct hub_reply *r, const char *path);
/* The member `key` of every element of data (or of data's only member), separated by blanks. */
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

/* A task, a second, and a time to begin at. */
#define TASK "{\"signal_type\":\"task\",\"content\":\"x\"}"
#define S    INT64_C(1000000000)
#define T0   (INT64_C(1775215174) * S)

/* A pseudo-random number; every run of the program gets the same ones. */
unsigned random_below(unsigned below);

/* Sets the task_status. */
struct hub_reply *set_status(struct hub *h, const char *who, const char *id, const char *status);

/* The answers of all queries, as text; free() it. */
char *whole_hub(struct hub *h);
/* A few signals, identities, keys, subscriptions. */
void fill_hub(struct hub *h);
/* 700 tasks; some are in threads, some are claimed, acked or released. */
void fill_hub_much(struct hub *h);

/* Forks a child that runs `work` with the writing end of a pipe; *from is the reading end. */
pid_t fork_worker(void (*work)(int fd, int n), int n, int *from);

/* Does the index show the signal to a reader that waits for no lock? */
bool is_in_index(struct hub *reader, const char *id);

#endif
