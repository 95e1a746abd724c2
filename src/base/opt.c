#define _GNU_SOURCE
#include "base/opt.h"

#include "base/suggest.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { HELP = 255, FIRST = 256 }; /* getopt's return values; FIRST + i is opts[i] */

bool
opt_parse_ms(const char *text, int64_t *ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = { { "", 1e3 },  { "s", 1e3 },   { "ms", 1 },
                  { "m", 6e4 }, { "h", 3.6e6 }, { "d", 8.64e7 } };
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    if (strspn(text, "0123456789.") == 0 || strpbrk(text, "xXpP"))
        return false; /* strtod would take hexadecimal */
    double n = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            if (!(n * units[i].ms < 1e15))
                return false;
            *ms = (int64_t)(n * units[i].ms + 0.5);
            return true;
        }
    }
    return false;
}

static bool
parse_number(const char *text, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static enum status
check_value(const struct opt *o, const char *text, struct err *e)
{
    uint64_t number;
    int64_t ms;

    if (o->kind == OPT_NUMBER && !parse_number(text, &number))
        return err_set(e, ST_INVALID, "--%s needs a whole number, 0 or more, not \"%s\"", o->name,
                       text);
    if (o->kind == OPT_TIME && !opt_parse_ms(text, &ms))
        return err_set(e, ST_INVALID,
                       "--%s needs a time like 30, 0.5, 90s, 250ms, 20m or 2h, not \"%s\"", o->name,
                       text);
    return ST_OK;
}

static enum status
unknown(const struct opt *opts, const char *given, struct err *e)
{
    char name[64];
    struct suggest near = { .word = name };
    size_t n;

    if (strncmp(given, "--", 2) != 0)
        return err_set(e, ST_INVALID, "unknown option %s", given);
    n = strcspn(given + 2, "=");
    if (n >= sizeof name)
        n = sizeof name - 1;
    memcpy(name, given + 2, n);
    name[n] = '\0';
    for (const struct opt *o = opts; o->name; o++)
        suggest_try(&near, o->name);
    suggest_try(&near, "help");
    if (near.best)
        return err_set(e, ST_INVALID, "unknown option --%s (did you mean --%s?)", name, near.best);
    return err_set(e, ST_INVALID, "unknown option --%s", name);
}

static enum status
add_value(struct args *a, size_t i, const char *text, struct err *e)
{
    const struct opt *o = &a->opts[i];

    if (a->got[i].n > 0 && !o->is_many)
        return err_set(e, ST_INVALID, "--%s was given twice", o->name);
    if (text) {
        enum status s = check_value(o, text, e);
        if (s)
            return s;
    }
    a->got[i].v[a->got[i].n++] = text;
    return ST_OK;
}

static size_t
by_letter(const struct opt *opts, int letter)
{
    size_t i = 0;

    while (opts[i].letter != letter)
        i++;
    return i;
}

enum status
args_parse(struct args *a, const struct opt *opts, int argc, char **argv, size_t min_words,
           size_t max_words, struct err *e)
{
    struct option table[OPT_MAX + 2] = { 0 };
    char letters[2 * OPT_MAX + 3] = ":h", *letter = letters + 2;
    size_t n = 0;

    *a = (struct args){ .opts = opts };
    for (; opts[n].name; n++) {
        assert(n < OPT_MAX);
        table[n] =
            (struct option){ .name = opts[n].name,
                             .has_arg = opts[n].kind == OPT_FLAG ? no_argument : required_argument,
                             .val = FIRST + (int)n };
        if (opts[n].letter) {
            *letter++ = opts[n].letter;
            if (opts[n].kind != OPT_FLAG)
                *letter++ = ':';
        }
        a->got[n].v = arena_alloc(&a->arena, (size_t)argc * sizeof(char *) + 1);
        if (!a->got[n].v)
            return err_nomem(e);
    }
    table[n] = (struct option){ .name = "help", .val = HELP };

    optind = 0; /* also resets getopt's state of an earlier parse */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        enum status s = ST_OK;
        if (c == HELP || c == 'h') {
            a->wants_help = true;
            return ST_OK;
        }
        if (c == ':')
            s = optopt >= FIRST ? err_set(e, ST_INVALID, "--%s needs a value: --%s %s",
                                          opts[optopt - FIRST].name, opts[optopt - FIRST].name,
                                          opts[optopt - FIRST].value)
                                : err_set(e, ST_INVALID, "-%c needs a value", optopt);
        else if (c == '?')
            s = optopt >= FIRST || optopt == HELP
                    ? err_set(e, ST_INVALID, "--%s takes no value",
                              optopt == HELP ? "help" : opts[optopt - FIRST].name)
                : isdigit(optopt)
                    ? err_set(e, ST_INVALID,
                              "unknown option -%c (write -- before an argument that begins with -)",
                              optopt)
                : optopt ? err_set(e, ST_INVALID, "unknown option -%c", optopt)
                         : unknown(opts, argv[optind - 1], e);
        else
            s = add_value(a, c >= FIRST ? (size_t)(c - FIRST) : by_letter(opts, c), optarg, e);
        if (s)
            return s;
    }
    a->words = (const char *const *)argv + optind;
    a->n_words = (size_t)(argc - optind);

    for (size_t i = 0; i < n; i++)
        if (opts[i].is_required && a->got[i].n == 0)
            return err_set(e, ST_INVALID, "--%s %s is missing", opts[i].name, opts[i].value);
    if (a->n_words > max_words)
        return err_set(e, ST_INVALID, "unexpected argument \"%s\"", a->words[max_words]);
    if (a->n_words < min_words)
        return err_set(e, ST_INVALID, "an argument is missing");
    return ST_OK;
}

void
args_release(struct args *a)
{
    arena_release(&a->arena);
}

static size_t
find(const struct args *a, const char *name)
{
    size_t i = 0;

    while (a->opts[i].name && strcmp(a->opts[i].name, name) != 0)
        i++;
    assert(a->opts[i].name);
    return i;
}

bool
args_has(const struct args *a, const char *name)
{
    return a->got[find(a, name)].n > 0;
}

const char *
args_text(const struct args *a, const char *name)
{
    size_t i = find(a, name);

    return a->got[i].n ? a->got[i].v[0] : NULL;
}

const char *const *
args_many(const struct args *a, const char *name, size_t *n)
{
    size_t i = find(a, name);

    *n = a->got[i].n;
    return a->got[i].v;
}

uint64_t
args_number(const struct args *a, const char *name, uint64_t otherwise)
{
    const char *text = args_text(a, name);
    uint64_t n = otherwise;

    if (text)
        parse_number(text, &n);
    return n;
}

int64_t
args_ms(const struct args *a, const char *name, int64_t otherwise)
{
    const char *text = args_text(a, name);
    int64_t ms = otherwise;

    if (text)
        opt_parse_ms(text, &ms);
    return ms;
}
