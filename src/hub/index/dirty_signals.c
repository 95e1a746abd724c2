#include "hub/index/dirty_signals.h"

#include "hub/index/history.h"

#include <stdlib.h>
#include <string.h>

/* HELD_MAX: as much as some milliseconds bring. STAY_MAX: of them, those that are claimed stay when
 * they are written; more, and there is little room for others. SLOTS: a power of two that is never
 * half full. */
enum { HELD_MAX = 500, STAY_MAX = 128, SLOTS = 1024, TEXT_MAX = 1 << 20 };

struct hand_room {
    struct dirty_signal held[HELD_MAX];
    size_t n, n_changed;
    enum { UNKNOWN, NONE, SOME } matches; /* of any signal, in the index */
    unsigned short slots[SLOTS];          /* by the hash of the id: 1 + the place in held */
    struct arena texts, spare;            /* what stays moves from one to the other */
};

/* The slot that has the id, or that it would get. */
static unsigned short *
slot_of(struct hand_room *room, const char *id)
{
    size_t hash = 0;

    for (const char *c = id; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    for (;; hash++) {
        unsigned short *slot = &room->slots[hash % SLOTS];
        if (!*slot || strcmp(room->held[*slot - 1].x.it.id, id) == 0)
            return slot;
    }
}

struct dirty_signal *
dirty_signals_find(const struct dirty_signals *h, const char *id)
{
    unsigned short at = h->room && h->room->n ? *slot_of(h->room, id) : 0;

    return at ? &h->room->held[at - 1] : NULL;
}

static bool
is_full(const struct hand_room *room)
{
    return room->n == HELD_MAX || room->texts.used > TEXT_MAX;
}

/* Behind the others, as the index has it; texts in the arena. NULL without memory. */
static struct dirty_signal *
add(struct hand_room *room, const struct signal_row *x, struct arena *texts)
{
    struct dirty_signal *held = &room->held[room->n];
    struct signal_row its;

    if (!signal_row_dup(&its, x, texts))
        return NULL;
    *held = (struct dirty_signal){ .x = its,
                                   .was_waiting = signal_row_is_waiting(&its),
                                   .was_ready = signal_row_is_ready(&its),
                                   .was_acked = its.it.state == D_ACKED };
    *slot_of(room, its.it.id) = (unsigned short)++room->n;
    return held;
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
        dirty_signals_drop(h); /* nothing of it is to be written */
    return add(h->room, x, &h->room->texts);
}

bool
dirty_signals_change(struct dirty_signals *h, struct index *ix, struct dirty_signal *held,
                     const struct item *it, uint64_t seq, const char *body)
{
    struct item now = *it;
    const struct item *was = &held->x.it;
    const char **texts[] = { &now.claimed_by, &now.claim, &now.boot, &now.last_by,
                             &now.last_claim };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *s = *texts[i];
        if (s && s != was->claimed_by && s != was->claim && s != was->boot &&
            !(*texts[i] = arena_dup(&h->room->texts, s, strlen(s))))
            return false;
    }
    const char *lines = history_add(&h->room->texts, held->x.lines, seq, body);
    if (!lines)
        return false;
    held->x.it = now;
    held->x.lines = lines;
    h->room->n_changed += !held->is_changed;
    held->is_changed = true;
    if (history_is_full(lines)) {
        index_add(ix, ROWS_HISTORY, "iis", (int64_t)now.seq, (int64_t)seq, lines);
        held->x.lines = NULL;
    }
    return true;
}

/* ---- into the index ---- */

/* A signal that was not acked waits for those, too, whose subscriptions it matched. */
static void
write_matched(struct index *ix, struct hand_room *room)
{
    for (size_t i = 0; i < room->n && room->matches != NONE; i++) {
        const struct signal_row *x = &room->held[i].x;
        bool is_acked = x->it.state == D_ACKED;
        if (is_acked == room->held[i].was_acked)
            continue;
        if (room->matches == UNKNOWN)
            room->matches =
                index_next(ix, index_run(ix, "SELECT 1 FROM matches LIMIT 1", "")) ? SOME : NONE;
        if (room->matches == SOME && is_acked)
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

/* By their numbers: they were taken nearly so. */
static void
sort(const struct dirty_signal *held, size_t n, unsigned short *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at && held[order[at - 1]].x.it.seq > held[i].x.it.seq; at--)
            order[at] = order[at - 1];
        order[at] = (unsigned short)i;
    }
}

/* Leaves a list; has_gap: since the last that left it there was one in the hand that stays. */
static void
leave(struct index *ix, enum index_rows list, const struct signal_row *x, bool *has_gap)
{
    index_add(ix, list, "sdii", signal_row_list(x), x->urgency, (int64_t)x->it.seq,
              (int64_t)*has_gap);
    *has_gap = false;
}

static void
write_lists(struct index *ix, const struct dirty_signal *held, size_t n)
{
    unsigned short order[HELD_MAX];
    bool has_gap_waiting = false, has_gap_ready = false;

    sort(held, n, order);
    for (size_t i = 0; i < n; i++) {
        const struct dirty_signal *one = &held[order[i]];
        const struct signal_row *x = &one->x;
        int64_t seq = (int64_t)x->it.seq;
        bool is_waiting = signal_row_is_waiting(x), is_ready = signal_row_is_ready(x);
        if (is_waiting && !one->was_waiting)
            index_add(ix, ROWS_WAITING, "sdi", x->addr, x->urgency, seq);
        else if (one->was_waiting && !is_waiting)
            leave(ix, ROWS_NOT_WAITING, x, &has_gap_waiting);
        if (is_ready && !one->was_ready)
            index_add(ix, ROWS_READY, "sdis", signal_row_list(x), x->urgency, seq, x->type);
        else if (one->was_ready && !is_ready)
            leave(ix, ROWS_NOT_READY, x, &has_gap_ready);
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

/* What is claimed stays, the newest of it. Without memory it goes: then it is looked up. */
static void
let_go(struct hand_room *room)
{
    struct arena texts = room->texts;
    size_t n = room->n, n_claimed = 0;

    for (size_t i = 0; i < n; i++)
        n_claimed += room->held[i].x.it.state == D_LEASED;
    memset(room->slots, 0, sizeof room->slots);
    room->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct signal_row x = room->held[i].x;
        if (x.it.state == D_LEASED && n_claimed-- <= STAY_MAX)
            add(room, &x, &room->spare);
    }
    room->texts = room->spare;
    room->spare = texts;
    arena_reset(&room->spare);
}

void
dirty_signals_write(struct dirty_signals *h, struct index *ix)
{
    struct hand_room *room = h->room;

    if (!room || !room->n_changed)
        return;
    room->n_changed = 0; /* statements that write it ask for it again */
    for (size_t i = 0; i < room->n; i++)
        if (room->held[i].is_changed)
            write_state(ix, &room->held[i].x);
    write_lists(ix, room->held, room->n);
    write_matched(ix, room);
    let_go(room);
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
