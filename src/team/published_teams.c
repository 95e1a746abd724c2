#define _GNU_SOURCE /* scandirat, renameat2 */
#include "team/published_teams.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "team/package.h"
#include "team/team.h"
#include "team/version.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INFO_MAX = 64 << 10 };

static enum status
open_all(const char *config, bool create, int *dir, struct err *e)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s/teams-hub", config);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = path_open_dir(path.p, create, dir, e);
    buf_release(&path);
    return s;
}

static bool
is_scope_name(const char *scope)
{
    return scope[0] == '@' && path_is_name(scope + 1);
}

/* The directory of a team's versions. ST_NOT_FOUND says so of the team. */
static enum status
open_team(const char *config, const char *scope, const char *name, bool create, int *dir,
          struct err *e)
{
    int all = -1, at = -1;
    enum status s = ST_NOT_FOUND;

    if (is_scope_name(scope) && path_is_name(name))
        s = open_all(config, create, &all, e);
    if (!s)
        s = path_open_dir_at(all, scope, create, &at, e);
    if (!s)
        s = path_open_dir_at(at, name, create, dir, e);
    if (all >= 0)
        close(all);
    if (at >= 0)
        close(at);
    return s == ST_NOT_FOUND
               ? err_set(e, ST_NOT_FOUND, "no team %.80s/%.80s is published", scope, name)
               : s;
}

/* ---- one version ---- */

struct published_version {
    char text[256];
    struct version v;
};

/* "1.2.0" below the open directory of the team. */
static enum status
read_file(int team, const char *version, const char *name, struct buf *to, struct err *e)
{
    int dir;
    enum status s = path_open_dir_at(team, version, false, &dir, e);

    if (s)
        return s;
    s = path_read_file(dir, name, to, e);
    close(dir);
    while (!s && strcmp(name, "info.json") == 0 && to->len && to->p[to->len - 1] == '\n')
        buf_cut(to, to->len - 1);
    return s;
}

/* Newest first; a pre-release before its release is older. */
static int
by_version(const void *a, const void *b)
{
    const struct published_version *p = a, *q = b;
    int c = version_compare(&q->v, &p->v);

    return c                            ? c
           : p->v.is_pre != q->v.is_pre ? p->v.is_pre - q->v.is_pre
                                        : strcmp(q->text, p->text);
}

static int
is_version(const struct dirent *d)
{
    struct version v;

    return path_is_name(d->d_name) && version_parse(d->d_name, &v);
}

/* The versions of a team; the caller frees *out. */
static enum status
list_versions(int team, struct published_version **out, size_t *n, struct err *e)
{
    struct dirent **found = NULL;
    int k = scandirat(team, ".", &found, is_version, NULL);

    *n = 0;
    *out = NULL;
    if (k < 0)
        return err_sys(e, "list the versions");
    if (k > 0 && !(*out = calloc((size_t)k, sizeof **out)))
        k = 0;
    for (int i = 0; i < k; i++) {
        snprintf((*out)[i].text, sizeof(*out)[i].text, "%s", found[i]->d_name);
        version_parse(found[i]->d_name, &(*out)[(*n)++].v);
        free(found[i]);
    }
    free(found);
    if (*n)
        qsort(*out, *n, sizeof **out, by_version);
    return ST_OK;
}

/* ---- publishing ---- */

/* The owner in the newest version, in the arena; NULL: the name has no owner yet. */
static const char *
owner_of(int team, struct arena *a)
{
    struct published_version *v;
    struct buf info = BUF_MAX(INFO_MAX);
    struct json *doc = NULL;
    const char *owner = NULL;
    size_t n;

    if (list_versions(team, &v, &n, NULL) == ST_OK && n &&
        read_file(team, v[0].text, "info.json", &info, NULL) == ST_OK &&
        json_parse(a, info.p, info.len, &doc, NULL))
        owner = json_dup_text(a, json_get(doc, "owner"));
    free(v);
    buf_release(&info);
    return owner;
}

