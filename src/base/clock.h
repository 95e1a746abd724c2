/*
 * clock - what time it is, asked through the kernel seam so tests decide.
 *
 * Wall time is for people and for records; waiting is measured with the
 * monotonic clock, which no administrator can set.
 *
 * Tests: test/unit/test_clock.c
 */
#ifndef CLIQ_BASE_CLOCK_H
#define CLIQ_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ns(void);
int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);

/* A descriptor that is readable when the wall clock was set: then clock_watch_again. -1: there is
 * none to be had. */
int clock_watch_open(void);
void clock_watch_again(int fd);

#define CLOCK_ISO_SIZE 32
/* "2026-04-03T11:19:34Z", UTC; with is_ms "2026-04-03T11:19:34.222Z". Returns `to`. */
char *clock_iso(char to[CLOCK_ISO_SIZE], int64_t wall_ns, int is_ms);
/* The same from milliseconds, always with three decimals: nanoseconds end in 2262, these in 9999.
 */
char *clock_iso_ms(char to[CLOCK_ISO_SIZE], int64_t wall_ms);

#endif
