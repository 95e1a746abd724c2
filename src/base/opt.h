/*
 * opt - a command line, described by a table.
 *
 * The same table makes parsing, --help, completion and the man page, so they
 * cannot disagree. Every command also understands -h and --help.
 *
 * Order of calls: args_parse, then the lookups in any order, args_release.
 * Lookups assert that the option is in the table: a misspelt name is a bug.
 *
 * Tests: test/unit/test_opt.c
 */
#ifndef CLIQ_BASE_OPT_H
#define CLIQ_BASE_OPT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define OPT_MAX 32 /* options a command may have */

enum opt_kind {
    OPT_FLAG,   /* no value */
    OPT_TEXT,   /* any text */
    OPT_NUMBER, /* a whole number, 0 or more */
    OPT_TIME,   /* "5", "0.5", "90s", "250ms", "20m", "2h"; a bare number is seconds */
};

struct opt {
    const char *name; /* without the dashes; NULL ends the table */
    enum opt_kind kind;
    const char *value; /* what --help calls the value: "ROOM" */
    const char *help;
    bool is_required;
    bool is_many;       /* may be given again and again */
    const char *choose; /* what completion offers: "rooms", "types", ... */
    char letter;        /* the short form, 'm' for -m; 0: none */
};

struct args {
    const struct opt *opts;
    struct arena arena;
    struct {
        const char **v;
        size_t n;
    } got[OPT_MAX];
    const char *const *words; /* what is not an option */
    size_t n_words;
    bool wants_help; /* nothing else was checked */
};

/* argv[0] is the command's name and is not looked at. ST_INVALID with a sentence
 * that says what to do. */
enum status args_parse(struct args *a, const struct opt *opts, int argc, char **argv,
                       size_t min_words, size_t max_words, struct err *e);
void args_release(struct args *a);

bool args_has(const struct args *a, const char *name);
const char *args_text(const struct args *a, const char *name); /* NULL when not given */
const char *const *args_many(const struct args *a, const char *name, size_t *n);
uint64_t args_number(const struct args *a, const char *name, uint64_t otherwise);
int64_t args_ms(const struct args *a, const char *name, int64_t otherwise); /* OPT_TIME */

/* The text as milliseconds; false when it is not a time. */
bool opt_parse_ms(const char *text, int64_t *ms);

#endif
