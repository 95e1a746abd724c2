#include "hub/index/dirty_signals.h"

#include <stdlib.h>
#include <string.h>

/* SIGNALS_MAX: as many as some milliseconds bring. LEASED_MAX: so many claimed signals stay after a
 * write. SLOTS: a power of two that is never half full. */
enum { SIGNALS_MAX = 500, LEASED_MAX = 128, SLOTS = 1024, TEXT_MAX = 1 << 20 };

/* Lines and bytes of a packed history; digits of a number. */
enum { LINES_MAX = 8, LINES_BYTES_MAX = 4096, NUMBER_MAX = 20 };

/* ---- packed history ---- */

/* The digits of n, and a blank, before `end`. */
static char *
put_number(char *end, uint64_t n)
{
    *--end = ' ';
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

/* The lines with one more; NULL without memory. */
static const char *
add_line(struct arena *a, const char *lines, uint64_t seq, const char *body)
{
    size_t before = lines ? strlen(lines) : 0, len = strlen(body);
    char number[NUMBER_MAX + 1], *digits = put_number(number + sizeof number, seq);
    size_t n = (size_t)(number + sizeof number - digits);
    char *to = arena_alloc(a, before + n + len + 2);

    if (!to)
        return NULL;
    if (before)
        memcpy(to, lines, before);
    memcpy(to + before, digits, n);
    memcpy(to + before + n, body, len);
    memcpy(to + before + n + len, "\n", 2);
    return to;
}

/* Are they enough for a row of `history`? */
static bool
is_packed(const char *lines)
{
    size_t n = 0;

    for (const char *p = lines; (p = strchr(p, '\n')); p++)
        n++;
    return n >= LINES_MAX || strlen(lines) >= LINES_BYTES_MAX;
}

bool
history_next(const char **at, uint64_t *seq, const char **body, size_t *len)
{
    const char *end = *at ? strchr(*at, '\n') : NULL;
    char *blank;

    if (!end)
        return false;
    *seq = strtoull(*at, &blank, 10);
    *body = blank + (*blank == ' ');
    *len = (size_t)(end - *body);
    *at = end + 1;
    return true;
}

/* ---- the signals ---- */

struct dirty_room {
    struct dirty_signal list[SIGNALS_MAX];
    size_t n, n_changed;
    enum { UNKNOWN, NONE, SOME } matches; /* has the index matches at all? */
    unsigned short slots[SLOTS];          /* hash table of ids: 1 + the place in list */
    struct arena texts, spare;            /* signals that stay are copied from one to the other */
};

/* The slot of the id, or the free one that it would get. */
static unsigned short *
slot_of(struct dirty_room *room, const char *id)
{
    size_t hash = 0;

    for (const char *c = id; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    for (;; hash++) {
        unsigned short *slot = &room->slots[hash % SLOTS];
        if (!*slot || strcmp(room->list[*slot - 1].x.it.id, id) == 0)
            return slot;
    }
}

struct dirty_signal *
dirty_signals_find(const struct dirty_signals *h, const char *id)
{
    unsigned short at = h->room && h->room->n ? *slot_of(h->room, id) : 0;

    return at ? &h->room->list[at - 1] : NULL;
}

static bool
is_full(const struct dirty_room *room)
{
    return room->n == SIGNALS_MAX || room->texts.used > TEXT_MAX;
}

/* Adds a signal as the index has it; texts in the arena. NULL without memory. */
static struct dirty_signal *
add(struct dirty_room *room, const struct signal_row *x, struct arena *texts)
{
    struct dirty_signal *one = &room->list[room->n];
    struct signal_row its;

    if (!signal_row_dup(&its, x, texts))
        return NULL;
    *one = (struct dirty_signal){ .x = its,
                                  .was_waiting = signal_row_is_waiting(&its),
                                  .was_ready = signal_row_is_ready(&its),
                                  .was_settled = item_is_settled(&its.it) };
    *slot_of(room, its.it.id) = (unsigned short)++room->n;
    return one;
}

struct dirty_signal *
dirty_signals_take(struct dirty_signals *h, struct index *ix, const struct signal_row *x)
{
    if (!h->room)
        h->room = calloc(1, sizeof *h->room);
    if (!h->room)
        return NULL;
    if (is_full(h->room))
        dirty_signals_write(h, ix);
    if (is_full(h->room))
        dirty_signals_drop(h); /* all of it is clean */
    return add(h->room, x, &h->room->texts);
}

bool
dirty_signals_change(struct dirty_signals *h, struct index *ix, struct dirty_signal *one,
                     const struct item *it, uint64_t seq, const char *body)
{
    struct item now = *it;
    const struct item *was = &one->x.it;
    const char **texts[] = { &now.claimed_by, &now.claim, &now.boot, &now.last_by,
                             &now.last_claim };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *s = *texts[i];
        if (s && s != was->claimed_by && s != was->claim && s != was->boot &&
            !(*texts[i] = arena_dup(&h->room->texts, s, strlen(s))))
            return false;
    }
    const char *lines = add_line(&h->room->texts, one->x.lines, seq, body);
    if (!lines)
        return false;
    one->x.it = now;
    one->x.lines = lines;
    h->room->n_changed += !one->is_changed;
    one->is_changed = true;
    if (is_packed(lines)) {
        index_add(ix, ROWS_HISTORY, "iis", (int64_t)now.seq, (int64_t)seq, lines);
        one->x.lines = NULL;
    }
    return true;
}

/* ---- into the index ---- */

/* Updates the lists of identities whose subscriptions matched a signal. */
static void
write_matched(struct index *ix, struct dirty_room *room)
{
    for (size_t i = 0; i < room->n && room->matches != NONE; i++) {
        const struct signal_row *x = &room->list[i].x;
        bool is_settled = item_is_settled(&x->it);
        if (is_settled == room->list[i].was_settled)
            continue;
        if (room->matches == UNKNOWN)
            room->matches =
                index_next(ix, index_run(ix, "SELECT 1 FROM matches LIMIT 1", "")) ? SOME : NONE;
        if (room->matches == SOME && is_settled)
            index_do(ix,
                     "DELETE FROM waiting WHERE addr IN (SELECT '~' || identity FROM matches WHERE"
                     " signal = ?2) AND urgency = ?1 AND signal = ?2",
                     "di", x->urgency, (int64_t)x->it.seq);
        else if (room->matches == SOME)
            index_do(ix,
                     "INSERT OR IGNORE INTO waiting SELECT '~' || identity, ?1, ?2 FROM matches"
                     " WHERE signal = ?2",
                     "di", x->urgency, (int64_t)x->it.seq);
    }
}

/* By their numbers. An insertion sort: they come nearly in that order. */
static void
sort(const struct dirty_signal *list, size_t n, unsigned short *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at && list[order[at - 1]].x.it.seq > list[i].x.it.seq; at--)
            order[at] = order[at - 1];
        order[at] = (unsigned short)i;
    }
}

