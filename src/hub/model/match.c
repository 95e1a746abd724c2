/*
 * match - the rule, and the trie that applies it to many patterns at once.
 *
 * A node stands for the segments on the way to it. Its child '*' hangs on it; its
 * named children are in one hash table for the whole trie, keyed by the parent's
 * number and the segment, so a node without children costs no table. The roots,
 * one for each number of segments, are where the counts are compared.
 */
#include "hub/model/match.h"

#include "base/sys.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rule ---- */

/* Takes the first segment off. False after the last one. */
static bool
next_segment(struct text *rest, struct text *segment)
{
    if (!rest->p)
        return false;
    const char *colon = rest->len ? memchr(rest->p, ':', rest->len) : NULL;
    *segment = *rest;
    if (!colon) {
        *rest = (struct text){ 0 };
        return true;
    }
    segment->len = (size_t)(colon - rest->p);
    rest->p += segment->len + 1;
    rest->len -= segment->len + 1;
    return true;
}

static bool
is_star(struct text segment)
{
    return segment.len == 1 && segment.p[0] == '*';
}

bool
match_is_type(const char *type, size_t len)
{
    return !memchr(type, '*', len);
}

bool
match_is_pattern(const char *pattern, size_t len)
{
    struct text rest = text_trim((struct text){ pattern, len }), segment;

    while (next_segment(&rest, &segment))
        if (!is_star(segment) && segment.len && !match_is_type(segment.p, segment.len))
            return false;
    return true;
}

bool
match_pattern(const char *pattern, size_t pattern_len, const char *type, size_t type_len)
{
    struct text p = text_trim((struct text){ pattern, pattern_len });
    struct text t = text_trim((struct text){ type, type_len });
    struct text want, is;

    if (!p.len || !t.len)
        return false;
    while (next_segment(&p, &want))
        if (!next_segment(&t, &is) || (!is_star(want) && !text_same(want, is)))
            return false;
    return !t.p;
}

/* ---- the trie ---- */

struct match_node {
    struct match_node *parent; /* NULL: a root */
    struct match_node *next;   /* in its bucket */
    struct match_node *wild;   /* the child '*' */
    uint64_t hash;             /* of the parent's number and the segment */
    uint64_t number;           /* no two nodes ever have the same */
    uint64_t *ids;             /* ascending; of patterns that end here */
    size_t n_ids, cap_ids;
    size_t n_named; /* children in the table */
    uint32_t depth; /* segments on the way here */
    uint32_t len;
    char segment[];
};

struct match_step {
    struct text segment;
    uint64_t hash;
    bool has_hash;
};

struct matcher {
    uint64_t key[2];
    struct match_node **buckets;
    size_t n_buckets; /* 0 or a power of two */
    size_t n_named, n_nodes, n_bytes;
    uint64_t last_number;
    size_t count;
    uint64_t *found; /* room for every subscription, so that matching needs no memory */
    size_t cap_found, n_found;
    size_t visited;
    bool is_visiting;
    struct match_node *roots[MATCH_SEGMENTS_MAX + 1]; /* by number of segments */
    struct match_step steps[MATCH_SEGMENTS_MAX];      /* of the text at hand */
    struct match_node *stack[MATCH_SEGMENTS_MAX + 2]; /* each level leaves one behind at most */
};

static inline uint64_t
rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline void
sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

