/*
 * epics - a plan in Markdown, read as epics. Pure.
 *
 *     ## EPIC-001 - Sign in                  a heading with EPIC-<name> begins an epic
 *     Depends on: EPIC-000                   or depends_on: [EPIC-000]
 *     Roles: engineer, qa                    or engineer -> qa
 *     Text, which is the brief.
 *     ### Acceptance criteria                its list items are criteria
 *     - [ ] a wrong password is refused
 *     ### Definition of done                 and so are these
 *
 * An epic ends at the next heading of its level or above. Text before the first epic, and fenced
 * code, are no epics.
 *
 * Tests: test/unit/test_epics.c test/fuzz/fuzz_epics.c
 */
#ifndef CLIQ_ROOM_EPICS_H
#define CLIQ_ROOM_EPICS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

#define EPICS_MAX      1000
#define EPIC_LISTS_MAX 200 /* items of one list */

struct epic_list {
    const char **v;
    size_t n;
};

struct epic {
    const char *ref;             /* "EPIC-001" */
    const char *room;            /* "room-001" */
    const char *title;           /* the heading behind the ref; "": none */
    const char *text;            /* the whole section, its heading too */
    unsigned line;               /* of the heading */
    struct epic_list depends_on; /* refs */
    struct epic_list roles;
    struct epic_list criteria, done; /* acceptance criteria, definition of done */
};

/* Everything lives in the arena. ST_INVALID, with name:line: no epic, one twice, an unknown
 * dependency, a circle. */
enum status epics_parse(struct arena *a, const char *name, const char *text, size_t len,
                        struct epic **epics, size_t *n, struct err *e);

#endif
