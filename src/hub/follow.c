/*
 * follow - signals in order, for streams and subscriptions: from the index, so only synced lines.
 *
 * A failed query is rolled back: the index forgets the error, and the next query tries again.
 *
 * Tests: test/unit/test_hub_*.c test/unit/test_stream.c
 */
#include "hub/hub_impl.h"

#include "base/hash.h"
#include "hub/api_key.h"
#include "log/segment.h"

#include <string.h>

/* Makes a probe's number of a text. */
static uint64_t
sum(const char *text)
{
    return hash_bytes(text, strlen(text));
}

/* After a query: did it fail? A row that makes no sense is damage that SQLite does not see. */
static enum status
end_look(struct hub *h, struct index_probe look, bool makes_sense)
{
    enum status s = index_status(h->ix, NULL);

    if (!s && makes_sense)
        hub_trust_index(h, look);
    else if (!s || index_is_damaged(h->ix))
        hub_doubt_index(h, look);
    if (s)
        index_rollback(h->ix);
    return s || !makes_sense ? ST_IO : ST_OK;
}

/* The same for a yes-or-no query. */
static enum status
end_question(struct hub *h, struct index_probe look, bool is_so)
{
    return end_look(h, look, true) ? ST_IO : is_so ? ST_OK : ST_NOT_FOUND;
}

/* The rendered signal as a tree; NULL without memory. */
static const struct json *
parse_answer(const struct hub *h, struct arena *a)
{
    const struct buf *b = &h->answer;
    const struct hub_reply r = { .text = buf_failed(b) ? NULL : arena_dup(a, b->p, b->len) };

    return hub_reply_data(&r, a);
}

enum status
hub_next_signal(struct hub *h, uint64_t after, struct arena *a, uint64_t *seq,
                const struct json **signal)
{
    *signal = NULL;
    if (!hub_is_ready(h))
        return ST_IO;
    static const char sql[] =
        "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE s.seq > ? ORDER BY s.seq LIMIT 1";
    struct index_probe look = { sql, after };
    struct row *r = index_run(h->ix, sql, "i", (int64_t)after);
    struct signal_row x;

    if (!index_next(h->ix, r))
        return end_look(h, look, true) ? ST_IO : ST_NOT_FOUND;
    *seq = (uint64_t)row_int(r, 0);
    buf_reset(&h->answer);
    if (signal_row_read(r, a, &x) && render_row(&h->answer, &x, NULL, NULL, a))
        *signal = parse_answer(h, a);
    index_next(h->ix, r); /* to its end, so that the statement lets go of the file */
    return end_look(h, look, *signal);
}

enum status
hub_broadcast_json(struct hub *h, uint64_t seq, struct arena *a, const struct json **signal)
{
    *signal = NULL;
    if (!hub_is_ready(h))
        return ST_IO;
    static const char sql[] = "SELECT body FROM signals WHERE seq = ?";
    struct row *r = index_run(h->ix, sql, "i", (int64_t)seq);
    bool is_there = index_next(h->ix, r);
    if (is_there) {
        const char *body = row_dup(r, 0, a);
        buf_reset(&h->answer);
        if (render_broadcast_line(&h->answer, body, false, a))
            *signal = parse_answer(h, a);
        index_next(h->ix, r);
    }
    enum status s = end_look(h, (struct index_probe){ sql, seq }, !is_there || *signal);
    return s || is_there ? s : ST_NOT_FOUND;
}

enum status
hub_is_in_inbox(struct hub *h, const char *identity, uint64_t seq)
{
    if (!hub_is_ready(h))
        return ST_IO;
    static const char sql[] =
        "SELECT 1 FROM signals WHERE seq = ?2 AND addr IN (SELECT '@' || ?1"
        " UNION ALL SELECT '=' || role FROM fills WHERE identity = ?1"
        " UNION ALL SELECT '+' || ring FROM joins WHERE identity = ?1)"
        " UNION ALL SELECT 1 FROM matches m JOIN subscriptions b ON b.identity = m.identity"
        " AND b.pattern = m.pattern WHERE m.identity = ?1 AND m.signal = ?2";
    struct index_probe look = { sql, sum(identity) + seq };
    struct row *r = index_run(h->ix, sql, "si", identity, (int64_t)seq);
    bool is_there = index_next(h->ix, r);

    while (is_there && index_next(h->ix, r))
        continue; /* to its end, so that the statement lets go of the file */
    return end_question(h, look, is_there);
}

/* All 0: the index cannot be read. */
static struct index_place
look_at_place(struct hub *h)
{
    struct index_place p = { 0 };

    if (!hub_is_ready(h))
        return p;
    bool is_there = index_get_place(h->ix, &p);
    bool is_good = !end_look(h, (struct index_probe){ "place", 0 }, true) && is_there;
    return is_good ? p : (struct index_place){ 0 };
}

uint64_t
hub_last_seq(struct hub *h)
{
    return look_at_place(h).seq;
}

uint64_t
hub_last_cut(struct hub *h)
{
    return look_at_place(h).cut;
}

uint64_t
hub_bad_lines(struct hub *h)
{
    return look_at_place(h).bad;
}

/* hub_compact folds anew, which changes place.subscriptions: as long as that is the same, no
 * segment was deleted, and the directory need not be read. */
uint64_t
hub_oldest_seq(struct hub *h)
{
    struct index_place p;

    if (!hub_is_ready(h) || !index_get_place(h->ix, &p))
        return 1;
    if (!h->oldest || h->oldest_is_of != p.subscriptions)
        h->oldest = segment_oldest(h->dir, h->log.name);
    h->oldest_is_of = p.subscriptions;
    return h->oldest;
}

enum status
hub_is_member(struct hub *h, const char *identity, const char *ring)
{
    if (!hub_is_ready(h))
        return ST_IO;
    static const char sql[] = "SELECT 1 FROM joins WHERE identity = ? AND ring = ?";
    struct index_probe look = { sql, sum(identity) + 31 * sum(ring) };
    struct row *r = index_run(h->ix, sql, "ss", identity, ring);
    bool is_there = index_next(h->ix, r);

    if (is_there)
        index_next(h->ix, r);
    return end_question(h, look, is_there);
}

enum status
hub_find_key(struct hub *h, const char *key, struct arena *a, struct hub_key *out)
{
    char hash[SECRET_HASH_SIZE];

    *out = (struct hub_key){ 0 };
    if (!api_key_is(key))
        return ST_NOT_FOUND;
    if (!hub_is_ready(h))
        return ST_IO;
    api_key_hash(hash, key, strlen(key));
    static const char sql[] = "SELECT identity, scopes, hash, id, until FROM keys WHERE hash = ?";
    struct row *r = index_run(h->ix, sql, "s", hash);
    while (index_next(h->ix, r)) {
        if (api_key_same(row_text(r, 2), hash))
            *out = (struct hub_key){ .identity = row_dup(r, 0, a),
                                     .scopes = (unsigned)row_int(r, 1),
                                     .id = row_dup(r, 3, a),
                                     .until_ms = row_int(r, 4) };
    }
    return end_question(h, (struct index_probe){ sql, sum(hash) }, out->identity && out->id);
}
