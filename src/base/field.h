/*
 * field - one row of a reference: a key of a file, a message or an environment, as people read it.
 *
 * The tables that the code reads by (team/load.h, team/manifest.h, team/settings.def,
 * team/template.h, context/agent_message.h …) have these texts in each row. `cliq help TOPIC` and
 * the man pages print them, so a new row is documented where it is added.
 *
 * Tests: test/unit/test_team_load.c
 */
#ifndef CLIQ_BASE_FIELD_H
#define CLIQ_BASE_FIELD_H

#define FIELD_REQUIRED "required" /* in `otherwise`: there is no default */

struct field {
    const char *key;       /* NULL ends a table */
    const char *takes;     /* the values: "a text"; NULL: that goes without saying */
    const char *otherwise; /* the default, or FIELD_REQUIRED; NULL: nothing */
    const char *says;      /* what it means: one line */
};

#endif
