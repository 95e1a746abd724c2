/*
 * fault - fault injection: system calls that fail on demand.
 *
 * A story is run repeatedly: in run n the n-th call through `sys` fails. It ends
 * with the first run in which no call fails. Each way of failing is a separate
 * case, in two forms: only the n-th call fails, or that call and all later ones
 * (not for EINTR).
 *
 *     FAULT_STORY(a_record_is_whole_or_absent)
 *     {
 *         ... prepare; nothing fails here ...
 *         fault_on(f);
 *         enum status s = log_append(...);
 *         fault_off(f);
 *         ... check what must be true for any s; f->has_failed: a call failed ...
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         static const struct story stories[] = { STORY(a_record_is_whole_or_absent) };
 *         return run_stories("log", stories, sizeof stories / sizeof *stories);
 *     }
 *
 * The fake_ functions set times, pids and random bytes in the same table. They
 * hold until the end of the case (case_leave restores sys_kernel).
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

/* Runs every story with every way of failing, as cmocka cases; returns the program's exit code.
 * Each run begins in an empty directory. */
int run_stories(const char *group, const struct story *stories, size_t n);

void fault_on(struct fault *f);
void fault_off(struct fault *f);

/* The same within one case: the body is repeated for every way and every n. */
#define FAULT_SWEEP(f) for (struct fault f = { .has_failed = true }; fault_next(&f);)
bool fault_next(struct fault *f);

/* "call 3 (write): EIO", for messages; valid until the next call. */
const char *fault_what(const struct fault *f);

/* Without a story: every call of this name fails with `error` until fault_off(NULL). */
void fault_always(const char *call, int error);
/* The number of calls of this name since the last fault_count_from_here. */
unsigned fault_count(const char *call);
void fault_count_from_here(void);

void fake_clock(int64_t wall_ns); /* stands still; the monotonic clock too */
void fake_wall(int64_t wall_ns);  /* after fake_clock: sets only the wall clock */
void fake_pid(pid_t pid);
void fake_random(unsigned char byte);

#endif
