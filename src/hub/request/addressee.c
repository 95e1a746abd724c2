/*
 * addressee - is there the role, ring or identity that a signal is for? One that does not exist is
 * probably misspelt. The signal is emitted all the same: it waits until there is one.
 */
#include "hub/hub_impl.h"

#include "base/hash.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

/* A kind of addressee: how one is known, how all are listed, what makes one. */
struct addressee {
    const char *key, *what, *known, *all, *make;
};

static const struct addressee role = {
    "to_role", "role",
    "SELECT 1 FROM roles WHERE id = ?1 UNION ALL SELECT 1 FROM fills WHERE role = ?1",
    "SELECT id FROM roles UNION SELECT role FROM fills", "cliq role add"
};
static const struct addressee ring = { "to_ring", "ring", "SELECT 1 FROM rings WHERE id = ?1",
                                       "SELECT id FROM rings", "cliq ring add" };
static const struct addressee identity = { "to_identity", "identity",
                                           "SELECT 1 FROM identities WHERE id = ?1",
                                           "SELECT id FROM identities", "cliq identity add" };

static bool
is_known(struct op *t, const struct addressee *k, const char *name)
{
    struct row *r = index_peek(t->h->ix, k->known, "s", name);
    bool is_there = index_next(t->h->ix, r);

    while (is_there && index_next(t->h->ix, r)) /* to its end: the statement lets go of the file */
        ;
    return is_there;
}

/* The same for writers, who hold the lock. A query waits while the row thread writes, so names that
 * were found are kept: until a key changes, which a new index does, too. */
static bool
is_known_again(struct op *t, const struct addressee *k, const char *name)
{
    struct hub_known_names *c = &t->h->known_names;
    char key[PATH_NAME_MAX + 2];

    if (c->is_of != t->h->fold.keys + 1)
        *c = (struct hub_known_names){ .is_of = t->h->fold.keys + 1 };
    int n = snprintf(key, sizeof key, "%c%s", k->what[1], name); /* rOle, rIng, iDentity */
    if (n < 0 || (size_t)n >= sizeof key)
        return is_known(t, k, name);
    char *kept = c->names[hash_bytes(key, (size_t)n) % HUB_KNOWN_NAMES];
    if (strcmp(kept, key) == 0)
        return true;
    bool is_there = is_known(t, k, name);
    if (is_there)
        strcpy(kept, key);
    return is_there;
}

/* " (did you mean reviewer?)", or nothing. */
static void
add_nearest(struct op *t, const struct addressee *k, const char *name, char hint[160])
{
    struct suggest near = { .word = name };
    struct row *r = index_run(t->h->ix, k->all, "");

    while (index_next(t->h->ix, r)) {
        const char *id = row_dup(r, 0, t->a);
        if (id)
            suggest_try(&near, id);
    }
    hint[0] = '\0';
    if (near.best)
        snprintf(hint, 160, " (did you mean %.100s?)", near.best);
}

bool
op_check_addressee(struct op *t, const struct hub_event *ev)
{
    const struct addressee *k = ev->to_role ? &role : ev->to_ring ? &ring : &identity;
    const char *name = ev->to_role ? ev->to_role : ev->to_ring ? ev->to_ring : ev->to_identity;
    enum hub_event_flag strict = FLAG_UNSET;
    char hint[160];

    if (!arg_flag(&t->in, "strict", &strict))
        return false;
    if (!name || strcmp(name, t->req->identity) == 0 || is_known_again(t, k, name))
        return true;
    add_nearest(t, k, name, hint);
    if (strict == FLAG_YES)
        return refuse(&t->refusal, 400, "SIGNAL_EMIT_VALIDATION_FAILED",
                      "%s%s: there is no %s \"%s\"%s", t->in.prefix, k->key, k->what, name, hint);
    op_warn(t, "%s%s: there is no %s \"%s\" yet%s; the signal waits for it (%s %s)", t->in.prefix,
            k->key, k->what, name, hint, k->make, name);
    return true;
}

void
op_warn_unknown(struct op *t, bool is_ring, const char *key, const char *name)
{
    const struct addressee *k = is_ring ? &ring : &role;
    char hint[160];

    if (is_known(t, k, name))
        return;
    add_nearest(t, k, name, hint);
    op_warn(t, "%s: there is no %s \"%s\"%s", key, k->what, name, hint);
}
