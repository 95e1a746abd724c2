/*
 * live_keys - is the key that a request came with still in force?
 *
 * The server finds the caller when a request arrives and decides the request later, in a round. The
 * key may be revoked in between: by a command, by a request before it in the same round, or while
 * the request waits (a claim, a slow disk). So the hub asks again when it decides, under the lock,
 * with the whole log folded: no line of a key stands behind the key's `revoke` line.
 *
 * Ids that were found are kept until any key changes (fold.keys), unless the key expires.
 *
 * Tests: test/unit/test_hub_keys.c test/scenario/serve_keys.bats
 */
#include "hub/hub_impl.h"

#include "base/hash.h"

#include <string.h>

/* *until: when it expires, 0: never. */
static enum key_life
find(struct hub *h, const char *id, int64_t *until)
{
    struct row *r = index_peek(h->ix, "SELECT until FROM keys WHERE id = ?", "s", id);
    bool is_there = index_next(h->ix, r);

    *until = is_there ? row_int(r, 0) : 0;
    if (is_there)
        index_next(h->ix, r); /* to its end, so that the statement lets go of the file */
    if (*until && *until <= h->now.wall_ms)
        return KEY_EXPIRED;
    return is_there || index_status(h->ix, NULL) ? KEY_LIVES : KEY_GONE; /* a failure is no 401 */
}

enum key_life
hub_key_life(struct hub *h, const struct hub_request *r)
{
    struct hub_live_keys *k = &h->live_keys;
    int64_t until;

    if (!r->key || !*r->key)
        return KEY_LIVES;
    if (!hub_ops[r->op].writes) /* perhaps without the lock: others may have changed the index */
        return find(h, r->key, &until);
    if (k->is_of != h->fold.keys + 1)
        *k = (struct hub_live_keys){ .is_of = h->fold.keys + 1 };
    char *kept = k->ids[hash_bytes(r->key, strlen(r->key)) % HUB_LIVE_KEYS];
    if (strcmp(kept, r->key) == 0)
        return KEY_LIVES;
    enum key_life life = find(h, r->key, &until);
    if (life == KEY_LIVES && !until && strlen(r->key) < HUB_KEY_ID_SIZE &&
        !index_status(h->ix, NULL))
        strcpy(kept, r->key);
    return life;
}
