/*
 * splice - the line of a signal cut into its members, without parsing it.
 *
 * What is shown of a signal is mostly what its line has, in another order. A line that we wrote
 * ourselves has no blanks between its members and spells every value as an answer would: so a
 * member is found by its quotes and brackets alone, and copied as it is, at a tenth of the cost of
 * a tree.
 *
 * Whatever looks otherwise is not taken, and has to be parsed: a member that is unknown or there
 * twice, a name with an escape in it or blanks around it, an id with its prefix. What is taken
 * means the same as hub_event_read would find. The line must be valid JSON: it was read or written
 * as such.
 *
 * Pure code: no file, no clock, no memory.
 */
#ifndef CLIQ_HUB_REQUEST_SPLICE_H
#define CLIQ_HUB_REQUEST_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members that are shown; names are those of struct hub_event. */
enum splice_member {
    SPLICE_TYPE,
    SPLICE_CONTENT,
    SPLICE_URGENCY,
    SPLICE_FROM_ROLE,
    SPLICE_BY,
    SPLICE_TO_ROLE,
    SPLICE_TO_RING,
    SPLICE_TO_IDENTITY,
    SPLICE_PARENT,
    SPLICE_TAGS,
    SPLICE_RESOURCES,
    SPLICE_ATTACHMENTS,
    SPLICE_METADATA,
    SPLICE_DATA,
    SPLICE_MEMBERS
};

struct splice {
    struct splice_text {
        const char *p; /* the value's JSON, in the line; NULL: absent */
        size_t len;
    } of[SPLICE_MEMBERS];
    int64_t at; /* createdAt; 0: absent */
};

/* False: parse it. */
bool splice_line(struct splice *s, const char *line, size_t len);

#endif
