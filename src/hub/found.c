#include "hub/found.h"

#include <string.h>

bool
found_read(struct index *ix, struct row *r, struct arena *a, struct found *x)
{
    *x = (struct found){ 0 };
    if (!index_next(ix, r))
        return false;
    x->type = row_dup(r, 2, a);
    x->sender = row_dup(r, 3, a);
    x->addr = row_dup(r, 4, a);
    x->thread = row_dup(r, 5, a);
    x->urgency = row_double(r, 6);
    x->body = row_dup(r, 7, a);
    x->lines = row_dup(r, 20, a);
    x->it = (struct item){ .seq = (uint64_t)row_int(r, 0),
                           .id = row_dup(r, 1, a),
                           .state = (enum delivery)row_int(r, 8),
                           .work = (enum work)row_int(r, 9),
                           .count = row_int(r, 10),
                           .claimed_by = row_dup(r, 11, a),
                           .claim = row_dup(r, 12, a),
                           .claimed_at = row_int(r, 13),
                           .until = row_int(r, 14),
                           .boot_until = row_int(r, 15),
                           .boot = row_dup(r, 16, a),
                           .last = (enum event_kind)row_int(r, 17),
                           .last_by = row_dup(r, 18, a),
                           .last_claim = row_dup(r, 19, a) };
    return x->it.id != NULL;
}

bool
found_dup(struct found *to, const struct found *x, struct arena *a)
{
    *to = *x;

    const char **texts[] = { &to->it.id,      &to->it.claimed_by, &to->it.claim, &to->it.boot,
                             &to->it.last_by, &to->it.last_claim, &to->type,     &to->sender,
                             &to->addr,       &to->thread,        &to->body,     &to->head,
                             &to->tail,       &to->lines };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *s = *texts[i];
        if (s && !(*texts[i] = arena_dup(a, s, strlen(s))))
            return false;
    }
    return true;
}

bool
found_is_waiting(const struct found *x)
{
    return x->addr && x->it.state != D_ACKED;
}

bool
found_is_ready(const struct found *x)
{
    return x->it.state == D_PENDING && x->it.work == W_OPEN;
}

const char *
found_list(const struct found *x)
{
    return x->addr ? x->addr : "";
}
