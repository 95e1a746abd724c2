/*
 * teams - what the tests of team/ share: a team's file loaded and validated from a text.
 *
 * Most texts are HEAD, which fills lines 1 to 3, and phases from line 4 on.
 */
#ifndef CLIQ_TEST_TEAMS_H
#define CLIQ_TEST_TEAMS_H

#include "team/team.h"

#include "test.h"

#define HEAD         "name: '@a/team'\ndescription: d\nphases:\n"
#define FILE_NAME    "team.yml"
#define EXEC(name)   "  - { name: " name ", agent: exec, commands: [{ name: c, run: 'true' }] }\n"
#define COUNT(table) (sizeof(table) / sizeof *(table))

struct fixture {
    struct team team;
    struct problems problems;
    struct buf said;
    struct err e;
    enum status s;
};

/* Loads and validates the text; `said` holds all problems. dir: where roles are, or -1. */
void open_text(struct fixture *f, const char *text, size_t len, int dir);
struct fixture opened(const char *text);
void done(struct fixture *f);
void must_say(const struct fixture *f, const char *part);

/* One problem is the line "team.yml:" part, among others or alone. */
void says_in(int dir, const char *text, const char *part);
void says(const char *text, const char *part);

/* No problem at all, not even a warning. */
void clean_in(int dir, const char *text);
void clean(const char *text);

/* Whatever it says, it says it soon. */
void ends_soon(const struct buf *text);

#define INPUTS(list) "name: t\ndescription: d\ninputs: " list "\nphases:\n"

#endif