/* Removes a row from a list; has_gap: a signal of the cache stays between it and the row before. */
static void
remove_row(struct index *ix, enum index_rows kind, const struct signal_row *x, bool *has_gap)
{
    index_add(ix, kind, "sdii", signal_row_list(x), x->urgency, (int64_t)x->it.seq,
              (int64_t)*has_gap);
    *has_gap = false;
}

static void
write_lists(struct index *ix, const struct dirty_signal *list, size_t n)
{
    unsigned short order[SIGNALS_MAX];
    bool has_gap_waiting = false, has_gap_ready = false;

    sort(list, n, order);
    for (size_t i = 0; i < n; i++) {
        const struct dirty_signal *one = &list[order[i]];
        const struct signal_row *x = &one->x;
        int64_t seq = (int64_t)x->it.seq;
        bool is_waiting = signal_row_is_waiting(x), is_ready = signal_row_is_ready(x);
        if (is_waiting && !one->was_waiting)
            index_add(ix, ROWS_WAITING, "sdi", x->addr, x->urgency, seq);
        else if (one->was_waiting && !is_waiting)
            remove_row(ix, ROWS_NOT_WAITING, x, &has_gap_waiting);
        if (is_ready && !one->was_ready)
            index_add(ix, ROWS_READY, "sdis", signal_row_list(x), x->urgency, seq, x->type);
        else if (one->was_ready && !is_ready)
            remove_row(ix, ROWS_NOT_READY, x, &has_gap_ready);
        has_gap_waiting = has_gap_waiting || is_waiting;
        has_gap_ready = has_gap_ready || is_ready;
    }
}

static void
write_state(struct index *ix, const struct signal_row *x)
{
    const struct item *it = &x->it;

    index_add(ix, ROWS_STATES, "iiiissizisisss", (int64_t)it->seq, (int64_t)it->state,
              (int64_t)it->work, it->count, it->claimed_by, it->claim, it->claimed_at, it->until,
              it->boot_until, it->until && !it->boot ? "" : it->boot, (int64_t)it->last,
              it->last_by, it->last_claim, x->lines);
}

/* Keeps the newest claimed signals, and drops the others. Without memory it drops these, too. */
static void
keep_leased(struct dirty_room *room)
{
    struct arena texts = room->texts;
    size_t n = room->n, n_leased = 0;

    for (size_t i = 0; i < n; i++)
        n_leased += room->list[i].x.it.state == D_LEASED;
    memset(room->slots, 0, sizeof room->slots);
    room->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct signal_row x = room->list[i].x;
        if (x.it.state == D_LEASED && n_leased-- <= LEASED_MAX)
            add(room, &x, &room->spare);
    }
    room->texts = room->spare;
    room->spare = texts;
    arena_reset(&room->spare);
}

void
dirty_signals_write(struct dirty_signals *h, struct index *ix)
{
    struct dirty_room *room = h->room;

    if (!room || !room->n_changed)
        return;
    room->n_changed = 0; /* first: the statements below call us again */
    for (size_t i = 0; i < room->n; i++)
        if (room->list[i].is_changed)
            write_state(ix, &room->list[i].x);
    write_lists(ix, room->list, room->n);
    write_matched(ix, room);
    keep_leased(room);
}

void
dirty_signals_drop(struct dirty_signals *h)
{
    if (!h->room)
        return;
    h->room->n = h->room->n_changed = 0;
    h->room->matches = UNKNOWN;
    memset(h->room->slots, 0, sizeof h->room->slots);
    arena_reset(&h->room->texts);
}

void
dirty_signals_note_match(struct dirty_signals *h)
{
    if (h->room)
        h->room->matches = SOME;
}

void
dirty_signals_release(struct dirty_signals *h)
{
    if (h->room) {
        arena_release(&h->room->texts);
        arena_release(&h->room->spare);
    }
    free(h->room);
    h->room = NULL;
}
