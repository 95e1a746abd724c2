/*
 * sleeping - runs that go on without a process: only people are awaited.
 *
 *     .cliq/run/asleep               {"v":1,"run":"cliq-a1b2c3-18af…","since_ms":…,"wake_ms":…}
 *     <config>/sleeping/<hex>        a link to such a .cliq/, for the alarm
 *     <config>/sleeping/.lock        held by the alarm
 *
 *     an orchestrator  --sleeping_begin-->  asleep  --sleeping_wake-->  cliq run --resume --detach
 *     that ends                                |                           |
 *                                              `-- the alarm, at wake_ms --'--sleeping_end
 *
 * A run sleeps when its record is there and nothing holds run/lock. An answer to a review wakes
 * it; a reminder, the end of a review or of a phase's time limit is what the alarm wakes it for:
 * one small process of the user for all runs, `cliq _alarm`. It sleeps until the earliest wake_ms
 * and ends when no run sleeps. When it was killed, or the machine was started anew, the next
 * command that deals with reviews, the next sleeping run, `cliq serve` and `cliq signal pump` start
 * another one; until then reminders are late. Answers need no alarm.
 *
 * `config` is the user's directory; NULL: $CLIQ_HOME, else ~/.cliqrc.
 *
 * The run that is woken has the environment of what wakes it, without CLIQ_*.
 *
 * Tests: test/scenario/review_sleep.bats
 */
#ifndef CLIQ_RUN_SLEEPING_H
#define CLIQ_RUN_SLEEPING_H

#include "context/state_dir.h"

#include <stdint.h>

struct sleeping {
    char run[64];
    int64_t since_ms, wake_ms; /* wall time */
};

/* False: no run sleeps here; one may be at work. */
bool sleeping_read(const struct state_dir *f, struct sleeping *out);
/* The caller holds the run's lock. */
enum status sleeping_begin(const struct state_dir *f, const struct sleeping *s, struct err *e);
/* The same: the run is awake, or has ended. */
void sleeping_end(const struct state_dir *f);

/* Starts the run again, and waits until it has begun. ST_OK also when it is awake already. What
 * went wrong is appended to orchestrator.log, too. */
enum status sleeping_wake(const struct state_dir *f, const char *config, struct err *e);

/* sleep_alarm.c. Starts the alarm of this user, when runs sleep and there is none. */
void sleeping_alarm_start(const char *config);
/* How many runs of this user sleep; *is_watched: there is an alarm. */
size_t sleeping_count(const char *config, bool *is_watched);
/* Is the alarm; ST_OK when no run sleeps any more, and when another process is the alarm. */
enum status sleeping_alarm_run(const char *config, struct err *e);

#endif