static void
write_info(struct buf *to, const struct team *t, const struct buf *package, const char *by,
           const char *owner)
{
    char sum[DIGEST_HEX_SIZE], at[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_str(to, "name", t->name);
    json_key_str(to, "version", t->version);
    json_key_str(to, "description", t->description ? t->description : "");
    json_key_int(to, "phases", (int64_t)t->n_phases);
    json_key_int(to, "bytes", (int64_t)package->len);
    json_key_str(to, "sha256", digest_sha256_hex(sum, package->p, package->len));
    json_key_str(to, "owner", owner);
    json_key_str(to, "published_by", by);
    json_key_str(to, "published_at", clock_iso(at, clock_wall_ns(), false));
    json_close(to, '}');
}

static enum status
write_file(int dir, const char *name, const struct buf *text, struct err *e)
{
    int fd = SYS_RETRY(sys->openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    enum status s = fd < 0 ? err_sys(e, "create %s", name) : ST_OK;

    for (size_t at = 0; !s && at < text->len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, text->p + at, text->len - at));
        if (n < 0)
            s = err_sys(e, "write %s", name);
        else
            at += (size_t)n;
    }
    if (!s && sys->fsync(fd) != 0)
        s = err_sys(e, "sync %s", name);
    if (fd >= 0)
        close(fd);
    return s;
}

static enum status
put(int team, const struct team *t, const struct buf *package, const struct buf *info,
    struct err *e)
{
    char temp[40];
    int dir = -1;

    snprintf(temp, sizeof temp, ".new-%ld", (long)sys->getpid()); /* of this server alone */
    enum status s = tree_remove(team, temp, e);
    if (!s)
        s = path_open_dir_at(team, temp, true, &dir, e);
    if (!s)
        s = write_file(dir, "package.tgz", package, e);
    if (!s)
        s = write_file(dir, "info.json", info, e);
    if (!s && sys->fsync(dir) != 0)
        s = err_sys(e, "sync the version");
    if (!s && renameat2(team, temp, team, t->version, RENAME_NOREPLACE) != 0)
        s = errno == EEXIST || errno == ENOTEMPTY
                ? err_set(e, ST_CONFLICT,
                          "%s %s is published already, and a version never changes: give it the "
                          "next one with cliq team version",
                          t->name, t->version)
                : err_sys(e, "publish %s", t->name);
    if (!s && sys->fsync(team) != 0)
        s = err_sys(e, "sync the team");
    if (dir >= 0)
        close(dir);
    if (s)
        (void)tree_remove(team, temp, NULL);
    return s;
}

/* The team in the package: with a scope, a version, and no errors that team.yml alone can show. */
static enum status
load(const struct buf *package, struct team *t, struct err *e)
{
    struct buf text = BUF_MAX(YAML_MAX_BYTES);
    struct problems p = { 0 };
    struct version v;
    enum status s = package_check(package, &text, e);

    if (!s) {
        s = team_load(t, "team.yml", text.p ? text.p : "", text.len, &p, e);
        if (s == ST_OK)
            team_validate(t, -1, NULL, &p);
    }
    const struct problem *first = p.first;
    while (first && first->is_warning)
        first = first->next;
    if (first)
        s = err_set(e, ST_INVALID, "team.yml:%u:%u: %s", first->line, first->column, first->text);
    if (!s && (!t->name || t->name[0] != '@'))
        s = err_set(e, ST_INVALID, "a published team is called @scope/name");
    if (!s && (!t->version || !version_parse(t->version, &v) || !path_is_name(t->version)))
        s = err_set(e, ST_INVALID,
                    "a published team has a version like 1.2.3: cliq team version patch gives one");
    problems_release(&p);
    buf_release(&text);
    return s == ST_REFUSED ? ST_INVALID : s;
}

enum status
published_teams_add(const char *config, const struct publisher *by, const struct buf *package,
                    struct buf *json, struct err *e)
{
    struct team t = { 0 };
    struct arena a = { 0 };
    char scope[80] = "";
    int team = -1;
    enum status s = load(package, &t, e);

    if (!s) {
        const char *slash = strchr(t.name, '/');
        snprintf(scope, sizeof scope, "%.*s", (int)(slash - t.name), t.name);
        if (!path_is_name(slash + 1) || (size_t)(slash - t.name) >= sizeof scope)
            s = err_set(e, ST_INVALID, "the team's name is too long");
        else
            s = open_team(config, scope, slash + 1, true, &team, e);
    }
    const char *owner = s ? NULL : owner_of(team, &a);
    if (!s && owner && !by->is_admin && strcmp(owner, by->identity) != 0)
        s = err_set(e, ST_REFUSED, "%s belongs to %s, who published it first", t.name, owner);
    if (!s) {
        write_info(json, &t, package, by->identity, owner ? owner : by->identity);
        s = buf_status(json, "the info", e);
    }
    if (!s)
        s = put(team, &t, package, json, e);
    if (team >= 0)
        close(team);
    arena_release(&a);
    team_release(&t);
    return s;
}

