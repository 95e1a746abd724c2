#include "team/input.h"

#include "base/suggest.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum status
input_check_utf8(const char *what, const char *p, size_t n, struct err *e)
{
    size_t good = utf8_valid_len(p, n), line = 1, column = 1;

    if (good == n)
        return ST_OK;
    for (size_t i = 0; i < good; i += utf8_char(p + i, good - i)) {
        column = p[i] == '\n' ? 1 : column + 1;
        line += p[i] == '\n';
    }
    return err_set(e, ST_INVALID, "%s:%zu:%zu: not UTF-8 text: byte %zu is 0x%02x", what, line,
                   column, good + 1, (unsigned char)p[good]);
}

enum status
input_check_choice(const struct team_input *in, const char *value, struct err *e)
{
    struct buf all = { 0 };

    for (size_t i = 0; i < in->n_choices; i++) {
        if (strcmp(in->choices[i], value) == 0) {
            buf_release(&all);
            return ST_OK;
        }
        buf_addf(&all, "%s%s", i ? ", " : "", in->choices[i]);
    }
    enum status s = in->n_choices ? err_set(e, ST_INVALID, "input %s cannot be \"%s\": choose %s",
                                            in->name, value, all.p ? all.p : "another")
                                  : ST_OK;
    buf_release(&all);
    return s;
}

const char *
input_given(const char *const *given, size_t n, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = n; i > 0; i--)
        if (strncmp(given[i - 1], name, len) == 0 && given[i - 1][len] == '=')
            return given[i - 1] + len + 1;
    return NULL;
}

static enum status
no_input(const struct team *t, const char *name, size_t len, struct err *e)
{
    struct buf all = { 0 };

    char word[128];
    struct suggest near = { .word = word };

    snprintf(word, sizeof word, "%.*s", (int)(len < 100 ? len : 100), name);
    for (size_t i = 0; i < t->n_inputs; i++) {
        buf_addf(&all, "%s%s", i ? ", " : "; it has ", t->inputs[i].name);
        suggest_try(&near, t->inputs[i].name);
    }
    enum status s = err_set(e, ST_INVALID, "the team has no input \"%s\"%s%s%s%s", word,
                            near.best ? " (did you mean " : "", near.best ? near.best : "",
                            near.best ? "?)" : "", all.p ? all.p : " and needs none");
    buf_release(&all);
    return s;
}

static enum status
check_one(const struct team *t, const char *given, struct err *e)
{
    size_t len = strcspn(given, "=");

    if (given[len] != '=')
        return err_set(e, ST_INVALID, "--input needs NAME=VALUE, not \"%.200s\"", given);
    enum status s = input_check_utf8("--input", given, strlen(given), e);
    if (s)
        return s;
    for (size_t i = 0; i < t->n_inputs; i++) {
        const struct team_input *in = &t->inputs[i];
        if (strlen(in->name) == len && memcmp(in->name, given, len) == 0)
            return input_check_choice(in, given + len + 1, e);
    }
    return no_input(t, given, len, e);
}

enum status
input_check(const struct team *t, const char *const *given, size_t n, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; i < n && !s; i++)
        s = check_one(t, given[i], e);
    return s;
}
