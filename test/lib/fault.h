/*
 * fault - a kernel that fails when it is told to.
 *
 * A story is told again and again: in run n the n-th call through `sys` fails.
 * When a run ends in which nothing failed, the story is over. Each way of
 * failing is a case of its own, and comes once (the n-th call alone fails) and
 * lasting (it and every call after it), except EINTR, which no call suffers
 * for ever.
 *
 *     FAULT_STORY(a_record_is_whole_or_absent)
 *     {
 *         ... put the world in order; nothing fails here ...
 *         fault_on(f);
 *         enum status s = log_append(...);
 *         fault_off(f);
 *         ... what must be true after any s? f->has_failed tells whether a call failed ...
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         static const struct story stories[] = { STORY(a_record_is_whole_or_absent) };
 *         return run_stories("log", stories, sizeof stories / sizeof *stories);
 *     }
 *
 * The same table tells times, pids and random bytes of our choice: fake_*.
 * They hold until the case ends (case_leave puts the kernel back).
 */
#ifndef CLIQ_TEST_FAULT_H
#define CLIQ_TEST_FAULT_H

#include "base/sys.h"

#include <stdbool.h>

enum fault_mode {
    FAULT_EIO,
    FAULT_ENOSPC,
    FAULT_EINTR,
    FAULT_EMFILE,
    FAULT_ENOMEM,
    FAULT_SHORT_ONE,  /* a write takes one byte */
    FAULT_SHORT_HALF, /* a write takes half */
    FAULT_MODES,
};

enum { FAULT_WAYS = 2 * FAULT_MODES - 1 };

struct fault {
    enum fault_mode mode;
    bool is_lasting;
    unsigned nth;     /* the eligible call that fails, from 1 */
    unsigned seen;    /* eligible calls so far, in this run */
    bool has_failed;  /* in this run */
    const char *call; /* the one that failed */
};

struct story {
    const char *name;
    void (*tell)(struct fault *f);
};
#define FAULT_STORY(fact) static void fact(struct fault *f)
#define STORY(fact)                                                                                \
    {                                                                                              \
#fact, fact                                                                                \
    }

/* Every story in every way, as cmocka cases: the exit code of the program. Each run
 * begins in an empty directory. */
int run_stories(const char *group, const struct story *stories, size_t n);

void fault_on(struct fault *f);
void fault_off(struct fault *f);

/* The same within one case: the body is repeated for every way and every n. */
#define FAULT_SWEEP(f) for (struct fault f = { .has_failed = true }; fault_next(&f);)
bool fault_next(struct fault *f);

/* "call 3 (write): EIO", for messages; valid until the next call. */
const char *fault_what(const struct fault *f);

/* One failure alone, without a story: every call of this name fails with error from now on,
 * until fault_off(NULL). */
void fault_always(const char *call, int error);
/* How often a call of this name was made since the last fault_count_from_here. */
unsigned fault_count(const char *call);
void fault_count_from_here(void);

void fake_clock(int64_t wall_ns); /* stands still; the monotonic clock too */
void fake_wall(int64_t wall_ns);  /* after fake_clock: somebody sets the wall clock alone */
void fake_pid(pid_t pid);
void fake_random(unsigned char byte);

#endif
