/*
 * short_id - an id as people write it: whole, or an unambiguous beginning or end of it.
 *
 * Ids begin with the time, so the ends tell them apart; tables on a terminal show those.
 */
#include "hub/hub_impl.h"

#include <string.h>

enum {
    SHORTEST = 6,
    NEWEST = 50000, /* lines of the log in which an end is searched; a beginning has an index */
    SHOWN = 3,
};

struct found {
    const char *ids[SHOWN];
    size_t n;
};

/* Adds the ids of the rows; false: no memory. */
static bool
add_ids(struct op *t, struct row *r, struct found *f)
{
    while (f->n < SHOWN && index_next(t->h->ix, r)) {
        const char *id = row_dup(r, 0, t->a);
        bool is_new = true;
        for (size_t i = 0; id && i < f->n; i++)
            is_new = is_new && strcmp(f->ids[i], id) != 0;
        if (!id)
            return false;
        if (is_new)
            f->ids[f->n++] = id;
    }
    return true;
}

static bool
refuse_ambiguous(struct op *t, const char *what, const char *id, const char *of, const char *prefix,
                 const struct found *f)
{
    struct buf list = { 0 };

    for (size_t i = 0; i < f->n; i++)
        buf_addf(&list, "%s%s%s", i ? ", " : "", prefix, f->ids[i]);
    bool is_good =
        !buf_failed(&list) && refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE",
                                     "%s: \"%s\" is the beginning or the end of several %s: %s%s",
                                     what, id, of, list.p, f->n == SHOWN ? ", …" : "");
    buf_release(&list);
    return is_good;
}

bool
op_full_id(struct op *t, const char *what, const char **id)
{
    struct index *ix = t->h->ix;
    const char *who = t->req->identity;
    int64_t all = op_reads_all(t);
    struct found f = { 0 };
    size_t n = *id ? strlen(*id) : 0;

    if (n < SHORTEST || n >= EVENT_ID_LEN)
        return true;
    struct row *r = index_run(ix, "SELECT 1 FROM signals WHERE id = ?", "s", *id);
    if (index_next(ix, r))
        return true; /* a foreign writer's short id */
    r = index_run(ix,
                  "SELECT s.id FROM signals s WHERE s.id >= ?1 AND s.id < ?1 || '{' AND"
                  " (?2 OR " SIGNAL_ROW_MAY_READ("?3") ") LIMIT 3",
                  "sis", *id, all, who);
    bool is_good = add_ids(t, r, &f);
    if (is_good && f.n < SHOWN) {
        r = index_run(ix,
                      "SELECT s.id FROM signals s WHERE s.seq > (SELECT max(seq) FROM signals) - ?4"
                      " AND substr(s.id, -length(?1)) = ?1 AND"
                      " (?2 OR " SIGNAL_ROW_MAY_READ("?3") ") LIMIT 3",
                      "sisi", *id, all, who, (int64_t)NEWEST);
        is_good = add_ids(t, r, &f);
    }
    if (!is_good)
        return refuse_starved(&t->refusal);
    if (f.n > 1)
        return refuse_ambiguous(t, what, *id, "signals", "signal:", &f);
    if (f.n == 1)
        *id = f.ids[0];
    return true;
}

bool
op_full_id_of(struct op *t, const char *what, enum short_id_of of, const char **id)
{
    static const struct {
        const char *plural, *sql;
    } tables[] = {
#define FIND(table)                                                                                \
    "SELECT id FROM " table " WHERE id = ?1 OR substr(id, 1, length(?1)) = ?1"                     \
    " OR substr(id, -length(?1)) = ?1 ORDER BY id <> ?1, id LIMIT 3"
        [SHORT_ID_KEY] = { "keys", FIND("keys") },
        [SHORT_ID_DELAYED] = { "delayed signals", FIND("delayed") },
#undef FIND
    };
    struct found f = { 0 };

    if (!*id || strlen(*id) < SHORTEST)
        return true;
    if (!add_ids(t, index_run(t->h->ix, tables[of].sql, "s", *id), &f))
        return refuse_starved(&t->refusal);
    if (f.n > 1 && strcmp(f.ids[0], *id) != 0)
        return refuse_ambiguous(t, what, *id, tables[of].plural, "", &f);
    if (f.n)
        *id = f.ids[0];
    return true;
}
