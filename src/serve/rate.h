/*
 * rate - rate limit per key: token buckets. Pure but for the table's memory.
 *
 * A bucket holds up to `burst` tokens and gets `per_s` new ones a second; a request takes one or
 * is refused. Every key has its own bucket, which begins full. Requests without a known key share
 * one bucket (who 0), so that guessing keys is limited, too.
 *
 * The table has a line for every key that was used lately. A line whose bucket is full again is
 * dropped when room is needed. Unknown keys get no line, so they cannot fill the table.
 *
 * Tests: test/unit/test_rate.c
 */
#ifndef CLIQ_SERVE_RATE_H
#define CLIQ_SERVE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_rule {
    int64_t per_s; /* 0: no limit */
    int64_t burst; /* at least 1 */
};

struct rate_bucket {
    uint64_t who;    /* 0: a free line */
    int64_t missing; /* thousandths of tokens under the burst, at `at_ms` */
    int64_t at_ms;
};

/* Takes a token; false: there is none, the next one comes in *wait_ms. A clock that goes back
 * brings no tokens. */
bool
rate_take(const struct rate_rule *rule, struct rate_bucket *b, int64_t now_ms, int64_t *wait_ms);

struct rates { /* zero: empty */
    struct rate_bucket shared;
    struct rate_bucket *lines; /* by a hash of `who`, open addressing; at most half full */
    size_t n, cap;
};

/* The bucket of who (0: the shared one). Without memory it is the shared one, too. */
struct rate_bucket *
rates_find(struct rates *r, const struct rate_rule *rule, uint64_t who, int64_t now_ms);
void rates_release(struct rates *r);

#endif
