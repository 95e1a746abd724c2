/*
 * round - the lines of a round: written into one text, applied at once, put when all are there.
 */
#include "hub/hub_impl.h"

#include <assert.h>
#include <stdlib.h>

enum { SEAL_ROOM = 100 };

bool
hub_add_line(struct hub *h, const struct hub_event *ev, struct refusal *r)
{
    size_t at = h->text.len;

    if (h->n_lines == h->cap_lines) {
        size_t cap = h->cap_lines ? 2 * h->cap_lines : 64;
        struct hub_line *p = realloc(h->lines, cap * sizeof *p);
        if (!p)
            return refuse(r, 503, "STORE_UNAVAILABLE", "out of memory");
        h->lines = p;
        h->cap_lines = cap;
    }
    hub_event_write(&h->text, ev);
    size_t len = h->text.len - at;
    if (buf_failed(&h->text))
        return refuse(r, 503, "STORE_UNAVAILABLE", "out of memory");
    if (len + SEAL_ROOM > LOG_LINE_MAX) {
        buf_cut(&h->text, at);
        return refuse(r, 413, "BODY_TOO_LARGE",
                      "the request makes a line of %zu bytes; the limit is %zu", len,
                      LOG_LINE_MAX - SEAL_ROOM);
    }
    h->lines[h->n_lines++] = (struct hub_line){ at, len, h->unit };
    h->fold.is_ours = true;
    bool is_valid = fold_apply(&h->fold, ev, h->text.p + at, h->next_seq++);
    h->fold.is_ours = false;
    h->fold.known = NULL;
    /* What was decided is valid, or the index failed: then the round is given up. */
    assert(is_valid || index_status(h->ix, NULL) || ev->kind >= EV_RECEIPT);
    return true;
}

bool
op_event(struct op *t, const struct hub_event *ev)
{
    if (!hub_add_line(t->h, ev, &t->refusal))
        return false;
    t->reply->seq = t->h->next_seq - 1;
    return true;
}
