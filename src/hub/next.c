/* next - the signals in order, for those who follow: from the index, so only what is synced. */
#include "hub/hub_impl.h"
#include "hub/secret.h"

#include <string.h>

/* The index may have been deleted, and made again by somebody. */
static bool
is_ready(struct hub *h)
{
    if (h->ix && index_is_current(h->ix))
        return true;
    if (hub_begin_read(h, NULL))
        return false;
    index_rollback(h->ix);
    return true;
}

enum status
hub_catch_up(struct hub *h, struct err *e)
{
    enum status s = hub_begin_read(h, e);

    if (h->ix)
        index_rollback(h->ix);
    return s;
}

bool
hub_next_signal(struct hub *h, uint64_t after, struct arena *a, uint64_t *seq,
                const struct json **signal)
{
    if (!is_ready(h))
        return false;
    struct row *r = index_run(
        h->ix, "SELECT " SHOW_COLUMNS " FROM signals s WHERE s.seq > ? ORDER BY s.seq LIMIT 1", "i",
        (int64_t)after);

    if (!index_next(h->ix, r))
        return false;
    *seq = (uint64_t)row_int(r, 0);
    *signal = show_row(r, a);
    index_next(h->ix, r); /* to its end, so that the statement lets go of the file */
    return *signal != NULL;
}

const struct json *
hub_broadcast_json(struct hub *h, uint64_t seq, struct arena *a)
{
    const struct json *v = NULL;

    if (!is_ready(h))
        return NULL;
    struct row *r = index_run(h->ix, "SELECT body FROM signals WHERE seq = ?", "i", (int64_t)seq);
    if (index_next(h->ix, r)) {
        const char *body = row_dup(r, 0, a);
        v = body ? show_broadcast(body, strlen(body), a) : NULL;
        index_next(h->ix, r);
    }
    return v;
}

bool
hub_is_in_inbox(struct hub *h, const char *identity, uint64_t seq)
{
    if (!is_ready(h))
        return false;
    struct row *r = index_run(
        h->ix,
        "SELECT 1 FROM signals WHERE seq = ?2 AND addr IN (SELECT '@' || ?1"
        " UNION ALL SELECT '=' || role FROM fills WHERE identity = ?1"
        " UNION ALL SELECT '+' || ring FROM joins WHERE identity = ?1)"
        " UNION ALL SELECT 1 FROM matches m JOIN subscriptions b ON b.identity = m.identity"
        " AND b.pattern = m.pattern WHERE m.identity = ?1 AND m.signal = ?2",
        "si", identity, (int64_t)seq);
    bool is_there = index_next(h->ix, r);

    while (is_there && index_next(h->ix, r))
        continue; /* to its end, so that the statement lets go of the file */
    return is_there;
}

uint64_t
hub_last_seq(struct hub *h)
{
    struct index_place p;

    return is_ready(h) && index_get_place(h->ix, &p) ? p.seq : 0;
}

bool
hub_is_member(struct hub *h, const char *identity, const char *ring)
{
    if (!is_ready(h))
        return false;
    struct row *r = index_run(h->ix, "SELECT 1 FROM joins WHERE identity = ? AND ring = ?", "ss",
                              identity, ring);
    bool is_there = index_next(h->ix, r);

    if (is_there)
        index_next(h->ix, r);
    return is_there;
}

bool
hub_find_key(struct hub *h, const char *key, struct arena *a, const char **identity,
             unsigned *scopes)
{
    char hash[SECRET_HASH_SIZE];

    *identity = NULL;
    if (!secret_is_key(key) || !is_ready(h))
        return false;
    secret_hash(hash, key, strlen(key));
    struct row *r =
        index_run(h->ix, "SELECT identity, scopes, hash FROM keys WHERE hash = ?", "s", hash);
    while (index_next(h->ix, r)) {
        if (secret_same(row_text(r, 2), hash)) {
            *identity = row_dup(r, 0, a);
            *scopes = (unsigned)row_int(r, 1);
        }
    }
    return *identity != NULL;
}

int64_t
hub_log_end(const struct hub *h)
{
    return h->log.end;
}

uint64_t
hub_key_changes(const struct hub *h)
{
    return h->fold.keys;
}
