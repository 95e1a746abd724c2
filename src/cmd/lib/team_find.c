#include "cmd/lib/team_find.h"

#include "base/path.h"
#include "base/sys.h"
#include "cmd/lib/team_source.h"
#include "context/state_dir.h"
#include "team/installed_teams.h"
#include "team/package.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = { "team.yml", "workflow.yml", ".cliq/workflow.yml" };

/* A file, or what stands in its place: reading it tells what that is. */
static bool
is_there(const char *path, bool may_be_dir)
{
    struct stat st;

    return sys->fstatat(AT_FDCWD, path, &st, 0) == 0 && (may_be_dir || !S_ISDIR(st.st_mode));
}

/* The path of the team's file, short when it is in this directory. */
static enum status
find_file(struct buf *to, const char *where, struct err *e)
{
    size_t n = strlen(where);

    if (is_there(where, false)) {
        buf_adds(to, where);
        return buf_status(to, "the path", e);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        buf_reset(to);
        if (strcmp(where, ".") != 0)
            buf_addf(to, "%s%s", where, n > 0 && where[n - 1] == '/' ? "" : "/");
        buf_adds(to, places[i]);
        enum status s = buf_status(to, "the path", e);
        if (s || is_there(to->p, true))
            return s;
    }
    int dir;
    enum status s = path_open_dir(where, false, &dir, e);
    if (s)
        return s;
    close(dir);
    return err_set(e, ST_NOT_FOUND, "no team.yml in %s: `cliq team new NAME` makes a team", where);
}

static enum status
open_parent(const char *file, int *dir, struct err *e)
{
    const char *slash = strrchr(file, '/');
    struct buf path = { 0 };

    buf_add(&path, slash ? file : ".", slash ? (size_t)(slash + 1 - file) : 1);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = path_open_dir(path.p, false, dir, e);
    buf_release(&path);
    return s;
}

/* An installed team of that name, where nothing here has it. */
static enum status
find_anywhere(struct buf *to, const char *where, struct err *e)
{
    struct buf dir = { 0 };
    enum status s = find_file(to, where, e);
    bool may_be_name = s == ST_NOT_FOUND && team_is_name(where) && access(where, F_OK) != 0;

    if (may_be_name && where[0] != '@') { /* rather a directory that is not there */
        struct err ignored;
        s = installed_team_dir(where, &dir, &ignored) ? s : ST_OK;
    } else if (may_be_name) {
        s = installed_team_dir(where, &dir, e);
    }
    if (!s && may_be_name)
        s = find_file(to, dir.p, e);
    buf_release(&dir);
    return s;
}

/* Its agents may be those of the settings of the project that we are in. */
static enum status
validate(struct found_team *f, struct err *e)
{
    struct state_dir project = { .dir = -1 };
    bool has_project = state_dir_find(&project, NULL) == ST_OK;

    const char *state_dir = has_project ? project.state_dir : NULL;
    team_validate(&f->team, f->dir, state_dir, &f->problems);
    enum status s = team_subs_load(&f->subs, &f->team, f->dir, state_dir, &f->problems, e);
    state_dir_close(&project);
    return s;
}

/* Loads the team's file, whose path is seen from the directory `at`, and validates it. */
static enum status
load(struct found_team *f, int at, const char *file, struct err *e)
{
    enum status s = team_load_file(&f->team, at, file, &f->problems, e);

    if (s && f->problems.errors > 0 && s != ST_IO) {
        s = ST_OK; /* they are told one by one */
        e->text[0] = '\0';
    }
    return s ? s : validate(f, e);
}

static enum status
find_at(struct found_team *f, const char *where, struct err *e)
{
    *f = (struct found_team){ .dir = -1 };

    enum status s = find_anywhere(&f->file, where, e);
    if (!s)
        s = open_parent(f->file.p, &f->dir, e);
    return s ? s : load(f, AT_FDCWD, f->file.p, e);
}

static enum status
find_in_package(struct found_team *f, const char *path, struct err *e)
{
    struct buf bytes = BUF_MAX(PACKAGE_PACKED_MAX);

    *f = (struct found_team){ .dir = -1 };

    enum status s = team_source_package(path, &bytes, e);
    if (!s) {
        f->is_package = true;
        s = package_place_open(&f->place, &bytes, e);
    }
    if (s == ST_FAILED && f->place.problems.errors) {
        s = ST_OK; /* they are found again, and told one by one */
        e->text[0] = '\0';
    }
    buf_release(&bytes);
    if (!s && (f->dir = fcntl(f->place.dir, F_DUPFD_CLOEXEC, 0)) < 0)
        s = err_sys(e, "open %s", f->place.path.p);
    buf_adds(&f->file, path);
    if (!s)
        s = buf_status(&f->file, "the path", e);
    return s ? s : load(f, f->dir, "team.yml", e);
}

static bool
is_package(const char *where)
{
    struct team_ref r;
    bool is_one = team_ref_parse(&r, where, NULL) == ST_OK && r.kind == TEAM_REF_PACKAGE;

    team_ref_release(&r);
    return is_one;
}

enum status
team_find(struct found_team *f, const struct args *a, struct err *e)
{
    const char *where = a->n_words ? a->words[0] : ".";

    return is_package(where) ? find_in_package(f, where, e) : find_at(f, where, e);
}

enum status
team_find_own(struct found_team *f, const char *where, struct err *e)
{
    static const char own[] = "team.yml";

    *f = (struct found_team){ .dir = -1 };
    if (is_package(where))
        return err_set(e, ST_INVALID,
                       "%s is a package: unpack it, change the team, and pack it again", where);
    enum status s = find_at(f, where, e);
    size_t n = sizeof own - 1, len = f->file.len;
    if (s)
        return s;
    if (len < n || strcmp(f->file.p + len - n, own) != 0 ||
        (len > n && f->file.p[len - n - 1] != '/'))
        return err_set(e, ST_NOT_FOUND,
                       "%s is what cliq assemble made: change the team.yml that it came from",
                       f->file.p);
    if (!f->team.node && f->problems.first)
        return err_set(e, ST_INVALID, "%s:%u:%u: %s", f->file.p, f->problems.first->line,
                       f->problems.first->column, f->problems.first->text);
    return ST_OK;
}

enum status
team_find_published(struct found_team *f, const char *where, struct err *e)
{
    return is_package(where) ? find_in_package(f, where, e) : team_find_own(f, where, e);
}

enum status
team_find_tell(struct found_team *f, const char *done, struct err *e)
{
    struct buf out = { 0 };

    problems_write(&out, &f->problems);
    if (out.len)
        fputs(out.p, stderr);
    buf_release(&out);
    return f->problems.errors
               ? err_set(e, ST_FAILED, "the team has %zu error%s; nothing was %s",
                         f->problems.errors, f->problems.errors == 1 ? "" : "s", done)
               : ST_OK;
}

void
team_find_release(struct found_team *f)
{
    team_subs_release(&f->subs);
    team_release(&f->team);
    problems_release(&f->problems);
    buf_release(&f->file);
    if (f->dir >= 0)
        close(f->dir);
    f->dir = -1;
    if (f->is_package)
        package_place_close(&f->place);
    f->is_package = false;
}
