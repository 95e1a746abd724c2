#define _GNU_SOURCE /* scandirat */
#include "team/installed_teams.h"

#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "team/team.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status
teams_path(struct buf *to, struct err *e)
{
    enum status s = path_config(to, e);

    if (s)
        return s;
    buf_adds(to, "/teams");
    return buf_status(to, "the path of the teams", e);
}

/* ---- the list ---- */

struct team_listing {
    struct arena *arena;
    const char *base;
    struct installed_team *v;
    size_t n, cap;
};

/* The first error, as one sentence. */
static const char *
first_error(struct arena *a, const struct problems *p, const struct err *e)
{
    const struct problem *one = p->first;
    struct err text;

    while (one && one->is_warning)
        one = one->next;
    if (one)
        err_say(&text, "team.yml:%u:%u: %s", one->line, one->column, one->text);
    else
        text = *e;
    return arena_dup(a, text.text, strlen(text.text));
}

static const char *
kept(struct arena *a, const char *text)
{
    return text ? arena_dup(a, text, strlen(text)) : NULL;
}

static enum status
look(struct team_listing *l, int dir, struct installed_team *t, struct err *e)
{
    struct problems problems = { 0 };
    struct team team;
    struct err why = { "" };
    enum status s = team_load_file(&team, dir, "team.yml", &problems, &why);

    t->version = kept(l->arena, team.version);
    t->description = kept(l->arena, team.description);
    t->n_phases = team.n_phases;
    if (s && !(t->fault = first_error(l->arena, &problems, &why)))
        s = err_nomem(e);
    else
        s = ST_OK;
    team_release(&team);
    problems_release(&problems);
    return s;
}

static bool
grow(struct team_listing *l)
{
    size_t cap = l->cap ? 2 * l->cap : 16;
    struct installed_team *v = l->n < l->cap ? l->v : arena_alloc(l->arena, cap * sizeof *v);

    if (!v || v == l->v)
        return v != NULL;
    if (l->n)
        memcpy(v, l->v, l->n * sizeof *v);
    l->v = v;
    l->cap = cap;
    return true;
}

static enum status
add(struct team_listing *l, int scope_dir, const char *scope, const char *name, struct err *e)
{
    struct buf ref = { 0 };
    int dir;

    if (faccessat(scope_dir, name, X_OK, 0) != 0 ||
        (dir = openat(scope_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return ST_OK;
    enum status s = grow(l) ? ST_OK : err_nomem(e);
    if (!s) {
        struct installed_team *t = &l->v[l->n++];
        *t = (struct installed_team){ 0 };
        buf_addf(&ref, "%s/%s", scope, name);
        t->ref = buf_failed(&ref) ? NULL : arena_dup(l->arena, ref.p, ref.len);
        buf_reset(&ref);
        buf_addf(&ref, "%s/%s/%s", l->base, scope, name);
        t->dir = buf_failed(&ref) ? NULL : arena_dup(l->arena, ref.p, ref.len);
        s = t->ref && t->dir ? look(l, dir, t, e) : err_nomem(e);
    }
    close(dir);
    buf_release(&ref);
    return s;
}

static int
is_scope(const struct dirent *d)
{
    return d->d_name[0] == '@' && path_is_name(d->d_name + 1);
}

static int
is_name(const struct dirent *d)
{
    return path_is_name(d->d_name);
}

static enum status
add_scope(struct team_listing *l, int all, const char *scope, struct err *e)
{
    struct dirent **found = NULL;
    int dir = openat(all, scope, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int n = dir < 0 ? 0 : scandirat(dir, ".", &found, is_name, alphasort);
    enum status s = n < 0 ? err_sys(e, "list %s/%s", l->base, scope) : ST_OK;

    for (int i = 0; i < n; i++) {
        if (!s)
            s = add(l, dir, scope, found[i]->d_name, e);
        free(found[i]);
    }
    free(found);
    if (dir >= 0)
        close(dir);
    return s;
}

enum status
installed_teams_list(struct arena *a, struct installed_team **out, size_t *n, struct err *e)
{
    struct buf base = { 0 };
    struct dirent **found = NULL;
    enum status s = teams_path(&base, e);
    int all = s ? -1 : open(base.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct team_listing l = { .arena = a, .base = base.p };

    if (!s && all < 0 && errno != ENOENT)
        s = err_sys(e, "open %s", base.p);
    int n_scopes = all < 0 ? 0 : scandirat(all, ".", &found, is_scope, alphasort);
    if (n_scopes < 0)
        s = err_sys(e, "list %s", base.p);
    for (int i = 0; i < n_scopes; i++) {
        if (!s)
            s = add_scope(&l, all, found[i]->d_name, e);
        free(found[i]);
    }
    free(found);
    *out = l.v;
    *n = l.n;
    if (all >= 0)
        close(all);
    buf_release(&base);
    return s;
}

/* ---- one ---- */

/* No such team: which one may be meant, and which there are. */
static enum status
not_found(const char *ref, struct err *e)
{
    struct arena a = { 0 };
    struct installed_team *v;
    struct buf list = { 0 };
    struct suggest near = { .word = ref };
    size_t n;
    enum status s = installed_teams_list(&a, &v, &n, e);

    for (size_t i = 0; !s && i < n; i++) {
        suggest_try(&near, v[i].ref);
        buf_addf(&list, "%s%s", i ? ", " : "", v[i].ref);
    }
    if (!s)
        s = err_set(e, ST_NOT_FOUND, "the team %s is not installed%s%s%s%s%s", ref,
                    near.best ? " (did you mean " : "", near.best ? near.best : "",
                    near.best ? "?)" : "", list.len ? "; these are: " : "; no team is",
                    list.p ? list.p : "");
    buf_release(&list);
    arena_release(&a);
    return s;
}

enum status
installed_team_dir(const char *ref, struct buf *to, struct err *e)
{
    struct buf full = { 0 };
    enum status s = ST_OK;

    if (!team_is_name(ref))
        return err_set(e, ST_INVALID,
                       "\"%.200s\" is no team: write a directory like ./my-team, or the name of an "
                       "installed team like @scope/name",
                       ref);
    buf_addf(&full, "%s%s", ref[0] == '@' ? "" : "@local/", ref);
    s = teams_path(to, e);
    buf_addf(to, "/%s", full.p ? full.p : "");
    if (!s)
        s = buf_status(to, "the team's path", e);
    if (!s && access(to->p, X_OK) != 0)
        s = errno == ENOENT || errno == ENOTDIR ? not_found(full.p, e)
                                                : err_sys(e, "open %s", to->p);
    buf_release(&full);
    return s;
}
