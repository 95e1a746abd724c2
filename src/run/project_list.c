#define _GNU_SOURCE
#include "run/project_list.h"

#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROJECTS "projects"
enum { NAME_SIZE = 80 };

/* ---- paths ---- */

/* The path as the user's shell shows it: links in it stay. */
static char *
known_path(const char *path)
{
    const char *pwd = getenv("PWD");
    struct stat a, b;

    /* The project is at or above the working directory, as the state directory was found by
     * walking up: the same number of steps up from $PWD. */
    if (pwd && pwd[0] == '/' && strlen(pwd) < PATH_MAX) {
        char *up = strdup(pwd);
        while (up && *up) {
            if (stat(up, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino)
                return up;
            *strrchr(up, '/') = '\0';
        }
        free(up);
    }
    return strdup(path);
}

static enum status
open_projects(const char *config, bool create, int *dir, struct err *e)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s/" PROJECTS, config);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = path_open_dir(path.p, create, dir, e);
    buf_release(&path);
    return s;
}

/* ---- writing ---- */

enum status
project_list_note(const struct state_dir *f, const char *project, struct err *e)
{
    struct buf config = { 0 }, text = { 0 }, old = { 0 };
    char name[NAME_SIZE];
    char *path = known_path(f->project_dir);
    int dir = -1;
    enum status s = path ? path_config(&config, e) : err_nomem(e);

    if (!s)
        s = open_projects(config.p, true, &dir, e);
    if (!s) {
        json_open(&text, '{');
        json_key_str(&text, "project", project);
        json_key_str(&text, "path", path);
        json_close(&text, '}');
        buf_addc(&text, '\n');
        s = buf_status(&text, "the project's path", e);
    }
    snprintf(name, sizeof name, "%.64s.json", project);
    if (!s && (state_dir_read_at(dir, name, &old, e) != ST_OK || old.len != text.len ||
               memcmp(old.p, text.p, text.len) != 0))
        s = state_dir_replace_at(dir, name, text.p, text.len, e);
    if (dir >= 0)
        close(dir);
    free(path);
    buf_release(&config);
    buf_release(&text);
    buf_release(&old);
    return s;
}

/* ---- reading ---- */

/* In the arena; NULL: the file is no note of a project. */
static const char *
read_path(struct arena *a, int dir, const char *project)
{
    struct buf text = { 0 };
    struct json *doc;
    struct err e;
    char name[NAME_SIZE];
    const char *path = NULL;

    snprintf(name, sizeof name, "%.64s.json", project);
    if (state_dir_read_at(dir, name, &text, &e) == ST_OK) {
        const char *kept = arena_dup(a, text.p ? text.p : "", text.len);
        if (kept && json_parse(a, kept, text.len, &doc, NULL))
            path = json_dup_text(a, json_get(doc, "path"));
    }
    buf_release(&text);
    return path && path[0] == '/' ? path : NULL;
}

static enum status
add(struct project_list *l, const char *id, const char *path, struct err *e)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        struct project *more = arena_alloc(&l->arena, cap * sizeof *more);
        if (!more)
            return err_nomem(e);
        if (l->n)
            memcpy(more, l->projects, l->n * sizeof *more);
        l->projects = more;
        l->cap = cap;
    }
    l->projects[l->n] = (struct project){ arena_dup(&l->arena, id, strlen(id)), path };
    return l->projects[l->n++].id ? ST_OK : err_nomem(e);
}

static int
compare(const void *a, const void *b)
{
    const struct project *x = a, *y = b;

    return strcmp(x->id, y->id);
}

static enum status
read_all(struct project_list *l, int dir, struct err *e)
{
    int again = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    enum status s = d ? ST_OK : err_sys(e, "list " PROJECTS);

    for (struct dirent *x; !s && (x = readdir(d));) {
        const char *dot = strrchr(x->d_name, '.');
        char id[NAME_SIZE];
        if (!dot || strcmp(dot, ".json") != 0 || x->d_name[0] == '.' ||
            (size_t)(dot - x->d_name) >= sizeof id - 8)
            continue;
        snprintf(id, sizeof id, "%.*s", (int)(dot - x->d_name), x->d_name);
        const char *path = read_path(&l->arena, dir, id);
        if (path)
            s = add(l, id, path, e);
    }
    if (d)
        closedir(d);
    else if (again >= 0)
        close(again);
    if (l->n)
        qsort(l->projects, l->n, sizeof *l->projects, compare);
    return s;
}

enum status
project_list_read(const char *config, struct project_list *l, struct err *e)
{
    int dir = -1;

    *l = (struct project_list){ 0 };
    enum status s = open_projects(config, false, &dir, e);
    if (s == ST_NOT_FOUND)
        return ST_OK;
    if (!s)
        s = read_all(l, dir, e);
    if (dir >= 0)
        close(dir);
    return s;
}

void
project_list_release(struct project_list *l)
{
    arena_release(&l->arena);
    *l = (struct project_list){ 0 };
}

enum status
project_list_open(const char *config, const char *project, struct state_dir *out, struct err *e)
{
    struct arena a = { 0 };
    struct buf state = { 0 };
    int dir = -1;
    const char *path = NULL;

    out->dir = -1;
    enum status s = path_is_name(project) ? open_projects(config, false, &dir, e) : ST_NOT_FOUND;
    if (!s && !(path = read_path(&a, dir, project)))
        s = ST_NOT_FOUND;
    if (!s) {
        buf_addf(&state, "%s/.cliq", path);
        s = buf_status(&state, "the path", e);
    }
    if (!s)
        s = state_dir_open(out, state.p, path, e);
    if (s == ST_NOT_FOUND)
        err_say(e, "no project %.40s has run here, or it is gone", project);
    if (dir >= 0)
        close(dir);
    arena_release(&a);
    buf_release(&state);
    return s;
}

enum status
project_list_open_run(const char *config, const char *run, struct state_dir *out, struct err *e)
{
    const char *dash = strrchr(run, '-');
    char project[NAME_SIZE];

    snprintf(project, sizeof project, "%.*s", dash ? (int)(dash - run) : 0, run);
    enum status s =
        dash && dash - run < 65 ? project_list_open(config, project, out, e) : ST_NOT_FOUND;
    out->dir = s ? -1 : out->dir;
    if (s == ST_NOT_FOUND)
        err_say(e, "there is no run %.80s", run);
    return s;
}
