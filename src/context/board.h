/*
 * board - the task board, task_board.md: "# Task Board", then one "- [ ] <phase>" line for each
 * phase, with its notes as indented "  - note" lines below it.
 *
 * A board is text in memory; it is written back only when is_dirty. Phases that run in parallel
 * share the file: a writer locks it, reads it again and applies its own edits to the new text
 * (board_redo), so that no mark of another phase is lost.
 */
#ifndef CLIQ_CONTEXT_BOARD_H
#define CLIQ_CONTEXT_BOARD_H

#include "base/buf.h"

struct board {
    struct buf text;
    struct buf done; /* the edits since it was read */
    bool is_dirty;
};

void board_mark(struct board *b, const char *phase, bool is_complete); /* no-op if not found */
void board_note(struct board *b, const char *phase, const char *note); /* no-op if not found */
void board_replace(struct board *b, const char *text);
/* Applies the edits of `from` to b. */
void board_redo(struct board *b, const struct board *from);
void board_release(struct board *b);

#endif
