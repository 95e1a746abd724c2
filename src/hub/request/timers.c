/*
 * timers - leases that end, of signals and of files, retries, delayed signals and signals that
 * expire. Every round does first what is due.
 */
#include "hub/hub_impl.h"

#include "hub/model/signal_id.h"

#include <string.h>

enum { DUE_AT_ONCE = 400 };

/* Writes the events of leases and retries that are due, DUE_AT_ONCE at most; how many. */
static size_t
do_leases(struct hub *h, struct arena *a)
{
    struct refusal r;
    struct signal_row x;
    uint64_t seqs[DUE_AT_ONCE];
    size_t n = 0;
    struct row *row =
        index_run(h->ix,
                  "SELECT signal FROM (SELECT signal FROM states WHERE until IS NOT NULL"
                  " AND boot = ?1 AND ?1 <> '' AND boot_until <= ?2"
                  " UNION ALL SELECT signal FROM states WHERE until IS NOT NULL"
                  " AND (boot < ?1 OR boot > ?1 OR ?1 = '') AND until <= ?3)"
                  " ORDER BY signal LIMIT ?4",
                  "siii", h->boot, h->now.boot_ms, h->now.wall_ms, (int64_t)DUE_AT_ONCE);

    while (n < DUE_AT_ONCE && index_next(h->ix, row))
        seqs[n++] = (uint64_t)row_int(row, 0);
    for (size_t i = 0; i < n; i++) {
        if (!fold_find_at(&h->fold, seqs[i], a, &x))
            return 0;
        struct hub_event ev = { .kind = x.it.state == D_LEASED ? EV_EXPIRE : EV_RETRY,
                                .signal = x.it.id,
                                .at = h->now.wall_ms,
                                .claim = x.it.claim };
        h->fold.known = &x;
        h->unit++;
        if (!hub_add_line(h, &ev, &r))
            return 0;
    }
    return n;
}

bool
hub_deliver(struct hub *h, const struct hub_event *was, struct refusal *r)
{
    char id[HUB_ID_SIZE];
    struct err e;

    if (hub_new_id(id, &e))
        return refuse(r, 503, "STORE_UNAVAILABLE", "%s", e.text);
    const struct hub_event signal = { .kind = EV_SIGNAL,
                                      .id = hub_event_bare_id(id),
                                      .type = was->type,
                                      .source = was->source,
                                      .data = was->data,
                                      .by = was->by,
                                      .at = h->now.wall_ms,
                                      .delayed = was->id };
    const struct hub_event end = {
        .kind = EV_DELIVER, .id = was->id, .signal = signal.id, .at = h->now.wall_ms
    };
    return hub_add_line(h, &signal, r) && hub_add_line(h, &end, r);
}

/* The same for delayed signals. */
static size_t
do_delayed(struct hub *h, struct arena *a)
{
    struct refusal refusal;
    const char *due[DUE_AT_ONCE];
    size_t n = 0;
    struct row *r =
        index_run(h->ix, "SELECT body FROM delayed WHERE at <= ? ORDER BY at, type, id LIMIT ?",
                  "ii", h->now.wall_ms, (int64_t)DUE_AT_ONCE);

    while (n < DUE_AT_ONCE && index_next(h->ix, r))
        due[n++] = row_dup(r, 0, a);
    for (size_t i = 0; i < n; i++) {
        struct hub_event was;
        if (!due[i] || !hub_event_parse(&was, due[i], strlen(due[i]), a))
            return 0;
        h->unit++;
        if (!hub_deliver(h, &was, &refusal))
            return 0;
    }
    return n;
}

#define EXPIRING_OPEN                                                                              \
    " FROM expiring e LEFT JOIN states w ON w.signal = e.signal WHERE coalesce(w.state, 0) IN "    \
    "(0, 3)"

