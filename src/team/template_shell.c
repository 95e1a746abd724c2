/*
 * template_shell - replaces variables in commands for sh by references to environment variables, so
 * that a value is never part of the command's text. template_lex.h finds how each use is quoted.
 */
#include "team/template.h"

#include "team/template_lex.h"

#include <stdio.h>
#include <string.h>

enum status
template_check_shell(const char *text, const char **warning, struct err *e)
{
    struct arena a = { 0 };
    struct lexer l;
    enum status s = template_lex(&l, &a, text, e);

    *warning = s ? NULL : l.warning;
    arena_release(&a);
    return s;
}

/* -?[0-9]{1,18} without a leading zero, which would make it octal. */
static bool
is_whole(const struct buf *v)
{
    const char *p = v->p;
    size_t n = v->len;

    if (n && *p == '-')
        p++, n--;
    return n && n <= 18 && strspn(p, "0123456789") == n && (n == 1 || *p != '0');
}

static enum status
check_value(const struct use *u, const struct buf *v, struct err *e)
{
    int n = u->form.name_len < 200 ? (int)u->form.name_len : 200;

    if (memchr(v->p, '\0', v->len))
        return err_set(e, ST_INVALID,
                       "the value of $(%.*s) holds a NUL byte, which no command can be given: "
                       "hand it over in a file",
                       n, u->form.name);
    if (v->len > TEMPLATE_ENV_MAX)
        return err_set(e, ST_INVALID,
                       "the value of $(%.*s) is %zu bytes, more than the %d that a command can be "
                       "given: hand it over in a file",
                       n, u->form.name, v->len, TEMPLATE_ENV_MAX);
    if (u->is_number && !is_whole(v))
        return err_set(e, ST_INVALID,
                       "$(%.*s) stands in arithmetic, but its value is not a whole number", n,
                       u->form.name);
    return ST_OK;
}

/* The number of the variable that holds v, which is added when new; 0: out of memory. */
static size_t
env_number(struct arena *a, const struct buf *v, struct template_env *env, size_t *n_env)
{
    char name[32];

    for (size_t i = 0; i < *n_env; i++)
        if (strlen(env[i].value) == v->len && !memcmp(env[i].value, v->p, v->len))
            return i + 1;
    snprintf(name, sizeof name, "CLIQ_T_%zu", *n_env + 1);
    env[*n_env] =
        (struct template_env){ arena_dup(a, name, strlen(name)), arena_dup(a, v->p, v->len) };
    if (!env[*n_env].name || !env[*n_env].value)
        return 0;
    return ++*n_env;
}

enum status
template_shell(struct arena *a, struct buf *to, const char *text, const struct template_scope *s,
               struct template_env **env, size_t *n_env, struct err *e)
{
    struct lexer l;
    struct buf v = { 0 };
    size_t from = 0;
    enum status st = template_lex(&l, a, text, e);

    if (!st && l.n) {
        struct template_env *more = arena_alloc(a, (*n_env + l.n) * sizeof *more);
        if (!more)
            return err_nomem(e);
        if (*n_env)
            memcpy(more, *env, *n_env * sizeof *more);
        *env = more;
    }
    for (size_t i = 0; i < l.n && !st; i++) {
        const struct use *u = &l.uses[i];
        buf_reset(&v);
        buf_adds(&v, ""); /* so that v.p is not NULL */
        st = template_value(&v, &u->form, s, e);
        if (!st)
            st = buf_status(&v, "the value", e);
        if (!st)
            st = check_value(u, &v, e);
        if (st)
            break;
        size_t number = env_number(a, &v, *env, n_env);
        if (!number)
            st = err_nomem(e);
        buf_add(to, text + from, u->offset - from);
        buf_addf(to, u->is_quoted ? "${%s}" : "\"${%s}\"", number ? (*env)[number - 1].name : "");
        from = u->offset + u->form.len;
    }
    if (!st)
        buf_adds(to, text + from);
    buf_release(&v);
    return st ? st : buf_status(to, "the command", e);
}
