/*
 * problem - the list of errors and warnings about a file, all reported at once.
 *
 *     team.yml:12:5: error: depends on unknown phase "desing" (did you mean "design"?) (phase
 * build, field depends_on)
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_PROBLEM_H
#define CLIQ_TEAM_PROBLEM_H

#include "base/arena.h"
#include "base/buf.h"

struct problem {
    struct problem *next;
    const char *file;      /* as shown to people; borrowed */
    unsigned line, column; /* 0: the file as a whole */
    bool is_warning;
    const char *text, *phase, *field; /* phase, field: NULL or borrowed */
};

struct problems {
    struct arena arena;
    struct problem *first, **last; /* in the order they were added; last may be NULL at first */
    size_t errors, warnings;
    const char *dir; /* shown before the files of problems_write; NULL: nothing */
};

struct problem_at {
    const char *file;
    unsigned line, column;
    const char *phase, *field;
};

void problem_error(struct problems *p, struct problem_at at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void problem_warn(struct problems *p, struct problem_at at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Sorted by file, line, column; one line each. */
void problems_write(struct buf *to, struct problems *p);
/* A JSON array of {file,line,column,level,message,phase?,field?}. */
void problems_write_json(struct buf *to, struct problems *p);
void problems_release(struct problems *p);

#endif
