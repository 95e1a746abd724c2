#include "run/live_view.h"

#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARK_WIDTH = 3, /* the mark, a blank, and a column that stays free */
    WIDTH_MIN = 4,  /* of a terminal */
    NARROW = 64,    /* columns below which state and agent are left out: the mark tells the state */
    NAME_MIN = 16,  /* columns of a name */
};

/* ---- what is shown ---- */

static bool
is_at_work(enum phase_state s)
{
    return s == PS_RUNNING || s == PS_STARTING || s == PS_BACKOFF || s == PS_ROUTING;
}

/* Shows rows until there are `lines` of them. */
static void
show_some(const struct live_row *rows, size_t n, bool (*is_one)(enum phase_state s), bool is_back,
          size_t *left, bool *shown)
{
    for (size_t k = 0; k < n && *left; k++) {
        size_t i = is_back ? n - 1 - k : k;
        if (!rows[i].is_hidden && !shown[i] && is_one(rows[i].state)) {
            shown[i] = true;
            --*left;
        }
    }
}

static bool
is_failed(enum phase_state s)
{
    return s == PS_FAILED;
}

static bool
is_waiting(enum phase_state s)
{
    return s == PS_WAITING;
}

static bool
is_any(enum phase_state s)
{
    (void)s;
    return true;
}

size_t
live_view_choose(const struct live_row *rows, size_t n, unsigned lines, bool *shown,
                 size_t counts[PS_STATES])
{
    size_t visible = 0, rest = 0;

    memset(shown, 0, n * sizeof *shown);
    memset(counts, 0, PS_STATES * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        visible += !rows[i].is_hidden;
    size_t left = visible <= lines ? visible : lines ? lines - 1 : 0;
    show_some(rows, n, is_failed, false, &left, shown);
    show_some(rows, n, is_at_work, false, &left, shown);
    show_some(rows, n, is_waiting, false, &left, shown);
    show_some(rows, n, is_any, true, &left, shown); /* what was done last */
    for (size_t i = 0; i < n; i++) {
        if (rows[i].is_hidden || shown[i])
            continue;
        counts[rows[i].state]++;
        rest++;
    }
    return rest;
}

void
live_view_counts(struct buf *to, const size_t counts[PS_STATES])
{
    static const enum phase_state order[] = { PS_DONE,     PS_SKIPPED, PS_FAILED,  PS_RUNNING,
                                              PS_STARTING, PS_BACKOFF, PS_ROUTING, PS_WAITING };
    const char *before = "";

    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        if (!counts[order[k]])
            continue;
        buf_addf(to, "%s%zu %s", before, counts[order[k]], phase_state_name(order[k]));
        before = ", ";
    }
}

/* ---- text ---- */

void
live_view_elapsed(struct buf *to, int64_t ms)
{
    if (ms < 1000)
        buf_addf(to, "%" PRId64 " ms", ms);
    else if (ms < 120000)
        buf_addf(to, "%.1f s", (double)ms / 1000);
    else if (ms < 7200000)
        buf_addf(to, "%" PRId64 " min %" PRId64 " s", ms / 60000, ms / 1000 % 60);
    else
        buf_addf(to, "%" PRId64 " h %" PRId64 " min", ms / 3600000, ms / 60000 % 60);
}

size_t
live_view_fit(const char *p, size_t len, unsigned width)
{
    while (len > 0 && table_text_width(p, len) > width)
        do
            len--;
        while (len > 0 && ((unsigned char)p[len] & 0xC0) == 0x80);
    return len;
}

static const char *
mark_of(enum phase_state s)
{
    static const char *const marks[PS_STATES] = {
        [PS_WAITING] = "·", [PS_STARTING] = "▸", [PS_RUNNING] = "▸", [PS_BACKOFF] = "↻",
        [PS_ROUTING] = "↩", [PS_DONE] = "✓",     [PS_SKIPPED] = "–", [PS_FAILED] = "✗",
    };

    return marks[s];
}

