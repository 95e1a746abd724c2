/*
 * lifecycle - the states of a war-room, and what moves it from one to the next. Pure: no clock, no
 * file, no process.
 *
 * A lifecycle is a table of states; each state has a type, a role, and the message types that it
 * answers to. The default one for the roles engineer, qa:
 *
 *     developing --done--> review --pass--> passed
 *        ^   ^               | |  `-escalate--> triage --fix--> optimize
 *        |   |               | `-----fail----> optimize --done--> review
 *        |   `--redesign-- triage --reject--> failed-final
 *        |      error, late, or the last try failed
 *        `--retry-- failed --exhaust--> failed-final
 *
 *     state            role       type       answers to
 *     developing       worker     work       done; error (+1)
 *     optimize         worker     work       done; error (+1)
 *     review, review-2 reviewers  review     pass, done; fail (+1, a fix is posted); escalate;
 *                                            error (+1)
 *     triage           manager    triage     fix (+1), redesign (+1, notes go to the brief), reject
 *     failed           manager    decision   nothing: its guards decide at once
 *     passed, failed-final        terminal   nothing: the room ended
 *
 * +1 counts a try. The try that reaches max_retries leads to the decision state, whose guards then
 * find none left. So max_retries 3 is three failed reviews (or errors, or timeouts) in all, and
 * after the third the room has failed for good.
 *
 * A struct life is where one room stands. life_answers tells whether a message counts, by its type
 * and its sender. Of several that count, the owner applies the latest; messages count only when
 * they come behind the one that opened the state. life_apply changes the room.
 *
 * A life always ends: tries, crashes of one visit, recoveries and visits are limited.
 *
 * Ownership: a lifecycle lives in its arena; a life borrows it.
 *
 * Tests: test/unit/test_lifecycle.c test/unit/test_lifecycle_random.c test/fuzz/fuzz_lifecycle.c
 */
#ifndef CLIQ_ROOM_LIFECYCLE_H
#define CLIQ_ROOM_LIFECYCLE_H

#include "base/json.h"

#define LIFE_MANAGER        "manager" /* the role of decisions */
#define LIFE_PASSED         "passed"
#define LIFE_FAILED_FINAL   "failed-final"
#define LIFE_RETRIES        3    /* max_retries when nothing sets it */
#define LIFE_RETRIES_MAX    1000 /* of max_retries */
#define LIFE_CRASHES_MAX    3    /* crashes of one visit that start the role again */
#define LIFE_RECOVERIES_MAX 3    /* of a room whose role ended and left it where it was */
#define LIFE_VISITS_MAX     1000 /* states that a room enters; then it has failed for good */
#define LIFE_STATES_MAX     64
#define LIFE_SIGNALS_MAX    32 /* message types of one state */
#define LIFE_ROLES_MAX      32

enum life_type { LIFE_WORK, LIFE_REVIEW, LIFE_TRIAGE, LIFE_DECISION, LIFE_TERMINAL };
enum life_guard { LIFE_ALWAYS, LIFE_RETRIES_LEFT, LIFE_RETRIES_SPENT };

/* A message type that a state answers to. */
struct life_signal {
    const char *type;
    size_t target;   /* the state it leads to */
    bool is_retry;   /* it counts a try: increment_retries */
    bool posts_fix;  /* post_fix; entering a work state posts one anyway */
    bool adds_notes; /* its body is appended to the brief: revise_brief */
    enum life_guard guard;
};

struct life_state {
    const char *name;
    const char *role; /* NULL: messages of any sender count */
    enum life_type type;
    struct life_signal *signals;
    size_t n_signals;
};

struct lifecycle {
    struct life_state *states;
    size_t n_states;
    size_t initial, passed, failed_final;
    size_t decision; /* the state of spent tries: the first decision, else failed_final */
    unsigned max_retries;
};

/* The default one: the first role works, the others review in this order; without a reviewer qa
 * reviews. "engineer:fe" is engineer, and manager is left out. ST_INVALID: no worker, a bad name,
 * or a role twice. */
enum status lifecycle_default(struct lifecycle *c, struct arena *a, const char *const *roles,
                              size_t n, unsigned max_retries, struct err *e);
/* The roles of "a -> b -> c" or "a,b,c", in the arena. */
enum status
lifecycle_roles(struct arena *a, const char *text, const char ***roles, size_t *n, struct err *e);
/* From lifecycle.json, version 2; `name` is the file's, for errors, which name state and member.
 * Everything lives in the arena. */
enum status lifecycle_parse(struct lifecycle *c, struct arena *a, const char *name,
                            const char *text, size_t len, struct err *e);
/* Writes lifecycle.json. */
void lifecycle_write(struct buf *to, const struct lifecycle *c);

enum lifecycle_form { LIFECYCLE_TEXT, LIFECYCLE_MERMAID, LIFECYCLE_DOT };
/* Draws it; `here` is the state that is marked, SIZE_MAX: none. */
void
lifecycle_draw(struct buf *to, const struct lifecycle *c, enum lifecycle_form form, size_t here);

/* SIZE_MAX: there is no such state. */
size_t lifecycle_find(const struct lifecycle *c, const char *state);
const char *life_type_name(enum life_type type);
/* The first role that works: messages to "the worker" go to it. */
const char *lifecycle_worker(const struct lifecycle *c);

/* ---- a room ------------------------------------------------------------- */

struct life {
    const struct lifecycle *c;
    size_t state;
    unsigned visit;   /* of states, from 1: names the attempts of roles */
    unsigned retries; /* tries that failed */
    unsigned crashes; /* of this visit */
    unsigned recoveries;
};

enum life_event_kind {
    LIFE_MESSAGE, /* signal: what life_answers returned */
    LIFE_LATE,    /* the state took too long */
    LIFE_CRASH,   /* the role's process died and said nothing */
    LIFE_STALL,   /* the role ended, and the state does not answer to what it said */
};

struct life_event {
    enum life_event_kind kind;
    size_t signal;
};

enum life_answer {
    LIFE_STAYS,
    LIFE_MOVED,    /* to another visit: see life_move */
    LIFE_RESTARTS, /* the role is started again in this visit */
    LIFE_GIVES_UP, /* it crashed too often: the owner posts an error in its name */
};

struct life_move {
    size_t from, to;   /* states */
    size_t through;    /* the decision state that was passed; SIZE_MAX: none */
    const char *posts; /* the type of the message that opens the new state: task or fix; NULL: none,
                        * the message that led here opens it */
    const char *to_role; /* the receiver of that */
    bool is_retry;       /* a try was counted */
    bool adds_notes;
};

void
life_begin(struct life *l, const struct lifecycle *c); /* the first visit, of the first state */
bool life_is_over(const struct life *l);
const struct life_state *life_state_of(const struct life *l);
/* The signal of the present state that such a message is; SIZE_MAX: it does not count. */
size_t life_answers(const struct life *l, const char *from, const char *type);
/* Whom a message of the present state is for: the reviewer of work, the worker of a triage's fix,
 * else the manager. */
const char *life_receiver(const struct life *l, const char *type);
enum life_answer life_apply(struct life *l, const struct life_event *ev, struct life_move *out);

#endif
