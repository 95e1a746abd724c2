/*
 * xml - reads the elements of a service's small XML answers, one after the other; escapes text.
 *
 *     const char *at = text;
 *     while (xml_next(&at, end, "Contents", &inner))
 *         … xml_text(&inner, "Key", &value) …
 *
 * For documents that machines write: an element of that name must not hold another one of it.
 * Attributes, comments and declarations are passed over; entities are not read from a DTD.
 *
 * Tests: test/unit/test_xml.c
 */
#ifndef CLIQ_AGENTS_CONNECTOR_XML_H
#define CLIQ_AGENTS_CONNECTOR_XML_H

#include "base/buf.h"

struct xml_part {
    const char *p, *end;
};

/* The next element of that name: *to is what stands between its tags, *at moves behind it. */
bool xml_next(const char **at, const char *end, const char *name, struct xml_part *to);
/* Appends the text of the first element of that name in `in`, with its entities decoded. False:
 * there is none. */
bool xml_text(const struct xml_part *in, const char *name, struct buf *to);
/* Appends text with &, < and > escaped, as it stands between tags; in HTML, too. */
void xml_escape(struct buf *to, const char *text);

#endif
