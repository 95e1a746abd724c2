/*
 * term - what may reach a terminal.
 *
 * Text from messages, files and file names can hold escape sequences that move
 * the cursor, change the title or hide what was said. Every path to a terminal
 * goes through term_escape.
 *
 * Tests: test/unit/test_term.c
 */
#ifndef CLIQ_BASE_TERM_H
#define CLIQ_BASE_TERM_H

#include "base/buf.h"

/* Appends the text with control characters, bidirectional overrides and bytes that
 * are not UTF-8 written out as \x1b or \u202e. Tabs and newlines stay when
 * is_multiline, else they become a space. */
void term_escape(struct buf *to, const char *p, size_t len, bool is_multiline);

bool term_is_tty(int fd);
/* NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM=dumb, then whether fd is a terminal. */
bool term_has_color(int fd);
/* Columns; 80 when nobody knows. */
unsigned term_width(int fd);

#endif
