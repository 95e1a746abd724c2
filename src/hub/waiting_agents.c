/*
 * waiting_agents - which agents to wake, and the signals to give them. Reads the index alone; a
 * match counts only while its subscription exists, and if the identity may read the signal.
 */
#include "hub/hub_impl.h"

#include <string.h>

enum { BATCH_BYTES_MAX = 8 << 20 };

/* Matches that wait for the identity `who`, an expression. */
#define WAITING_OF(who)                                                                            \
    " FROM matches m JOIN subscriptions b ON b.identity = m.identity AND b.pattern = m.pattern"    \
    " JOIN signals s ON s.seq = m.signal WHERE m.identity = " who                                  \
    " AND m.signal > (SELECT upto FROM woken WHERE identity = " who ")"                            \
    " AND m.signal > b.loud" /* which is NULL while it is silent */                                \
    " AND " SIGNAL_ROW_MAY_READ(who)

size_t
hub_agents_to_wake(struct hub *h, struct arena *a, const char *const **ids)
{
    struct sleeper {
        struct sleeper *next;
        const char *id;
    } *first = NULL, **last = &first;
    size_t n = 0, i = 0;

    *ids = NULL;
    if (!hub_is_ready(h))
        return 0;
    struct row *r = index_run(h->ix,
                              "SELECT id FROM identities i WHERE agent IS NOT NULL AND dir IS NOT"
                              " NULL AND EXISTS (SELECT 1" WAITING_OF("i.id") ")",
                              "");
    while (index_next(h->ix, r)) {
        struct sleeper *one = arena_alloc(a, sizeof *one);
        if (!one || !(one->id = row_dup(r, 0, a)))
            continue;
        one->next = NULL;
        *last = one;
        last = &one->next;
        n++;
    }
    const char **list = arena_alloc(a, n * sizeof *list + 1);
    for (struct sleeper *one = first; list && one; one = one->next)
        list[i++] = one->id;
    *ids = list;
    return i;
}

bool
hub_has_agent(struct hub *h, const char *identity)
{
    if (!hub_is_ready(h))
        return false;
    struct row *r = index_run(h->ix,
                              "SELECT 1 FROM identities WHERE id = ? AND agent IS NOT NULL AND"
                              " dir IS NOT NULL",
                              "s", identity);
    bool is_there = index_next(h->ix, r);

    if (is_there)
        index_next(h->ix, r);
    return is_there;
}

static bool
is_about(const char *type, const char *sender)
{
    size_t n = sender ? strlen(sender) : 0;

    return n && strncmp(type, "agent:", 6) == 0 && strncmp(type + 6, sender, n) == 0 &&
           type[6 + n] == ':';
}

/* One signal, as an element of the message's notifications. False: no memory. */
static bool
render_notification(struct buf *to, struct row *r, struct arena *scratch)
{
    json_sep(to);
    buf_adds(to, "{\"event\":\"signal\",\"channel\":null");
    render_text(to, "pattern", row_text(r, 1));
    json_key_int(to, "sequence", row_int(r, 0));
    json_key(to, "signal");
    bool is_good = render_broadcast_line(to, row_text(r, 2), true, scratch);
    json_close(to, '}');
    return is_good && !buf_failed(to);
}

enum status
hub_waiting(struct hub *h, const char *identity, uint64_t last, struct arena *a,
            struct hub_batch *b, struct err *e)
{
    struct buf text = { 0 };
    struct arena scratch = { 0 };
    size_t bytes = 0, room = 0;
    enum status s = hub_begin_read(h, e);

    *b = (struct hub_batch){ 0 };
    if (s)
        return s;
    json_open(&text, '[');
    struct row *r =
        index_run(h->ix, "SELECT agent, dir FROM identities WHERE id = ?", "s", identity);
    while (index_next(h->ix, r)) {
        b->agent = row_dup(r, 0, a);
        b->dir = row_dup(r, 1, a);
    }
    r = index_run(h->ix,
                  "SELECT m.signal, min(m.pattern), s.body, s.sender, s.task, s.type" WAITING_OF(
                      "?1") " AND m.signal <= ?3 GROUP BY m.signal ORDER BY m.signal LIMIT ?2",
                  "sii", identity, (int64_t)HUB_BATCH_MAX, last ? (int64_t)last : INT64_MAX);
    while (index_next(h->ix, r)) {
        bytes += strlen(row_text(r, 2));
        if (s || (b->n && bytes > BATCH_BYTES_MAX))
            continue; /* to its end, so that the statement lets go */
        arena_reset(&scratch);
        if (b->n == room) {
            struct hub_waiting_signal *more =
                arena_alloc(a, (room = room ? 2 * room : 16) * sizeof *more);
            if (more && b->n)
                memcpy(more, b->signals, b->n * sizeof *more);
            b->signals = more;
        }
        if (!b->signals || !render_notification(&text, r, &scratch)) {
            s = err_nomem(e);
            continue;
        }
        b->upto = (uint64_t)row_int(r, 0);
        b->signals[b->n] = (struct hub_waiting_signal){ .seq = b->upto,
                                                        .sender = row_dup(r, 3, a),
                                                        .is_task = row_int(r, 4) != 0 };
        b->signals[b->n].is_life = is_about(row_text(r, 5), b->signals[b->n].sender);
        b->signals[b->n].is_cliqs_alert = b->signals[b->n].sender &&
                                          strcmp(b->signals[b->n].sender, "cliq") == 0 &&
                                          strcmp(row_text(r, 5), "alert") == 0;
        b->n++;
    }
    json_close(&text, ']');
    if (!s)
        s = index_status(h->ix, e);
    const struct hub_reply list = { .text = arena_dup(a, text.p, text.len) };
    b->list = s ? NULL : hub_reply_data(&list, a);
    if (!s && !b->list)
        s = err_nomem(e);
    buf_release(&text);
    arena_release(&scratch);
    hub_end_read(h);
    return s;
}
