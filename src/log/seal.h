/*
 * seal - the number and the checksum at the end of a sequenced log's line.
 *
 *     {"id":"...","type":"build:done","seq":41,"crc":"1c291ca3"}
 *
 * seq counts 1, 2, 3 ... over the whole log. crc is the CRC-32C, eight lower
 * case hex digits, of the line's bytes before `,"crc":`.
 *
 * Records that stand or fall together are written in one write; their first
 * line carries "of":N and line k of them (2 <= k <= N) "nth":k, so that a
 * reader from either end can tell a complete group from a torn one.
 *
 * A line without a seal is a foreign writer's: it takes the next number by
 * its position. Pure code: no file is touched here.
 *
 * Tests: test/unit/test_log_seal.c
 */
#ifndef CLIQ_LOG_SEAL_H
#define CLIQ_LOG_SEAL_H

#include "base/json.h"

struct seal {
    uint64_t seq; /* 0: no seal, a foreign line */
    uint64_t of;  /* lines in the group this line begins; else 0 */
    uint64_t nth; /* place in its group, from 2; else 0 */
};

/* Appends the object `text` with its seal and '\n'. One line alone: nth = of = 1. */
void seal_write(struct buf *to, const char *text, size_t len, size_t nth, size_t of, uint64_t seq);

/* Has the object a member of its own that a seal would write, too? Then it cannot be
 * sealed: the line would have a key twice. */
bool seal_clashes(const char *text, size_t len);

/* Reads the seal of a parsed line. False when there is one and it is wrong. */
bool seal_read(const char *text, size_t len, const struct json *object, struct seal *out);

/* The length of the record in a sealed line, without the '}' that ends it; 0: it has no seal. */
size_t seal_strip(const char *text, size_t len);

#endif
