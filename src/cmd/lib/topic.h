/*
 * topic - a reference that `cliq help TOPIC` prints and a man page shows (topics.def).
 *
 * The text is man/topic/<id>.scd, which is part of the program. A line "@fields NAME" in it is
 * replaced by the table of that name: the rows that the code itself reads by. So a field is
 * described in one place, and a new row is on the page. A table of team.yml has its path as its
 * name ("phases[].commands[]"); "@fields team" is all of them.
 *
 * Tests: test/unit/test_topic.c test/scenario/references.bats
 */
#ifndef CLIQ_CMD_LIB_TOPIC_H
#define CLIQ_CMD_LIB_TOPIC_H

#include "base/buf.h"

struct topic {
    const char *id;   /* "team": the page is cliq-team(5) */
    const char *name; /* "team.yml" */
    unsigned section;
    const char *brief;
    const char *text; /* with its @fields lines */
};

extern const struct topic topics[]; /* the last row has a NULL id */

/* The topic of that name, or (is_page) the one whose page is "team.5". NULL: none. */
const struct topic *topic_find(const char *name, bool is_page);

void topic_page(struct buf *to, const struct topic *t); /* the whole page in scdoc */
void topic_text(struct buf *to, const struct topic *t); /* as plain text */

#endif
