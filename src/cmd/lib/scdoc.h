/*
 * scdoc - the language of our man pages: written from tables, and rendered as plain text for
 * `cliq help TOPIC`.
 *
 * The subset that the pages use:
 *     # HEADING   ## Heading   paragraphs   - lists   a tab before the text of a definition
 *     ``` literal blocks   *bold*   _underlined_   \ before a character that would be markup
 *
 * Tests: test/unit/test_scdoc.c
 */
#ifndef CLIQ_CMD_LIB_SCDOC_H
#define CLIQ_CMD_LIB_SCDOC_H

#include "base/buf.h"

/* Adds the text with what scdoc would take for markup escaped. The lines of a paragraph are
 * joined: a "." at the start of one becomes a macro when escaped, and is lost if not. */
void scdoc_text(struct buf *to, const char *text);
/* Adds a definition: the name in bold, the value underlined (NULL: none), and below it the text. */
void scdoc_item(struct buf *to, const char *name, const char *value, const char *says);

/* Renders a page without its first line (the name and section) as plain text of that width. */
void scdoc_render(struct buf *to, const char *page, size_t width);

#endif
