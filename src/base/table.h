/*
 * table - text output in aligned columns.
 *
 *     struct table t = { .columns = 3 };
 *     table_cell(&t, "ROOM", 4); ... three cells make a row, the first row is the head
 *     table_write(&t, &out, term_width(1), has_color);
 *     table_release(&t);
 *
 * table_cell escapes each cell for terminals. A column is as wide as its widest
 * cell, in terminal columns (wide and combining characters are counted right).
 * Rows that do not fit `width` have cells truncated, those of the widest columns first, and those
 * of the first column never; less than 12: no limit.
 *
 * Tests: test/unit/test_table.c
 */
#ifndef CLIQ_BASE_TABLE_H
#define CLIQ_BASE_TABLE_H

#include "base/buf.h"

#define TABLE_COLUMNS_MAX 9

struct table {
    unsigned columns;
    struct buf text; /* all cells, each ended by NUL */
    size_t cells;
    size_t widths[TABLE_COLUMNS_MAX]; /* of the widest cell */
};

void table_cell(struct table *t, const char *p, size_t len);
void table_write(const struct table *t, struct buf *out, unsigned width, bool has_color);
void table_release(struct table *t);

/* Columns that the text takes on a terminal. */
size_t table_text_width(const char *p, size_t len);

#endif
