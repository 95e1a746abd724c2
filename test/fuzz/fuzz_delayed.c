/*
 * fuzz_delayed - hub/delayed on any bytes. As a view: what is accepted is written, read and
 * written again to the same bytes, and comes out in order. As commands, one a byte pair: the
 * queue against a plain list that is searched from end to end. As a time: hub/when, and back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hub/delayed.h"
#include "hub/when.h"

#define MUST(fact)                                                                                 \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* ---- the view ---- */

static void
try_view(const char *text, size_t len)
{
    struct delayed q = { 0 }, again = { 0 };
    struct buf one = { 0 }, two = { 0 };
    struct err e = { "" };
    enum status s = delayed_read(&q, "view", text, len, &e);

    if (s) {
        MUST(s == ST_INVALID && !strncmp(e.text, "view:", 5) && !q.n);
    } else {
        MUST(!delayed_write(&q, &one, &e) && !buf_failed(&one));
        MUST(!delayed_read(&again, "view", one.p, one.len, &e) && again.n == q.n);
        MUST(!delayed_write(&again, &two, &e) && !buf_failed(&two));
        MUST(one.len == two.len && !memcmp(one.p, two.p, one.len));
        int64_t last = 0;
        size_t left = q.n;
        for (const struct delayed_item *x; (x = delayed_take_due(&q, WHEN_MAX_MS)); left--) {
            MUST(x->deliver_at_ms >= last);
            last = x->deliver_at_ms;
        }
        MUST(!left);
        delayed_settle(&q, true);
        MUST(!q.n && !q.by_id && !q.by_key);
    }
    buf_release(&one);
    buf_release(&two);
    delayed_release(&q);
    delayed_release(&again);
}

/* ---- commands ---- */

enum { MAX = 128 };

static struct plain {
    char id[8], type[4], key[4];
    int64_t at;
    bool is_in, is_aside;
} list[MAX];

static bool
is_first(const struct plain *a, const struct plain *b)
{
    int order = strcmp(a->type, b->type);

    if (a->at != b->at)
        return a->at < b->at;
    return order ? order < 0 : strcmp(a->id, b->id) < 0;
}

static struct plain *
first(void)
{
    struct plain *best = NULL;

    for (int i = 0; i < MAX; i++)
        if (list[i].is_in && !list[i].is_aside && (!best || is_first(&list[i], best)))
            best = &list[i];
    return best;
}

static void
do_add(struct delayed *q, struct plain *x, uint8_t arg)
{
    *x = (struct plain){ .at = arg & 15, .is_in = true };
    snprintf(x->id, sizeof x->id, "%03d", (int)(x - list));
    snprintf(x->type, sizeof x->type, "t%d", arg >> 4 & 3);
    if (arg >> 6)
        snprintf(x->key, sizeof x->key, "k%d", arg >> 6);
    for (int i = 0; i < MAX; i++)
        if (x->key[0] && &list[i] != x && !strcmp(list[i].type, x->type) &&
            !strcmp(list[i].key, x->key))
            list[i].is_in = false;
    struct delayed_item item = { .id = text_of(x->id),
                                 .type = text_of(x->type),
                                 .repeat_key = text_of(x->key),
                                 .deliver_at_ms = x->at };
    MUST(!delayed_add(q, &item, NULL));
    MUST(delayed_add(q, &item, NULL) == ST_CONFLICT);
}

static void
do_cancel_key(struct delayed *q, uint8_t arg)
{
    char type[4], key[4];
    size_t want = 0, removed;
    bool is_any = arg & 4;

    snprintf(type, sizeof type, "t%d", arg & 3);
    snprintf(key, sizeof key, "k%d", arg >> 6);
    for (int i = 0; i < MAX; i++)
        if (list[i].is_in && !strcmp(list[i].key, key) && (is_any || !strcmp(list[i].type, type))) {
            list[i].is_in = false;
            want++;
        }
    MUST(!delayed_cancel_key(q, text_of(is_any ? NULL : type), text_of(key), &removed, NULL));
    MUST(removed == want);
}

static void
do_take(struct delayed *q, int64_t now)
{
    struct plain *want = first();
    const struct delayed_item *is = delayed_take_due(q, now);

    if (want && want->at <= now) {
        MUST(is && text_same(is->id, text_of(want->id)));
        want->is_aside = true;
    } else {
        MUST(!is);
    }
}

static void
do_settle(struct delayed *q, bool is_delivered)
{
    for (int i = 0; i < MAX; i++) {
        list[i].is_in = list[i].is_in && !(list[i].is_aside && is_delivered);
        list[i].is_aside = false;
    }
    delayed_settle(q, is_delivered);
}

static void
try_commands(const uint8_t *data, size_t len)
{
    struct delayed q = { 0 };
    int next = 0;

    memset(list, 0, sizeof list);
    for (; len >= 2 && next < MAX; data += 2, len -= 2) {
        uint8_t arg = data[1];
        switch (data[0] % 8) {
        case 0:
        case 1:
        case 2:
            do_add(&q, &list[next], arg);
            next++;
            break;
        case 3:
            MUST(delayed_cancel(&q, text_of(list[arg % MAX].id)) == list[arg % MAX].is_in);
            list[arg % MAX].is_in = false;
            break;
        case 4:
            do_cancel_key(&q, arg);
            break;
        case 5:
        case 6:
            do_take(&q, arg & 15);
            break;
        case 7:
            do_settle(&q, arg & 1);
        }
        size_t n = 0;
        for (int i = 0; i < MAX; i++)
            n += list[i].is_in;
        MUST(q.n == n);
        const struct plain *want = first();
        const struct delayed_item *is = delayed_next(&q);
        MUST(want ? is && text_same(is->id, text_of(want->id)) : !is);
    }
    delayed_release(&q);
}

/* ---- times ---- */

static void
try_time(const char *text)
{
    char iso[CLOCK_ISO_SIZE];
    int64_t ms, again;
    struct err e = { "" };

    if (when_parse(text, INT64_C(1775215174499), &ms, &e)) {
        MUST(e.text[0] == '"');
        return;
    }
    MUST(ms >= 0 && ms <= WHEN_MAX_MS);
    MUST(!when_parse(clock_iso_ms(iso, ms), 0, &again, NULL) && again == ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1); /* so that ASan sees a step too far */

    MUST(text);
    if (len)
        memcpy(text, data, len);
    text[len] = '\0';
    if (len < 64)
        try_time(text);
    char *exact = realloc(text, len ? len : 1);
    MUST(exact);
    try_view(exact, len);
    try_commands(data, len);
    free(exact);
    return 0;
}