/* ---- reading ---- */

enum status
published_teams_versions(const char *config, const char *scope, const char *name, struct buf *json,
                         struct err *e)
{
    struct published_version *v = NULL;
    size_t n = 0;
    int team = -1;
    enum status s = open_team(config, scope, name, false, &team, e);

    if (!s)
        s = list_versions(team, &v, &n, e);
    if (!s && n == 0)
        s = err_set(e, ST_NOT_FOUND, "no team %.80s/%.80s is published", scope, name);
    json_open(json, '[');
    for (size_t i = 0; !s && i < n; i++) {
        json_sep(json);
        s = read_file(team, v[i].text, "info.json", json, e);
    }
    json_close(json, ']');
    free(v);
    if (team >= 0)
        close(team);
    return s ? s : buf_status(json, "the list", e);
}

enum status
published_teams_read(const char *config, const char *scope, const char *name, const char *version,
                     struct buf *package, struct err *e)
{
    int team = -1;
    enum status s = open_team(config, scope, name, false, &team, e);

    if (s)
        return s;
    s = path_is_name(version) ? read_file(team, version, "package.tgz", package, e) : ST_NOT_FOUND;
    if (s == ST_NOT_FOUND)
        s = err_set(e, ST_NOT_FOUND, "%s/%s has no version %.80s", scope, name, version);
    close(team);
    return s;
}

static int
is_scope(const struct dirent *d)
{
    return is_scope_name(d->d_name);
}

static int
is_name(const struct dirent *d)
{
    return path_is_name(d->d_name);
}

static bool
has_words(const struct buf *info, const char *words)
{
    struct arena a = { 0 };
    struct json *doc = NULL;
    bool has = false;

    if (json_parse(&a, info->p, info->len, &doc, NULL)) {
        const char *name = json_dup_text(&a, json_get(doc, "name"));
        const char *says = json_dup_text(&a, json_get(doc, "description"));
        has = (name && strcasestr(name, words)) || (says && strcasestr(says, words));
    }
    arena_release(&a);
    return has;
}

/* The newest version of one team, if it has the words. A team without versions is passed over. */
static enum status
list_team(int scope, const char *name, const char *words, struct buf *json, struct err *e)
{
    struct published_version *v = NULL;
    struct buf info = BUF_MAX(INFO_MAX);
    size_t n = 0;
    int team;
    enum status s = path_open_dir_at(scope, name, false, &team, NULL);

    if (s)
        return ST_OK;
    s = list_versions(team, &v, &n, e);
    if (!s && n)
        s = read_file(team, v[0].text, "info.json", &info, e);
    if (!s && n && (!words || !*words || has_words(&info, words))) {
        json_sep(json);
        buf_add(json, info.p, info.len);
    }
    free(v);
    buf_release(&info);
    close(team);
    return s;
}

static enum status
list_scope(int all, const char *name, const char *words, struct buf *json, struct err *e)
{
    struct dirent **found = NULL;
    int scope;
    enum status s = path_open_dir_at(all, name, false, &scope, NULL);

    if (s)
        return ST_OK;
    int n = scandirat(scope, ".", &found, is_name, alphasort);
    s = n < 0 ? err_sys(e, "list %s", name) : ST_OK;
    for (int i = 0; i < n; i++) {
        if (!s)
            s = list_team(scope, found[i]->d_name, words, json, e);
        free(found[i]);
    }
    free(found);
    close(scope);
    return s;
}

enum status
published_teams_list(const char *config, const char *words, struct buf *json, struct err *e)
{
    struct dirent **found = NULL;
    int all = -1, n = 0;
    enum status s = open_all(config, false, &all, e);

    json_open(json, '[');
    if (!s && (n = scandirat(all, ".", &found, is_scope, alphasort)) < 0)
        s = err_sys(e, "list the published teams");
    for (int i = 0; i < n; i++) {
        if (!s)
            s = list_scope(all, found[i]->d_name, words, json, e);
        free(found[i]);
    }
    free(found);
    json_close(json, ']');
    if (all >= 0)
        close(all);
    return s && s != ST_NOT_FOUND ? s : buf_status(json, "the list", e);
}
