/*
 * time_arg - times as people and programs write them, in milliseconds since 1970.
 *
 *     1775215174000                     milliseconds
 *     2026-04-03T11:19:34Z              ISO 8601; seconds and their decimals may be left out,
 *     2026-04-03 13:19:34.222+02:00     the zone may not: it would be ambiguous
 *     +300ms  +30s  +5m  +2h  +1d       from now on
 *
 * Fractions of a millisecond are cut off. clock_iso_ms (base/clock.h) writes such times.
 *
 * Tests: test/unit/test_time_arg.c
 */
#ifndef CLIQ_HUB_MODEL_TIME_ARG_H
#define CLIQ_HUB_MODEL_TIME_ARG_H

#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

#define WHEN_MAX_MS INT64_C(253402300799999) /* the last one of 9999: years have four digits */

/* From 0 to WHEN_MAX_MS, or ST_INVALID and a sentence that shows how to write it. */
enum status time_arg_parse(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e);

/* deliverAt as JSON gives it: a number, not negative, floored. */
enum status time_arg_from_json(const struct json *v, int64_t *out_ms, struct err *e);

#endif
