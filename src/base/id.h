/*
 * id - numbers that no two callers share.
 *
 * Tests: test/unit/test_clock.c
 */
#ifndef CLIQ_BASE_ID_H
#define CLIQ_BASE_ID_H

#include <stdint.h>

/*
 * Wall nanoseconds, but never the same value twice in one process, whatever
 * the clock's resolution and even when it is set back. With the pid beside
 * it, unique on one machine. Safe to call from several threads.
 */
int64_t id_unique_ns(void);

#endif
