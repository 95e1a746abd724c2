#include "serve/auth.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/sys.h"
#include "serve/claim_waiters.h"
#include "serve/rounds.h"

#include <string.h>

/* Compares in constant time. */
static bool
is_same(const char *a, const char *b, size_t n)
{
    unsigned char differs = 0;

    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return !differs;
}

static bool
is_valid(const struct ticket *t, int64_t now_ms)
{
    return t->text[0] && t->until_ms > now_ms;
}

/* Looks at all of them, so that the time tells nothing about the text. */
static struct ticket *
find_ticket(struct serve *s, struct admission_text text, bool hands_key)
{
    int64_t now_ms = clock_mono_ms();
    struct ticket *found = NULL;

    for (size_t i = 0; text.len == TICKET_LEN && i < SERVE_TICKETS; i++) {
        struct ticket *t = &s->tickets[i];
        if (is_same(t->text, text.p, TICKET_LEN) && is_valid(t, now_ms) &&
            (t->hands[0] != '\0') == hands_key)
            found = t;
    }
    return found;
}

enum status
auth_make_ticket(struct serve *s, const struct caller *by, bool hands_key, struct ticket **out,
                 struct err *e)
{
    int64_t now_ms = clock_mono_ms();
    unsigned char bytes[TICKET_LEN / 2];
    struct ticket *t = NULL;
    size_t theirs = 0;

    *out = NULL;
    for (size_t i = 0; i < SERVE_TICKETS; i++) {
        if (!is_valid(&s->tickets[i], now_ms))
            t = &s->tickets[i];
        else if (strcmp(s->tickets[i].identity, by->identity) == 0)
            theirs++;
    }
    if (theirs >= TICKETS_EACH)
        return err_set(e, ST_CONFLICT,
                       "%s has %d tickets that were not used; each is void after %d s",
                       by->identity, TICKETS_EACH, TICKET_MS / 1000);
    if (!t || sys->getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(e, ST_IO, "no ticket can be made now");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(t->text + 2 * i, 3, "%02x", bytes[i]);
    t->hands[0] = '\0';
    if (hands_key)
        snprintf(t->hands, sizeof t->hands, "%.*s", (int)by->text.len, by->text.p);
    snprintf(t->identity, sizeof t->identity, "%s", by->identity);
    snprintf(t->key, sizeof t->key, "%s", by->key);
    t->is_admin = by->is_admin;
    t->reads_all = by->reads_all;
    t->who = by->who;
    t->key_until_ms = by->key_until_ms;
    t->until_ms = now_ms + TICKET_MS;
    *out = t;
    return ST_OK;
}

/* Identifies the key for the rate limit: never 0. */
static uint64_t
hash_key(struct admission_text key)
{
    uint64_t h = hash_bytes(key.p, key.len);

    return h ? h : 1;
}

static bool
is_over(int64_t until_ms)
{
    return until_ms && clock_wall_ns() / 1000000 >= until_ms;
}

/* ST_IO: there is no index. ST_TIMEOUT: the key has expired. */
static enum status
find_key(struct serve *s, struct admission_text key, struct arena *a, struct caller *by,
         unsigned *scopes)
{
    struct known_key *k;
    struct hub_key found;

    if (key.len == 0 || key.len >= SERVE_KEY_SIZE)
        return ST_NOT_FOUND;
    uint64_t who = hash_key(key);
    k = &s->keys[who % SERVE_KEYS];
    if (strlen(k->text) != key.len || !is_same(k->text, key.p, key.len)) {
        char *text = arena_dup(a, key.p, key.len);
        enum status st = text ? hub_find_key(s->reader, text, a, &found) : ST_IO;
        if (st || revoke_watch_has(&s->revoke_watch, found.id))
            return st ? st : ST_NOT_FOUND;
        snprintf(k->text, sizeof k->text, "%s", text);
        snprintf(k->id, sizeof k->id, "%s", found.id);
        snprintf(k->identity, sizeof k->identity, "%s", found.identity);
        k->scopes = found.scopes;
        k->key_until_ms = found.until_ms;
    }
    by->identity = k->identity;
    by->key = k->id;
    by->who = who;
    by->key_until_ms = k->key_until_ms;
    *scopes = k->scopes;
    return is_over(k->key_until_ms) ? ST_TIMEOUT : ST_OK;
}

void
auth_by_key(struct serve *s, const struct route *route, struct arena *a,
            struct admission_verdict *v, struct caller *by)
{
    unsigned scopes = 0;