static const char *
color_of(enum phase_state s)
{
    switch (s) {
    case PS_DONE:
        return "\033[32m";
    case PS_FAILED:
        return "\033[31m";
    case PS_RUNNING:
    case PS_STARTING:
        return "\033[36m";
    case PS_ROUTING:
    case PS_BACKOFF:
        return "\033[33m";
    default:
        return "";
    }
}

/* All of a row but its mark. */
static void
add_row(struct buf *to, const struct live_row *r, bool is_narrow)
{
    struct buf t = { 0 };

    buf_addf(to, "%-*s ", NAME_MIN, r->name);
    if (!is_narrow)
        buf_addf(to, "%-9s %-10s ", phase_state_name(r->state), r->agent ? r->agent : "");
    if (r->elapsed_ms >= 0)
        live_view_elapsed(&t, r->elapsed_ms);
    if (r->elapsed_ms >= 0 || r->last)
        buf_addf(to, "%-9s ", t.p ? t.p : "");
    if (r->max_iterations && r->iteration)
        buf_addf(to, "%u/%u ", r->iteration, r->max_iterations);
    if (r->used)
        buf_addf(to, "%s ", r->used);
    buf_adds(to, r->last ? r->last : "");
    while (to->len && to->p[to->len - 1] == ' ')
        buf_cut(to, to->len - 1);
    buf_release(&t);
}

static void
put_line(struct live_view *v, struct buf *to, const char *color, const char *mark,
         const struct buf *line)
{
    unsigned room = v->width - MARK_WIDTH;
    const char *text = line->p ? line->p : "";
    size_t len = live_view_fit(text, line->len, room);
    bool is_cut = len < line->len && room > 1;

    if (is_cut)
        len = live_view_fit(text, len, room - 1);
    buf_addf(to, "%s%s%s %.*s%s\033[K\n", color, mark, *color ? "\033[0m" : "", (int)len, text,
             is_cut ? "…" : "");
    if (v->n < LIVE_VIEW_LINES_MAX)
        v->widths[v->n++] = (unsigned short)(2 + table_text_width(text, len) + is_cut);
}

/* ---- drawing ---- */

void
live_view_erase(struct live_view *v, struct buf *to, const struct live_size *size)
{
    unsigned up = 0, most = size->height ? size->height - 1 : 0;

    for (unsigned i = 0; i < v->n; i++) /* a line that is wider than the terminal was wrapped */
        up += v->widths[i] <= size->width ? 1 : (v->widths[i] + size->width - 1) / size->width;
    if (up > most)
        up = most;
    if (up)
        buf_addf(to, "\033[%uA", up);
    if (v->n && v->width != size->width)
        buf_adds(to, "\r\033[J");
    v->n = 0;
}

/* The rows that have room, and the line that counts the rest. */
static void
draw_rows(struct live_view *v, struct buf *to, const struct live_row *rows, size_t n,
          unsigned lines, bool has_color)
{
    bool *shown = calloc(n + 1, sizeof *shown);
    size_t counts[PS_STATES];
    struct buf line = { 0 };
    size_t rest = shown ? live_view_choose(rows, n, lines, shown, counts) : 0;

    for (size_t i = 0; shown && i < n; i++) {
        if (!shown[i])
            continue;
        buf_reset(&line);
        add_row(&line, &rows[i], v->width < NARROW);
        put_line(v, to, has_color ? color_of(rows[i].state) : "", mark_of(rows[i].state), &line);
    }
    if (rest) {
        buf_reset(&line);
        buf_addf(&line, "%zu more: ", rest);
        live_view_counts(&line, counts);
        put_line(v, to, "", " ", &line);
    }
    buf_release(&line);
    free(shown);
}

void
live_view_draw(struct live_view *v, struct buf *to, const struct live_row *rows, size_t n,
               unsigned lines, const struct live_size *size, bool has_color)
{
    unsigned most = size->height && size->width >= WIDTH_MIN ? size->height - 1 : 0;

    live_view_erase(v, to, size);
    v->width = size->width;
    if (lines > most)
        lines = most;
    if (lines > LIVE_VIEW_LINES_MAX)
        lines = LIVE_VIEW_LINES_MAX;
    if (lines)
        draw_rows(v, to, rows, n, lines, has_color);
    buf_adds(to, "\033[J");
}
