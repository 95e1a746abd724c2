#include "hub/request/inbox_merge.h"

#include <string.h>

/* Signals read of a list at once: a page of 20 rarely needs more of one. */
enum { HEAD = 24 };

/* One list. */
struct merge_source {
    struct merge_source *next;
    const char *addr; /* "@ruby", "=dev", "+ops"; for matches, the identity alone */
    bool is_matches;
    bool is_read;              /* to its end */
    struct inbox_merge_at end; /* of what was read */
    size_t n, i;               /* in `head`; the first that was not given */
    struct inbox_merge_at head[HEAD];
};

/* ---- the lists ---- */

/* Checks the subscription: an ended one leaves its matches. */
#define IS_MATCHED                                                                                 \
    " AND EXISTS (SELECT 1 FROM matches m CROSS JOIN subscriptions b ON b.identity = m.identity"   \
    " AND b.pattern = m.pattern WHERE m.identity = ?1 AND m.signal = n.signal)"
#define FROM_MATCHES                                                                               \
    "SELECT m.signal, 0 FROM matches m CROSS JOIN subscriptions b ON b.identity = m.identity AND"  \
    " b.pattern = m.pattern WHERE m.identity = ?1 AND m.signal "

static void
take(struct inbox_merge *w, struct merge_source *s, struct row *r)
{
    while (index_next(w->ix, r))
        if (s->n < HEAD) {
            s->end = (struct inbox_merge_at){ row_double(r, 1), row_int(r, 0) };
            s->head[s->n++] = s->end;
        }
}

/* Signals as urgent as the last one, then less urgent ones. The order has two directions, so what
 * follows a place is two ranges of the list. */
static void
read_urgent(struct inbox_merge *w, struct merge_source *s)
{
    struct index *ix = w->ix;
    struct inbox_merge_at at = s->end;

    take(w, s,
         s->is_matches
             ? index_run(ix,
                         "SELECT n.signal, n.urgency FROM waiting n WHERE n.addr = '~' || ?1 AND"
                         " n.urgency = ?2 AND n.signal > ?3" IS_MATCHED
                         " ORDER BY n.signal LIMIT ?4",
                         "sdii", s->addr, at.urgency, at.seq, (int64_t)HEAD)
             : index_run(ix,
                         "SELECT signal, urgency FROM waiting WHERE addr = ?1 AND urgency = ?2 AND"
                         " signal > ?3 ORDER BY signal LIMIT ?4",
                         "sdii", s->addr, at.urgency, at.seq, (int64_t)HEAD));
    if (s->n == HEAD)
        return;
    take(w, s,
         s->is_matches
             ? index_run(ix,
                         "SELECT n.signal, n.urgency FROM waiting n WHERE n.addr = '~' || ?1 AND"
                         " n.urgency < ?2 AND n.urgency >= ?3" IS_MATCHED
                         " ORDER BY n.urgency DESC, n.signal LIMIT ?4",
                         "sddi", s->addr, at.urgency, w->min_urgency, (int64_t)(HEAD - s->n))
             : index_run(ix,
                         "SELECT signal, urgency FROM waiting WHERE addr = ?1 AND urgency < ?2 AND"
                         " urgency >= ?3 ORDER BY urgency DESC, signal LIMIT ?4",
                         "sddi", s->addr, at.urgency, w->min_urgency, (int64_t)(HEAD - s->n)));
}

static void
read_newest(struct inbox_merge *w, struct merge_source *s)
{
    take(w, s,
         s->is_matches
             ? index_run(w->ix, FROM_MATCHES "< ?2 ORDER BY m.signal DESC LIMIT ?3", "sii", s->addr,
                         s->end.seq, (int64_t)HEAD)
             : index_run(w->ix,
                         "SELECT seq, 0 FROM signals WHERE addr = ? AND seq < ? ORDER BY seq DESC"
                         " LIMIT ?",
                         "sii", s->addr, s->end.seq, (int64_t)HEAD));
}

static void
read_oldest(struct inbox_merge *w, struct merge_source *s)
{
    take(w, s,
         s->is_matches
             ? index_run(w->ix, FROM_MATCHES "> ?2 ORDER BY m.signal LIMIT ?3", "sii", s->addr,
                         s->end.seq, (int64_t)HEAD)
             : index_run(w->ix,
                         "SELECT seq, 0 FROM signals WHERE addr = ? AND seq > ? ORDER BY seq"
                         " LIMIT ?",
                         "sii", s->addr, s->end.seq, (int64_t)HEAD));
}

static void
read_on(struct inbox_merge *w, struct merge_source *s)
{
    s->n = s->i = 0;
    if (w->order == INBOX_MERGE_URGENT)
        read_urgent(w, s);
    else if (w->order == INBOX_MERGE_NEWEST)
        read_newest(w, s);
    else
        read_oldest(w, s);
    s->is_read = s->n < HEAD;
}

/* ---- all of them ---- */

static bool
is_before(enum inbox_merge_order order, const struct inbox_merge_at *a,
          const struct inbox_merge_at *b)
{
    if (a->urgency != b->urgency)
        return a->urgency > b->urgency;
    return order == INBOX_MERGE_NEWEST ? a->seq > b->seq : a->seq < b->seq;
}

static struct merge_source *
add(struct inbox_merge *w, struct arena *a, const char *addr, bool is_matches)
{
    struct merge_source *s = addr ? arena_alloc(a, sizeof *s) : NULL;

    if (!s)
        return NULL;
    *s = (struct merge_source){
        .next = w->first, .addr = addr, .is_matches = is_matches, .end = w->last
    };
    return w->first = s;
}

bool
inbox_merge_init(struct inbox_merge *w, struct index *ix, struct arena *a, const char *identity,
                 enum inbox_merge_order order, const struct inbox_merge_at *after,
                 double min_urgency)
{
    *w = (struct inbox_merge){ .ix = ix, .order = order, .min_urgency = min_urgency };
    if (after)
        w->last = *after;
    else if (order == INBOX_MERGE_URGENT)
        w->last.urgency = 2; /* more than any */
    else if (order == INBOX_MERGE_NEWEST)
        w->last.seq = INT64_MAX;
    bool is_good = add(w, a, identity, true) != NULL;
    struct row *r = index_run(ix,
                              "SELECT '@' || ?1 UNION ALL SELECT '=' || role FROM fills WHERE"
                              " identity = ?1 UNION ALL SELECT '+' || ring FROM joins WHERE"
                              " identity = ?1",
                              "s", identity);
    while (index_next(ix, r))
        is_good = add(w, a, row_dup(r, 0, a), false) && is_good;
    return is_good;
}

/* Has the list a signal that was not given yet, by this list (for another pattern) or by another?
 */
static bool
has_head(struct inbox_merge *w, struct merge_source *s)
{
    for (;;) {
        while (s->i < s->n && !is_before(w->order, &w->last, &s->head[s->i]))
            s->i++;
        if (s->i < s->n || s->is_read)
            return s->i < s->n;
        read_on(w, s);
    }
}

bool
inbox_merge_next(struct inbox_merge *w, struct inbox_merge_at *at)
{
    struct merge_source *best = NULL;

    for (struct merge_source *s = w->first; s; s = s->next) {
        if (has_head(w, s) && (!best || is_before(w->order, &s->head[s->i], &best->head[best->i])))
            best = s;
    }
    if (!best)
        return false;
    *at = w->last = best->head[best->i++];
    return true;
}
