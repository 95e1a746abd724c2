/*
 * template_program - finds the word of a command that is a program in another language: the script
 * of awk, sed or jq, the file of `.`. Its other words are data.
 */
#include "team/template_lex.h"

#include <string.h>

#define RISK_AWK                                                                                   \
    "a template value in an awk program is read as code: hand it over with -v NAME=VALUE"
#define RISK_SED                                                                                   \
    "a template value in a sed script is read as code, which can write files and run commands"
#define RISK_JQ                                                                                    \
    "a template value in a jq program is read as code: hand it over with --arg NAME VALUE"
#define RISK_DOT "a template value names the file that the shell runs as code (. or source)"

struct long_option {
    const char *name;
    unsigned n; /* words that follow it */
    enum program_next next;
};

struct language {
    const char *names;        /* of its interpreters, each between blanks */
    const char *risk;         /* the warning */
    const char *code, *file;  /* letters of options: the argument is code, or names its file */
    const char *value, *rest; /* the argument is data; the rest of the word is data */
    struct long_option options[8];
};

static const struct language languages[] = {
    { " awk gawk mawk nawk ",
      RISK_AWK,
      "e",
      "fE",
      "FvilW",
      "",
      { { "--source", 1, NEXT_CODE },
        { "--file", 1, NEXT_FILE },
        { "--exec", 1, NEXT_FILE },
        { "--assign", 1, NEXT_DATA },
        { "--field-separator", 1, NEXT_DATA },
        { "--include", 1, NEXT_DATA },
        { "--load", 1, NEXT_DATA } } },
    { " sed gsed ",
      RISK_SED,
      "e",
      "f",
      "l",
      "i",
      { { "--expression", 1, NEXT_CODE },
        { "--file", 1, NEXT_FILE },
        { "--line-length", 1, NEXT_DATA } } },
    { " jq gojq jaq ",
      RISK_JQ,
      "",
      "f",
      "L",
      "",
      { { "--from-file", 1, NEXT_FILE },
        { "--arg", 2, NEXT_DATA },
        { "--argjson", 2, NEXT_DATA },
        { "--slurpfile", 2, NEXT_DATA },
        { "--rawfile", 2, NEXT_DATA },
        { "--argfile", 2, NEXT_DATA },
        { "--indent", 1, NEXT_DATA } } },
    { " . source ", RISK_DOT, "", "", "", "", { { 0 } } },
};

void
program_begin(struct program *p, const char *name, size_t n)
{
    *p = (struct program){ 0 };
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        for (const char *s = languages[i].names; (s = strchr(s, ' ')) && s[1]; s++)
            if (strcspn(s + 1, " ") == n && memcmp(s + 1, name, n) == 0)
                p->language = &languages[i];
}

static bool
is_option(const struct program *p, const char *word, size_t n)
{
    return !p->is_plain && n > 1 && word[0] == '-';
}

/* The meaning of the word behind one of letters, "-nE", and whether that is in the word itself,
 * "-es/a/b/". */
static enum program_next
read_letters(const struct language *l, const char *word, size_t n, bool *is_attached)
{
    for (size_t i = 1; i < n; i++) {
        *is_attached = i + 1 < n;
        if (strchr(l->code, word[i]))
            return NEXT_CODE;
        if (strchr(l->file, word[i]))
            return NEXT_FILE;
        if (strchr(l->value, word[i]))
            return NEXT_DATA;
        if (strchr(l->rest, word[i]))
            break;
    }
    *is_attached = false;
    return NEXT_ANY;
}

/* The long option whose name the word is, or begins with: "--file=x"; NULL: none. */
static const struct long_option *
find_long(const struct language *l, const char *word, size_t n, bool *is_attached)
{
    const char *equals = memchr(word, '=', n);
    size_t len = equals ? (size_t)(equals - word) : n;

    *is_attached = equals;
    for (size_t i = 0; i < sizeof l->options / sizeof *l->options && l->options[i].name; i++)
        if (strlen(l->options[i].name) == len && memcmp(l->options[i].name, word, len) == 0)
            return &l->options[i];
    return NULL;
}

const char *
program_risk(const struct program *p, const char *word, size_t n)
{
    bool is_attached;

    if (!p->language || p->next == NEXT_DATA || p->next == NEXT_FILE)
        return NULL;
    if (p->next == NEXT_CODE)
        return p->language->risk;
    if (!is_option(p, word, n))
        return p->is_found ? NULL : p->language->risk;
    if (word[1] == '-') {
        const struct long_option *o = find_long(p->language, word, n, &is_attached);
        return o && is_attached && o->next == NEXT_CODE ? p->language->risk : NULL;
    }
    return read_letters(p->language, word, n, &is_attached) == NEXT_CODE ? p->language->risk : NULL;
}

void
program_word(struct program *p, const char *word, size_t n)
{
    bool is_attached = false;
    enum program_next next = NEXT_ANY;
    unsigned words = 1;

    if (!p->language)
        return;
    if (p->next != NEXT_ANY) {
        if (--p->n_next == 0)
            p->next = NEXT_ANY;
        return;
    }
    if (!is_option(p, word, n)) {
        p->is_found = true;
        return;
    }
    if (n == 2 && word[1] == '-') {
        p->is_plain = true;
        return;
    }
    if (word[1] == '-') {
        const struct long_option *o = find_long(p->language, word, n, &is_attached);
        next = o ? o->next : NEXT_ANY;
        words = o ? o->n : 0;
    } else {
        next = read_letters(p->language, word, n, &is_attached);
    }
    p->is_found |= next == NEXT_CODE || next == NEXT_FILE;
    if (next != NEXT_ANY && !is_attached) {
        p->next = next;
        p->n_next = words;
    }
}
