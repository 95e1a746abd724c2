/*
 * line_diff - the lines that differ between two texts, as `diff -U0` shows them.
 *
 *     @@ -3 +3,2 @@
 *     -  "theme": "dark"
 *     +  "theme": "dark",
 *     +  "model": "m"
 *
 * Myers' greedy algorithm: its time and memory grow with what differs, not with the texts. Texts
 * that differ in more than LINE_DIFF_MAX lines get one hunk, from the first line that differs to
 * the last.
 *
 * Tests: test/unit/test_line_diff.c
 */
#ifndef CLIQ_BASE_LINE_DIFF_H
#define CLIQ_BASE_LINE_DIFF_H

#include "base/buf.h"

#define LINE_DIFF_MAX 1000

/* Adds the hunks; nothing when the texts are equal. A '\r' before a line's end is not shown. */
enum status line_diff(struct buf *to, const struct buf *old, const struct buf *new, struct err *e);

#endif
