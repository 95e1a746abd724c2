/*
 * live_view - phases drawn on a terminal again and again, in the same place.
 *
 *     ✓ plan             done      claude     12.3 s    $0.42 wrote the plan
 *     ▸ build            running   script     3.2 s     compiling
 *     · review           waiting   claude
 *       97 more: 60 done, 37 waiting
 *
 * The picture always fits the terminal, whatever its size: at most height - 1 lines, each shorter
 * than the width. Where there are more phases than lines, those that failed, run or are tried again
 * are shown, then the next ones, and the last line counts the rest. On a resize the terminal wraps
 * the old lines anew; the view counts them again and draws over them. A terminal of one line, or
 * of less than four columns, has no room for a picture, and gets none.
 *
 * Pure, but for the time between two calls that the caller keeps in struct live_view.
 *
 * Tests: test/unit/test_live_view.c
 */
#ifndef CLIQ_RUN_LIVE_VIEW_H
#define CLIQ_RUN_LIVE_VIEW_H

#include "base/buf.h"
#include "run/sched.h"

enum { LIVE_VIEW_LINES_MAX = 256 }; /* of a picture, on a terminal of any height */

struct live_row {
    enum phase_state state;
    const char *name, *agent;
    const char *used;                   /* "$0.12": what its models used; NULL: nothing */
    const char *last;                   /* the last thing said of it, escaped; NULL: nothing */
    int64_t elapsed_ms;                 /* -1: it has not begun */
    unsigned iteration, max_iterations; /* of gates; 0: it is none */
    bool is_hidden;                     /* never shown, and not counted: it may never run */
};

struct live_size {
    unsigned width, height;
};

/* What stands on the screen. */
struct live_view {
    unsigned width; /* of the terminal when it was drawn */
    unsigned n;     /* lines */
    unsigned short widths[LIVE_VIEW_LINES_MAX];
};

/* Which of the n rows are shown in `lines` lines; counts[state] of those that are not, and their
 * sum. Rows come in the order of the graph. */
size_t live_view_choose(const struct live_row *rows, size_t n, unsigned lines, bool *shown,
                        size_t counts[PS_STATES]);
/* "60 done, 37 waiting" */
void live_view_counts(struct buf *to, const size_t counts[PS_STATES]);

/* Appends what moves the cursor to the begin of the old picture and erases it. */
void live_view_erase(struct live_view *v, struct buf *to, const struct live_size *size);
/* Appends the picture, in place of the old one, in at most `lines` lines (and height - 1). */
void live_view_draw(struct live_view *v, struct buf *to, const struct live_row *rows, size_t n,
                    unsigned lines, const struct live_size *size, bool has_color);

/* The length of the longest beginning of the text that takes at most `width` columns. */
size_t live_view_fit(const char *p, size_t len, unsigned width);

/* "340 ms", "1.2 s", "3 min 20 s", "2 h 5 min" */
void live_view_elapsed(struct buf *to, int64_t ms);

#endif
