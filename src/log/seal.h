/*
 * seal - the sequence number and checksum at the end of a sequenced log's line.
 *
 *     {"id":"...","type":"build:done","seq":41,"crc":"1c291ca3"}
 *
 *     of    first line of a group of N records: N. A group is all or nothing
 *     nth   line k of the group, 2 <= k <= N: k
 *     seq   1, 2, 3 ... over the whole log
 *     crc   CRC-32C of the line's bytes before `,"crc":`, 8 lower-case hex digits
 *
 * With of and nth, readers in both directions tell a complete group from a
 * torn one. A line without a seal comes from a foreign writer; its position
 * gives its number. Pure code: no file is touched here.
 *
 * Tests: test/unit/test_log_seal.c
 */
#ifndef CLIQ_LOG_SEAL_H
#define CLIQ_LOG_SEAL_H

#include "base/json.h"

struct seal {
    uint64_t seq; /* 0: no seal, a foreign line */
    uint64_t of;  /* 0: not the first line of a group */
    uint64_t nth; /* 0: not a later line of a group */
};

/* Appends the object `text` with its seal and '\n'. A single record: nth = of = 1. */
void seal_write(struct buf *to, const char *text, size_t len, size_t nth, size_t of, uint64_t seq);

/* Has the object a key of a seal? Then it cannot be sealed: the key would be duplicate. */
bool seal_clashes(const char *text, size_t len);

/* Reads the seal of a parsed line. False: it has a seal, and the seal is wrong. */
bool seal_read(const char *text, size_t len, const struct json *object, struct seal *out);

/* The length of the record in a sealed line, without its final '}'; 0: the line has no seal. */
size_t seal_strip(const char *text, size_t len);

#endif
