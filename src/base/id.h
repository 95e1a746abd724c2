/*
 * id - unique numbers from the wall clock.
 *
 * Tests: test/unit/test_clock.c
 */
#ifndef CLIQ_BASE_ID_H
#define CLIQ_BASE_ID_H

#include <stdint.h>

/*
 * Returns wall-clock nanoseconds, increased where necessary so that no value
 * repeats in one process, even when the clock is coarse or set back. Together
 * with the pid the value is unique on one machine. Thread-safe.
 */
int64_t id_unique_ns(void);

#endif