    enum status st = find_key(s, v->key, a, by, &scopes);
    if (st == ST_IO) {
        s->wants_look = true; /* the worker makes the index */
        v->status = 503;
        v->code = "STORE_UNAVAILABLE";
        v->message = HUB_NO_INDEX;
        return;
    }
    if (st) {
        v->status = 401;
        v->code = "AUTH_REQUIRED";
        v->message = st == ST_TIMEOUT ? HUB_KEY_EXPIRED : SERVE_NO_KEY;
        return;
    }
    by->text = v->key;
    by->scopes = scopes;
    by->is_admin = scopes & SCOPE_ADMIN;
    by->reads_all = scopes & SCOPE_AUDIT;
    if (!admission_allows(scopes, route)) {
        v->status = 403;
        v->code = "AUTH_FORBIDDEN";
        v->message = "the key's scopes do not allow this";
    }
}

struct ticket *
auth_by_ticket(struct serve *s, struct admission_verdict *v, struct caller *by)
{
    struct ticket *t = find_ticket(s, v->ticket, false);

    if (!t) {
        v->status = 401;
        v->code = "AUTH_REQUIRED";
        v->message = "the ticket is not known, was used, or is older than a minute, or its key was "
                     "revoked";
        return NULL;
    }
    by->identity = t->identity;
    by->key = t->key;
    by->is_admin = t->is_admin;
    by->reads_all = t->reads_all;
    by->who = t->who;
    by->key_until_ms = t->key_until_ms;
    return t;
}

bool
auth_take_key(struct serve *s, const char *ticket, char key[SERVE_KEY_SIZE])
{
    auth_check_revoked(s);
    struct ticket *t = find_ticket(s, (struct admission_text){ ticket, strlen(ticket) }, true);

    if (!t)
        return false;
    memcpy(key, t->hands, SERVE_KEY_SIZE);
    *t = (struct ticket){ 0 };
    return true;
}

/* Forgets the key of that id, and its tickets. */
static void
forget_key(struct serve *s, const char *key)
{
    for (size_t i = 0; i < SERVE_KEYS; i++)
        if (strcmp(s->keys[i].id, key) == 0)
            s->keys[i] = (struct known_key){ 0 };
    for (size_t i = 0; i < SERVE_TICKETS; i++)
        if (strcmp(s->tickets[i].key, key) == 0)
            s->tickets[i] = (struct ticket){ 0 };
}

void
auth_forget_keys(struct serve *s)
{
    memset(s->keys, 0, SERVE_KEYS * sizeof *s->keys);
}

/* ---- revoked keys ---- */

/* A round that begins now folds the revocation; one that is under way may not: two commits. */
static void
on_revoked(void *ctx, const char *key)
{
    struct serve *s = ctx;

    if (!*key)
        return; /* not a line of ours: "" stands for requests without a key */
    rounds_revoke(s, key);
    forget_key(s, key);
    streams_revoke(s->streams, key);
    claim_waiters_revoke(s, key);
    s->revoked_until = s->commits + 2;
    s->wants_look = true;
}

void
auth_check_revoked(struct serve *s)
{
    revoke_watch_look(&s->revoke_watch, on_revoked, s);
}

void
auth_forget_revoked(struct serve *s)
{
    if (s->revoke_watch.first && s->commits >= s->revoked_until &&
        s->news.log_end >= s->revoke_watch.at)
        revoke_watch_forget(&s->revoke_watch);
}