/* SipHash-1-3. */
static uint64_t
hash_text(const uint64_t key[2], struct text t)
{
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                      key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
    uint64_t word, last = (uint64_t)t.len << 56;

    for (; t.len >= 8; t.p += 8, t.len -= 8) {
        memcpy(&word, t.p, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < t.len; i++)
        last |= (uint64_t)(unsigned char)t.p[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Splits into m->steps; the number of segments, or 0 when there are too many. */
static size_t
split(struct matcher *m, struct text t)
{
    struct text segment;
    size_t n = 0;

    while (next_segment(&t, &segment)) {
        if (n == MATCH_SEGMENTS_MAX)
            return 0;
        m->steps[n++] = (struct match_step){ .segment = segment };
    }
    return n;
}

static uint64_t
hash_below(const struct matcher *m, const struct match_node *parent, struct match_step *step)
{
    if (!step->has_hash) {
        step->hash = hash_text(m->key, step->segment);
        step->has_hash = true;
    }
    uint64_t h = (step->hash ^ parent->number * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    return h ^ h >> 32;
}

static struct match_node *
find_named(const struct matcher *m, const struct match_node *parent, struct match_step *step)
{
    if (!parent->n_named)
        return NULL;
    uint64_t hash = hash_below(m, parent, step);
    struct match_node *n = m->buckets[hash & (m->n_buckets - 1)];
    while (n && (n->hash != hash || n->parent != parent ||
                 !text_same((struct text){ n->segment, n->len }, step->segment)))
        n = n->next;
    return n;
}

/* Doubles the buckets. Without memory the chains grow longer: slower, but correct. */
static void
widen(struct matcher *m)
{
    size_t n = m->n_buckets ? 2 * m->n_buckets : 64;
    struct match_node **buckets = calloc(n, sizeof *buckets);

    if (!buckets)
        return;
    for (size_t i = 0; i < m->n_buckets; i++)
        for (struct match_node *at = m->buckets[i], *next; at; at = next) {
            next = at->next;
            at->next = buckets[at->hash & (n - 1)];
            buckets[at->hash & (n - 1)] = at;
        }
    free(m->buckets);
    m->buckets = buckets;
    m->n_buckets = n;
}

static struct match_node *
make_node(struct matcher *m, struct match_node *parent, struct text segment)
{
    struct match_node *n = calloc(1, sizeof *n + segment.len);

    if (!n)
        return NULL;
    n->parent = parent;
    n->number = ++m->last_number;
    n->depth = parent ? parent->depth + 1 : 0;
    n->len = (uint32_t)segment.len;
    if (segment.len)
        memcpy(n->segment, segment.p, segment.len);
    m->n_nodes++;
    m->n_bytes += sizeof *n + segment.len;
    return n;
}

/* The child for one segment of a pattern; made when it is missing and is_new. */
static struct match_node *
child(struct matcher *m, struct match_node *parent, struct match_step *step, bool is_new)
{
    if (is_star(step->segment)) {
        if (!parent->wild && is_new)
            parent->wild = make_node(m, parent, step->segment);
        return parent->wild;
    }
    struct match_node *n = find_named(m, parent, step);
    if (n || !is_new)
        return n;
    if (m->n_named >= m->n_buckets)
        widen(m);
    if (!m->n_buckets || !(n = make_node(m, parent, step->segment)))
        return NULL;
    n->hash = hash_below(m, parent, step);
    struct match_node **bucket = &m->buckets[n->hash & (m->n_buckets - 1)];
    n->next = *bucket;
    *bucket = n;
    m->n_named++;
    parent->n_named++;
    return n;
}

static void
unlink_node(struct matcher *m, struct match_node *n)
{
    struct match_node *parent = n->parent;

    if (!parent) {
        for (size_t i = 0; i <= MATCH_SEGMENTS_MAX; i++)
            if (m->roots[i] == n)
                m->roots[i] = NULL;
    } else if (parent->wild == n) {
        parent->wild = NULL;
    } else {
        struct match_node **link = &m->buckets[n->hash & (m->n_buckets - 1)];
        while (*link != n)
            link = &(*link)->next;
        *link = n->next;
        m->n_named--;
        parent->n_named--;
    }
}

/* Frees the nodes from here up that lead to no pattern. */
static void
prune(struct matcher *m, struct match_node *n)
{
    while (n && !n->n_ids && !n->wild && !n->n_named) {
        struct match_node *parent = n->parent;
        unlink_node(m, n);
        m->n_nodes--;
        m->n_bytes -= sizeof *n + n->len;
        free(n->ids);
        free(n);
        n = parent;
    }
}

/* Where id stands among the ids of a node, or would. */
static size_t
place_of(const struct match_node *n, uint64_t id)
{
    size_t low = 0, high = n->n_ids;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (n->ids[mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool
grow(uint64_t **list, size_t *cap, size_t want)
{
    if (want <= *cap)
        return true;
    size_t n = want < 8 ? (want < 2 ? 1 : 8) : want + want / 2; /* most patterns have one id */
    uint64_t *more = realloc(*list, n * sizeof *more);
    if (!more)
        return false;
    *list = more;
    *cap = n;
    return true;
}

enum status
matcher_new(struct matcher **out, struct err *e)
{
    struct matcher *m = calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return err_set(e, ST_IO, "out of memory for subscriptions");
    if (SYS_RETRY(sys->getrandom(m->key, sizeof m->key, 0)) != (ssize_t)sizeof m->key) {
        free(m);
        return err_sys(e, "get random bytes");
    }
    *out = m;
    return ST_OK;
}

void
matcher_free(struct matcher *m)
{
    if (!m)
        return;
    /* Children '*' are in no table: each node frees the chain of them that hangs on it. */
    for (size_t i = 0; i <= m->n_buckets + MATCH_SEGMENTS_MAX; i++) {
        struct match_node *n = i < m->n_buckets ? m->buckets[i] : m->roots[i - m->n_buckets];
        for (struct match_node *next; n; n = next) {
            next = n->next;
            for (struct match_node *wild; n; n = wild) {
                wild = n->wild;
                free(n->ids);
                free(n);
            }
        }
    }
    free(m->buckets);
    free(m->found);
    free(m);
}

enum status
matcher_add(struct matcher *m, const char *pattern, size_t len, uint64_t id, struct err *e)
{
    struct text t = text_trim((struct text){ pattern, len });

    assert(!m->is_visiting);
    if (!t.len)
        return err_set(e, ST_INVALID, "Signal subscription pattern is required");
    if (t.len > MATCH_PATTERN_MAX)
        return err_set(e, ST_INVALID, "the pattern is longer than %d bytes", MATCH_PATTERN_MAX);
    size_t n = split(m, t);
    if (!n)
        return err_set(e, ST_INVALID, "the pattern has more than %d segments", MATCH_SEGMENTS_MAX);
    /* Counts the bytes that this pattern may add first, so that the limit holds afterwards. */
    if (m->n_bytes + (n + 1) * sizeof(struct match_node) + t.len > MATCH_BYTES_MAX)
        return err_set(e, ST_INVALID, "all patterns together take more than %zu bytes",
                       MATCH_BYTES_MAX);

    if (!m->roots[n])
        m->roots[n] = make_node(m, NULL, (struct text){ 0 });
    struct match_node *at = m->roots[n], *below = at;
    for (size_t i = 0; i < n && below; i++)
        if ((below = child(m, at, &m->steps[i], true)))
            at = below;
    if (!below || !grow(&at->ids, &at->cap_ids, at->n_ids + 1) ||
        !grow(&m->found, &m->cap_found, m->count + 1)) {
        prune(m, at);
        return err_set(e, ST_IO, "out of memory for subscriptions");
    }
    size_t place = place_of(at, id);
    if (place < at->n_ids && at->ids[place] == id)
        return ST_OK;
    memmove(at->ids + place + 1, at->ids + place, (at->n_ids - place) * sizeof *at->ids);
    at->ids[place] = id;
    at->n_ids++;
    m->count++;
    return ST_OK;
}

bool
matcher_remove(struct matcher *m, const char *pattern, size_t len, uint64_t id)
{
    struct text t = text_trim((struct text){ pattern, len });
    size_t n = t.len ? split(m, t) : 0;
    struct match_node *at = n ? m->roots[n] : NULL;

    assert(!m->is_visiting);
    for (size_t i = 0; i < n && at; i++)
        at = child(m, at, &m->steps[i], false);
    size_t place = at ? place_of(at, id) : 0;
    if (!at || place == at->n_ids || at->ids[place] != id)
        return false;
    at->n_ids--;
    memmove(at->ids + place, at->ids + place + 1, (at->n_ids - place) * sizeof *at->ids);
    m->count--;
    prune(m, at);
    return true;
}

static int
by_id(const void *l, const void *r)
{
    uint64_t a = *(const uint64_t *)l, b = *(const uint64_t *)r;

    return a < b ? -1 : a > b;
}

/* Puts the ids of every pattern that matches the n steps into m->found. */
static void
walk(struct matcher *m, size_t n)
{
    size_t high = 0;

    m->stack[high++] = m->roots[n];
    while (high) {
        struct match_node *at = m->stack[--high], *named;
        m->visited++;
        if (at->depth == n) {
            assert(m->n_found + at->n_ids <= m->cap_found);
            memcpy(m->found + m->n_found, at->ids, at->n_ids * sizeof *at->ids);
            m->n_found += at->n_ids;
            continue;
        }
        if (at->wild)
            m->stack[high++] = at->wild;
        if ((named = find_named(m, at, &m->steps[at->depth])))
            m->stack[high++] = named;
    }
}

size_t
matcher_match(struct matcher *m, const char *type, size_t len, matcher_visit *visit, void *context)
{
    struct text t = text_trim((struct text){ type, len });
    size_t n = t.len ? split(m, t) : 0;
    bool is_sorted = true;

    assert(!m->is_visiting);
    m->visited = m->n_found = 0;
    if (n && m->roots[n])
        walk(m, n);
    for (size_t i = 1; i < m->n_found && is_sorted; i++)
        is_sorted = m->found[i - 1] <= m->found[i];
    if (!is_sorted)
        qsort(m->found, m->n_found, sizeof *m->found, by_id);
    m->is_visiting = true;
    for (size_t i = 0; i < m->n_found; i++)
        visit(context, m->found[i]);
    m->is_visiting = false;
    return m->n_found;
}

size_t
matcher_count(const struct matcher *m)
{
    return m->count;
}

size_t
matcher_nodes(const struct matcher *m)
{
    return m->n_nodes;
}

size_t
matcher_steps(const struct matcher *m)
{
    return m->visited;
}
