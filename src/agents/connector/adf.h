/*
 * adf - the Atlassian Document Format, in which Jira keeps descriptions and comments.
 *
 *     {"type":"doc","version":1,"content":[{"type":"paragraph","content":[{"type":"text",…}]}]}
 *
 * adf_write makes a document of plain text: a paragraph ends at an empty line, other line ends are
 * hard breaks. A text that is such a document in JSON is taken as it is. adf_text goes the other
 * way, for people and models: blocks on lines of their own, list items behind "- ".
 *
 * Tests: test/unit/test_adf.c
 */
#ifndef CLIQ_AGENTS_CONNECTOR_ADF_H
#define CLIQ_AGENTS_CONNECTOR_ADF_H

#include "base/json.h"

void adf_write(struct buf *to, const char *text, size_t len);
void adf_text(struct buf *to, const struct json *doc);

#endif
