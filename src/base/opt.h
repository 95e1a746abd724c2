/*
 * opt - a command-line parser, driven by a table.
 *
 * Parsing, --help, completion and the man page use the same table. Every
 * command also has -h and --help.
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
    OPT_TIME,   /* "5", "0.5", "90s", "250ms", "20m", "2h", "30d"; a bare number is seconds */
};

struct opt {
    const char *name; /* without the dashes; NULL ends the table */
    enum opt_kind kind;
    const char *value; /* the value's name in --help: "ROOM" */
    const char *help;
    bool is_required;
    bool is_many;       /* may be given more than once */
    const char *choose; /* list that completion offers: "rooms", "types", ... */
    char letter;        /* the short form, 'm' for -m; 0: none */
};

struct args {
    const struct opt *opts;
    struct arena arena;
    struct {
        const char **v;
        size_t n;
    } got[OPT_MAX];
    const char *const *words; /* the arguments that are not options */
    size_t n_words;
    bool wants_help; /* -h or --help; the rest was not checked */
};

/* Ignores argv[0]. ST_INVALID: a usage error. */
enum status args_parse(struct args *a, const struct opt *opts, int argc, char **argv,
                       size_t min_words, size_t max_words, struct err *e);
void args_release(struct args *a);

bool args_has(const struct args *a, const char *name);
const char *args_text(const struct args *a, const char *name); /* NULL when not given */
const char *const *args_many(const struct args *a, const char *name, size_t *n);
uint64_t args_number(const struct args *a, const char *name, uint64_t otherwise);
int64_t args_ms(const struct args *a, const char *name, int64_t otherwise); /* OPT_TIME */

/* Parses an OPT_TIME; false when the text is not a time. */
bool opt_parse_ms(const char *text, int64_t *ms);

#endif
