#define _GNU_SOURCE /* tdestroy */
#include "hub/delayed.h"

#include "base/utf8.h"
#include "hub/when.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct delayed_entry {
    struct delayed_item item; /* first: an item that was handed out is an entry */
    size_t place;             /* in the list */
    char bytes[];             /* that the item's texts point to */
};

typedef struct delayed_entry entry;

/* ---- orders ---- */

static int
by_time(const struct delayed_item *a, const struct delayed_item *b)
{
    if (a->deliver_at_ms != b->deliver_at_ms)
        return a->deliver_at_ms < b->deliver_at_ms ? -1 : 1;
    int order = text_compare(a->type, b->type);
    return order ? order : text_compare(a->id, b->id);
}

static int
by_id(const void *l, const void *r)
{
    const entry *a = l, *b = r;

    return text_compare(a->item.id, b->item.id);
}

static int
by_key(const void *l, const void *r)
{
    const entry *a = l, *b = r;
    int order = text_compare(a->item.repeat_key, b->item.repeat_key);

    return order ? order : text_compare(a->item.type, b->item.type);
}

/* The tree by_key can be searched with this too: all types of a key stand together in it. */
static int
by_key_alone(const void *l, const void *r)
{
    const entry *a = l, *b = r;

    return text_compare(a->item.repeat_key, b->item.repeat_key);
}

static entry *
find_id(const struct delayed *q, struct text id)
{
    entry probe = { .item = { .id = id } };
    entry **at = tfind(&probe, &q->by_id, by_id);

    return at ? *at : NULL;
}

/* ---- the list ---- a heap in list[0, n_timed), the others behind it */

static void
put(struct delayed *q, size_t place, entry *x)
{
    q->list[place] = x;
    x->place = place;
}

static void
swap(struct delayed *q, size_t a, size_t b)
{
    entry *x = q->list[a];

    put(q, a, q->list[b]);
    put(q, b, x);
}

static bool
is_before(const struct delayed *q, size_t a, size_t b)
{
    return by_time(&q->list[a]->item, &q->list[b]->item) < 0;
}

/* Brings the entry at this place of the heap to where it belongs. */
static void
sift(struct delayed *q, size_t at)
{
    while (at && is_before(q, at, (at - 1) / 2)) {
        swap(q, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t first = at, left = 2 * at + 1, right = left + 1;
        if (left < q->n_timed && is_before(q, left, first))
            first = left;
        if (right < q->n_timed && is_before(q, right, first))
            first = right;
        if (first == at)
            return;
        swap(q, at, first);
        at = first;
    }
}

/* From the heap to the first place behind it. */
static void
set_aside(struct delayed *q, size_t at)
{
    swap(q, at, --q->n_timed);
    if (at < q->n_timed)
        sift(q, at);
}

/* Out of the list. */
static void
take_out(struct delayed *q, const entry *x)
{
    if (x->place < q->n_timed)
        set_aside(q, x->place);
    swap(q, x->place, q->n - 1);
    q->n--;
}

static void
remove_entry(struct delayed *q, entry *x)
{
    take_out(q, x);
    tdelete(x, &q->by_id, by_id);
    if (x->item.repeat_key.len)
        tdelete(x, &q->by_key, by_key);
    free(x);
}

/* ---- adding ---- */

static enum status
check_text(struct text t, const char *what, bool is_required, struct err *e)
{
    if (is_required && !t.len)
        return err_set(e, ST_INVALID, "Delayed signal %s is required", what);
    if (t.len && utf8_valid_len(t.p, t.len) != t.len)
        return err_set(e, ST_INVALID, "Delayed signal %s is not UTF-8", what);
    return ST_OK;
}

static enum status
check_time(int64_t ms, const char *what, struct err *e)
{
    if (ms < 0)
        return err_set(e, ST_INVALID, "Delayed signal %s must be positive", what);
    if (ms > WHEN_MAX_MS)
        return err_set(e, ST_INVALID, "Delayed signal %s must be a finite unix timestamp", what);
    return ST_OK;
}

static unsigned
depth_of(const struct json *v)
{
    unsigned deepest = 0;

    json_each (kid, v) {
        unsigned depth = depth_of(kid);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY));
}

static enum status
check_data(struct text data, struct err *e)
{
    struct arena a = { 0 };
    struct json *v;
    enum status s = ST_OK;

    if (data.len)
        s = json_parse_named(&a, "Delayed signal data", data.p, data.len, &v, e);
    if (data.len && !s && depth_of(v) > DELAYED_DATA_DEPTH)
        s = err_set(e, ST_INVALID, "Delayed signal data is nested more than %d deep",
                    DELAYED_DATA_DEPTH);
    arena_release(&a);
    return s;
}

/* Trims and checks. */
static enum status
check_item(struct delayed_item *item, struct err *e)
{
    item->id = text_trim(item->id);
    item->type = text_trim(item->type);
    item->repeat_key = text_trim(item->repeat_key);
    enum status s = check_text(item->id, "id", true, e);
    if (!s)
        s = check_text(item->type, "type", true, e);
    if (!s)
        s = check_text(item->repeat_key, "repeatKey", false, e);
    if (!s)
        s = check_time(item->deliver_at_ms, "deliverAt", e);
    if (!s)
        s = check_time(item->created_at_ms, "createdAt", e);
    if (!s)
        s = check_time(item->updated_at_ms, "updatedAt", e);
    if (!s)
        s = source_check(&item->source, e);
    if (!s)
        s = check_data(item->data, e);
    return s;
}

