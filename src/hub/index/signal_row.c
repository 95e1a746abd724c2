#include "hub/index/signal_row.h"

#include <string.h>

/* The first columns after those of `signals`; those of `states` are null until a signal's first
 * transition. */
enum { TASK = 8, STATE };

static void
read_state(struct row *r, struct arena *a, struct signal_row *x)
{
    struct item *it = &x->it;

    it->state = (enum delivery)row_int(r, STATE);
    it->work = (enum work)row_int(r, STATE + 1);
    it->count = row_int(r, STATE + 2);
    it->claimed_by = row_dup(r, STATE + 3, a);
    it->claim = row_dup(r, STATE + 4, a);
    it->claimed_at = row_int(r, STATE + 5);
    it->until = row_int(r, STATE + 6);
    it->boot_until = row_int(r, STATE + 7);
    it->boot = row_dup(r, STATE + 8, a);
    it->last = (enum hub_event_kind)row_int(r, STATE + 9);
    it->last_by = row_dup(r, STATE + 10, a);
    it->last_claim = row_dup(r, STATE + 11, a);
    x->lines = row_dup(r, STATE + 12, a);
}

bool
signal_row_read(struct row *r, struct arena *a, struct signal_row *x)
{
    *x = (struct signal_row){ 0 };
    x->it.seq = (uint64_t)row_int(r, 0);
    x->it.id = row_dup(r, 1, a);
    x->type = row_dup(r, 2, a);
    x->sender = row_dup(r, 3, a);
    x->addr = row_dup(r, 4, a);
    x->thread = row_dup(r, 5, a);
    x->urgency = row_double(r, 6);
    x->body = row_dup(r, 7, a);
    x->it.work = (enum work)row_int(r, TASK);
    if (!row_is_null(r, STATE))
        read_state(r, a, x);
    return x->it.id != NULL;
}

bool
signal_row_dup(struct signal_row *to, const struct signal_row *x, struct arena *a)
{
    *to = *x;

    const char **texts[] = { &to->it.id,      &to->it.claimed_by, &to->it.claim, &to->it.boot,
                             &to->it.last_by, &to->it.last_claim, &to->type,     &to->sender,
                             &to->addr,       &to->thread,        &to->body,     &to->lines };
    enum { N = sizeof texts / sizeof *texts };
    size_t sizes[N], all = 0;

    for (size_t i = 0; i < N; i++) {
        sizes[i] = *texts[i] ? strlen(*texts[i]) + 1 : 0;
        all += sizes[i];
    }
    char *p = arena_alloc(a, all);
    if (!p)
        return false;
    for (size_t i = 0; i < N; i++) {
        if (!*texts[i])
            continue;
        memcpy(p, *texts[i], sizes[i]);
        *texts[i] = p;
        p += sizes[i];
    }
    return true;
}

bool
signal_row_is_waiting(const struct signal_row *x)
{
    return x->addr && !item_is_settled(&x->it);
}

bool
signal_row_is_ready(const struct signal_row *x)
{
    return x->it.state == D_PENDING && x->it.work == W_OPEN;
}

const char *
signal_row_list(const struct signal_row *x)
{
    return x->addr ? x->addr : "";
}
