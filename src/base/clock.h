/*
 * clock - wall and monotonic time, read through base/sys.h so that tests can set it.
 *
 * Wall time is for people and records. Waits are measured with the monotonic
 * clock, which does not jump when the wall clock is set.
 *
 * Tests: test/unit/test_clock.c
 */
#ifndef CLIQ_BASE_CLOCK_H
#define CLIQ_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ns(void);
int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);

/* Returns a descriptor that becomes readable when the wall clock is set, or -1. After each event
 * call clock_watch_again to rearm it. */
int clock_watch_open(void);
void clock_watch_again(int fd);

#define CLOCK_ISO_SIZE 32
/* "2026-04-03T11:19:34Z", UTC; with is_ms "2026-04-03T11:19:34.222Z". Returns `to`. */
char *clock_iso(char to[CLOCK_ISO_SIZE], int64_t wall_ns, int is_ms);
/* The same from milliseconds, always with three decimals. An int64_t of nanoseconds ends in 2262;
 * this one reaches 9999. */
char *clock_iso_ms(char to[CLOCK_ISO_SIZE], int64_t wall_ms);
/* For people: "just now", "3 min ago", "in 2 h"; the date when it is a week or more away. */
char *clock_near(char to[CLOCK_ISO_SIZE], int64_t wall_ms, int64_t now_ms);

#endif
