/*
 * term - safe text, colour and width for terminals.
 *
 * Text from messages, files and file names can contain escape sequences that
 * move the cursor, change the title or hide text. All output of such text to a
 * terminal goes through term_escape.
 *
 * Tests: test/unit/test_term.c
 */
#ifndef CLIQ_BASE_TERM_H
#define CLIQ_BASE_TERM_H

#include "base/buf.h"

/* Appends the text. Control characters, bidirectional overrides and bytes that are not UTF-8 become
 * \x1b or \u202e. Tabs and newlines stay if is_multiline, else they become a space. */
void term_escape(struct buf *to, const char *p, size_t len, bool is_multiline);

/* Appends the last line of a program's output that shows anything, without its escape sequences,
 * control characters, bytes that are not UTF-8, and blanks at both ends. A longer one is cut at
 * `max` bytes. Hints (Try 'x --help') and the stack traces of node and Java do not count: the line
 * before them says what went wrong.
 * Appends nothing when there is no such line. */
void term_last_line(struct buf *to, const char *p, size_t len, size_t max);

bool term_is_tty(int fd);
/* Decided by NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM=dumb, then by whether fd is a terminal. */
bool term_has_color(int fd);
/* Columns of the terminal, else $COLUMNS, else 80. */
unsigned term_width(int fd);
/* Rows of the terminal, else $LINES, else 24. */
unsigned term_height(int fd);

#endif