static struct text
keep(char **to, struct text t)
{
    struct text kept = { *to, t.len };

    if (t.len)
        memcpy(*to, t.p, t.len);
    *to += t.len;
    return kept;
}

static entry *
make_entry(const struct delayed_item *from)
{
    entry *x = malloc(sizeof *x + from->id.len + from->type.len + from->repeat_key.len +
                      from->source.id.len + from->data.len);

    if (!x)
        return NULL;
    char *at = x->bytes;
    x->item = *from;
    x->item.id = keep(&at, from->id);
    x->item.type = keep(&at, from->type);
    x->item.repeat_key = keep(&at, from->repeat_key);
    x->item.source.id = keep(&at, from->source.id);
    x->item.data = keep(&at, from->data);
    return x;
}

static bool
make_room(struct delayed *q)
{
    if (q->n < q->cap)
        return true;
    size_t cap = q->cap ? 2 * q->cap : 16;
    entry **list = realloc(q->list, cap * sizeof(entry *));
    if (!list)
        return false;
    q->list = list;
    q->cap = cap;
    return true;
}

enum status
delayed_add(struct delayed *q, const struct delayed_item *from, struct err *e)
{
    struct delayed_item item = *from;
    enum status s = check_item(&item, e);

    if (s)
        return s;
    if (find_id(q, item.id))
        return err_set(e, ST_CONFLICT, "a delayed signal with the id %.*s is queued already",
                       (int)utf8_cut(item.id.p, item.id.len, 64), item.id.p);
    entry *x = make_entry(&item), *older = NULL;
    if (!x || !make_room(q) || !tsearch(x, &q->by_id, by_id))
        goto starved;
    if (item.repeat_key.len) {
        entry **at = tsearch(x, &q->by_key, by_key);
        if (!at) {
            tdelete(x, &q->by_id, by_id);
            goto starved;
        }
        if (*at != x) {
            older = *at;
            *at = x; /* takes its place in the tree, so nothing more can fail */
        }
    }
    if (older) {
        take_out(q, older);
        tdelete(older, &q->by_id, by_id);
        free(older);
    }
    put(q, q->n++, x); /* behind those set aside, so the first of them makes room in the heap */
    swap(q, q->n_timed, x->place);
    q->n_timed++;
    sift(q, x->place);
    return ST_OK;
starved:
    free(x);
    return err_set(e, ST_IO, "out of memory for a delayed signal");
}

/* ---- cancelling ---- */

bool
delayed_cancel(struct delayed *q, struct text id)
{
    entry *x = find_id(q, id);

    if (x)
        remove_entry(q, x);
    return x != NULL;
}

enum status
delayed_cancel_key(struct delayed *q, struct text type, struct text repeat_key, size_t *removed,
                   struct err *e)
{
    entry probe = { .item = { .type = text_trim(type), .repeat_key = text_trim(repeat_key) } };
    entry **at;

    *removed = 0;
    if (type.p && !probe.item.type.len)
        return err_set(e, ST_INVALID, "Delayed signal type is required");
    if (!probe.item.repeat_key.len)
        return err_set(e, ST_INVALID, "Delayed signal repeatKey is required");
    while ((at = tfind(&probe, &q->by_key, type.p ? by_key : by_key_alone))) {
        remove_entry(q, *at);
        ++*removed;
    }
    return ST_OK;
}

/* ---- time ---- */

const struct delayed_item *
delayed_find(const struct delayed *q, struct text id)
{
    const entry *x = find_id(q, id);

    return x ? &x->item : NULL;
}

const struct delayed_item *
delayed_next(const struct delayed *q)
{
    return q->n_timed ? &q->list[0]->item : NULL;
}

int64_t
delayed_wait_ms(const struct delayed *q, int64_t now_ms)
{
    const struct delayed_item *next = delayed_next(q);

    if (!next)
        return -1;
    if (next->deliver_at_ms <= now_ms)
        return 0;
    return next->deliver_at_ms - DELAYED_WAIT_MS >= now_ms ? DELAYED_WAIT_MS
                                                           : next->deliver_at_ms - now_ms;
}

const struct delayed_item *
delayed_take_due(struct delayed *q, int64_t now_ms)
{
    if (!q->n_timed || q->list[0]->item.deliver_at_ms > now_ms)
        return NULL;
    set_aside(q, 0);
    return &q->list[q->n_timed]->item;
}

void
delayed_settle(struct delayed *q, bool is_delivered)
{
    while (q->n_timed < q->n)
        if (is_delivered)
            remove_entry(q, q->list[q->n - 1]);
        else
            sift(q, q->n_timed++);
}

static int
by_time_at(const void *l, const void *r)
{
    return by_time(*(const struct delayed_item *const *)l, *(const struct delayed_item *const *)r);
}

const struct delayed_item **
delayed_sorted(const struct delayed *q, struct arena *a)
{
    const struct delayed_item **list = arena_alloc(a, (q->n + 1) * sizeof *list);

    if (!list)
        return NULL;
    for (size_t i = 0; i < q->n; i++)
        list[i] = &q->list[i]->item;
    if (q->n)
        qsort(list, q->n, sizeof *list, by_time_at);
    return list;
}

static void
leave(void *x)
{
    (void)x; /* the list frees it */
}

void
delayed_release(struct delayed *q)
{
    tdestroy(q->by_id, leave);
    tdestroy(q->by_key, leave);
    for (size_t i = 0; i < q->n; i++)
        free(q->list[i]);
    free(q->list);
    *q = (struct delayed){ 0 };
}