/* The same for signals that expire. */
static size_t
do_lapses(struct hub *h, struct arena *a)
{
    struct refusal refusal;
    struct signal_row x;
    uint64_t seqs[DUE_AT_ONCE];
    size_t n = 0;
    struct row *r =
        index_run(h->ix, "SELECT e.signal" EXPIRING_OPEN " AND e.at <= ? ORDER BY 1 LIMIT ?", "ii",
                  h->now.wall_ms, (int64_t)DUE_AT_ONCE);

    while (n < DUE_AT_ONCE && index_next(h->ix, r))
        seqs[n++] = (uint64_t)row_int(r, 0);
    for (size_t i = 0; i < n; i++) {
        if (!fold_find_at(&h->fold, seqs[i], a, &x))
            return 0;
        struct hub_event ev = { .kind = EV_LAPSE, .signal = x.it.id, .at = h->now.wall_ms };
        h->fold.known = &x;
        h->unit++;
        if (!hub_add_line(h, &ev, &refusal))
            return 0;
    }
    return n;
}

void
hub_do_lapses(struct hub *h, struct arena *a)
{
    while (fold_has_expiring(&h->fold) && do_lapses(h, a) == DUE_AT_ONCE)
        ;
}

/* The least of a column that may be empty. */
static int64_t
least(struct hub *h, struct row *r)
{
    return index_next(h->ix, r) && row_text(r, 0) ? row_int(r, 0) : INT64_MAX;
}

void
hub_look_up_due(struct hub *h)
{
    h->due.boot_ms = least(h, index_run(h->ix,
                                        "SELECT min(ms) FROM (SELECT min(boot_until) AS ms FROM"
                                        " states WHERE until IS NOT NULL AND boot = ?1 AND ?1 <> ''"
                                        " UNION ALL SELECT min(boot_until) FROM file_leases"
                                        " WHERE boot = ?1 AND ?1 <> '')",
                                        "s", h->boot));
    h->due.wall_ms = least(h, index_run(h->ix,
                                        "SELECT min(ms) FROM (SELECT min(until) AS ms FROM states"
                                        " WHERE until IS NOT NULL AND (boot < ?1 OR boot > ?1"
                                        " OR ?1 = '') UNION ALL SELECT min(at) FROM delayed"
                                        " UNION ALL SELECT min(e.at)" EXPIRING_OPEN
                                        " UNION ALL SELECT min(until) FROM file_leases WHERE"
                                        " coalesce(boot, '') <> ?1 OR ?1 = '')",
                                        "s", h->boot));
    h->due_is_of = index_status(h->ix, NULL) ? 0 : h->fold.timers + 1;
    h->fold.soonest = (struct hub_time){ INT64_MAX, INT64_MAX };
}

/* Milliseconds until the sooner of two times; INT64_MAX: never. */
static int64_t
until(int64_t a, int64_t b, int64_t now)
{
    int64_t at = a < b ? a : b;

    return at == INT64_MAX ? INT64_MAX : at - now;
}

bool
hub_is_nothing_due(const struct hub *h, int64_t *in_ms)
{
    const struct hub_time *soonest = &h->fold.soonest;
    int64_t boot = until(h->due.boot_ms, soonest->boot_ms, h->now.boot_ms);
    int64_t wall = until(h->due.wall_ms, soonest->wall_ms, h->now.wall_ms);

    *in_ms = boot < wall ? boot : wall;
    return h->due_is_of == h->fold.timers + 1 && *in_ms > 0;
}

bool
hub_do_due(struct hub *h, struct arena *a)
{
    int64_t in_ms;

    if (hub_is_nothing_due(h, &in_ms))
        return true;
    hub_look_up_due(h);
    if (hub_is_nothing_due(h, &in_ms))
        return true;
    while (do_leases(h, a) == DUE_AT_ONCE)
        ;
    while (hub_do_file_leases(h, a, DUE_AT_ONCE) == DUE_AT_ONCE)
        ;
    while (do_delayed(h, a) == DUE_AT_ONCE)
        ;
    hub_do_lapses(h, a);
    return index_status(h->ix, NULL) == ST_OK;
}
