#include "team/team_subs.h"

#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "team/input.h"
#include "team/installed_teams.h"
#include "team/team_outputs.h"
#include "team/team_ref.h"
#include "team/template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEAMS_DIR "teams/"

/* A team that is being loaded, and the one whose phase runs it. */
struct level {
    const struct level *above;
    const struct team *team;
    const char *label; /* for the way of a circle */
    int dir;
    dev_t dev;
    ino_t ino;
    unsigned depth;
};

struct subs_load {
    const char *state_dir;
    struct problems *problems;
    size_t n_phases;
    bool is_told; /* that there are too many */
};

static struct problem_at
at_field(const struct team *t, const struct phase *ph, const char *field)
{
    const struct yaml *v = yaml_get(ph->node, field);

    return (struct problem_at){ .file = t->file,
                                .line = v ? v->line : ph->line,
                                .column = v ? v->column : ph->column,
                                .phase = ph->name,
                                .field = field };
}

static bool
is_assembled(const struct team *t)
{
    const char *slash = strrchr(t->file, '/');

    return strcmp(slash ? slash + 1 : t->file, "workflow.yml") == 0;
}

/* Opens the directory `path` of dir, component by component: no link is followed. */
static enum status
open_below(int dir, const char *path, int *fd, struct err *e)
{
    enum status s = path_open_dir_at(dir, ".", false, fd, e);

    for (const char *at = path; !s && *at;) {
        char name[PATH_NAME_MAX * 4];
        size_t n = strcspn(at, "/");
        int next = -1;
        if (n >= sizeof name) {
            s = err_set(e, ST_INVALID, "a name in it is too long");
        } else {
            snprintf(name, sizeof name, "%.*s", (int)n, at);
            s = path_open_dir_at(*fd, name, false, &next, e);
        }
        close(*fd);
        *fd = next;
        at += n + (at[n] == '/');
    }
    return s;
}

/* The part of ./teams/NAME after ./; NULL: it is no such path. */
static const char *
own_path(const char *ref)
{
    const char *path = strncmp(ref, "./", 2) == 0 ? ref + 2 : ref;
    const char *name =
        strncmp(path, TEAMS_DIR, strlen(TEAMS_DIR)) == 0 ? path + strlen(TEAMS_DIR) : NULL;

    return name && path_is_name(name) ? path : NULL;
}

/* The path of the sub-team's file as people see it: beside that of the team above. */
static void
show_path(struct buf *to, const struct team *above, const char *path, const char *file)
{
    const char *slash = strrchr(above->file, '/');

    buf_add(to, above->file, slash ? (size_t)(slash + 1 - above->file) : 0);
    buf_addf(to, "%s/%s", path, file);
}

static enum status
find_own(const struct level *l, const char *path, const char *file, int *dir, struct buf *shown,
         struct err *e)
{
    struct stat st;

    show_path(shown, l->team, path, file);
    enum status s = open_below(l->dir, path, dir, e);
    if (s == ST_NOT_FOUND ||
        (!s && sys->fstatat(*dir, file, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT))
        s = err_set(e, ST_NOT_FOUND, "there is no %s", buf_failed(shown) ? path : shown->p);
    return s ? s : buf_status(shown, "the path", e);
}

static enum status
find_installed(const char *ref, int *dir, struct buf *shown, struct err *e)
{
    struct team_ref r = { 0 };
    struct buf path = { 0 };
    enum status s = team_ref_parse_name(&r, ref, e);

    if (!s)
        s = installed_team_dir(r.at.p, &path, e);
    if (s == ST_NOT_FOUND) {
        struct err why = *e;
        err_say(e, "%s: cliq team install DIR, or hub://%s", why.text, r.at.p);
    }
    if (!s)
        s = path_open_dir(path.p, false, dir, e);
    buf_addf(shown, "%s/team.yml", path.p ? path.p : "");
    buf_release(&path);
    team_ref_release(&r);
    return s ? s : buf_status(shown, "the path", e);
}

/* The version that was asked for, which is known once the file is read. */
static enum status
check_version(const char *ref, const struct team *t, struct err *e)
{
    struct team_ref r = { 0 };
    enum status s = team_ref_parse_name(&r, ref, e);

    if (!s && !team_ref_fits(&r, t->version))
        s = err_set(e, ST_NOT_FOUND, "%s is installed in the version %s, not %s", r.at.p,
                    t->version ? t->version : "(none)", r.version.p);
    team_ref_release(&r);
    return s;
}

/* "@local/a → @local/b → @local/a" */
static void
show_way(struct buf *to, const struct level *l, const struct level *from)
{
    if (l != from)
        show_way(to, l->above, from);
    buf_addf(to, "%s%s", l != from ? " → " : "", l->label);
}

/* Is the team one of those that run it? */
static bool
is_circle(struct subs_load *x, const struct level *l, const struct phase *ph, int dir)
{
    struct stat st;
    struct buf way = { 0 };

    if (sys->fstat(dir, &st) != 0)
        return false;
    for (const struct level *k = l; k; k = k->above) {
        if (k->dev != st.st_dev || k->ino != st.st_ino)
            continue;
        show_way(&way, l, k);
        problem_error(x->problems, at_field(l->team, ph, "team"),
                      "the team comes to itself again: %s → %s", buf_failed(&way) ? "" : way.p,
                      k->label);
        buf_release(&way);
        return true;
    }
    return false;
}

/* ---- what a phase gives its team ---- */

static const struct team_input *
find_input(const struct team *t, const char *name, struct suggest *near)
{
    *near = (struct suggest){ .word = name };
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (t->inputs[i].name && strcmp(t->inputs[i].name, name) == 0)
            return &t->inputs[i];
        if (t->inputs[i].name)
            suggest_try(near, t->inputs[i].name);
    }
    return NULL;
}

static void
check_given(struct subs_load *x, const struct level *l, const struct phase *ph,
            const struct team *sub, const char *name)
{
    for (size_t i = 0; i < ph->n_inputs; i++) {
        const struct pair *given = &ph->inputs[i];
        struct problem_at at = { l->team->file, given->line, given->column, ph->name, "inputs" };
        struct suggest near;
        struct err e;
        const struct team_input *in = find_input(sub, given->key, &near);
        if (!in)
            problem_error(x->problems, at, "the team %s has no input \"%.80s\"%s%s%s", name,
                          given->key, near.best ? " (did you mean \"" : "",
                          near.best ? near.best : "", near.best ? "\"?)" : "");
        else if (!strstr(given->value, "$(") && input_check_choice(in, given->value, &e))
            problem_error(x->problems, at, "%s", e.text);
    }
}

static void
check_inputs(struct subs_load *x, const struct level *l, const struct phase *ph,
             const struct team *sub, const char *name)
{
    check_given(x, l, ph, sub, name);
    for (size_t i = 0; i < sub->n_inputs; i++) {
        const struct team_input *in = &sub->inputs[i];
        bool is_given = !in->is_required || in->fallback || !in->name;
        for (size_t k = 0; k < ph->n_inputs && !is_given; k++)
            is_given = strcmp(ph->inputs[k].key, in->name) == 0;
        if (!is_given)
            problem_error(x->problems, at_field(l->team, ph, "inputs"),
                          "the team %s needs the input \"%.80s\": inputs: { %.80s: … }", name,
                          in->name, in->name);
    }
}

/* Its first phases read in--<phase>, its last ones write <phase>--out. */
static void
check_names(struct subs_load *x, const struct team *sub)
{
    for (size_t i = 0; i < sub->n_phases; i++) {
        const struct phase *ph = &sub->phases[i];
        if (ph->name && (strcmp(ph->name, "in") == 0 || strcmp(ph->name, "out") == 0))
            problem_error(x->problems,
                          (struct problem_at){ sub->file, ph->line, ph->column, ph->name, "name" },
                          "a phase of a team that is a phase cannot be called %s: its channels "
                          "in--PHASE and PHASE--out lead to the phase that it is",
                          ph->name);
    }
}

/* ---- loading ---- */

static enum status
load_level(struct subs_load *x, const struct level *l, struct team_subs *out, struct err *e);

static enum status
read_team(struct team_sub *sub, const char *file, const char *shown, struct problems *p,
          struct err *e)
{
    struct buf text = BUF_MAX(YAML_MAX_BYTES + 1);
    enum status s = path_read_file(sub->dir, file, &text, e);

    if (!s)
        s = team_load(&sub->team, shown, text.p ? text.p : "", text.len, p, e);
    buf_release(&text);
    return s;
}

static enum status
load_sub(struct subs_load *x, const struct level *l, const struct phase *ph, struct team_sub *sub,
         const struct buf *shown, struct err *e)
{
    const char *file = is_assembled(l->team) ? "workflow.yml" : "team.yml";
    struct stat st = { 0 };
    struct err why;

    enum status s = read_team(sub, file, shown->p, x->problems, &why);
    if (s == ST_INVALID) /* each problem was added */
        return ST_OK;
    if (s == ST_IO)
        return err_set(e, ST_IO, "%s", why.text);
    if (!s && sub->is_installed)
        s = check_version(ph->team, &sub->team, &why);
    if (s) {
        problem_error(x->problems, at_field(l->team, ph, "team"), "%s", why.text);
        return ST_OK;
    }
    team_validate(&sub->team, sub->dir, x->state_dir, x->problems);
    sys->fstat(sub->dir, &st);
    struct level below = { .above = l,
                           .team = &sub->team,
                           .label = sub->team.name ? sub->team.name : ph->team,
                           .dir = sub->dir,
                           .dev = st.st_dev,
                           .ino = st.st_ino,
                           .depth = l->depth + 1 };
    check_inputs(x, l, ph, &sub->team, below.label);
    check_names(x, &sub->team);
    team_outputs_check(l->team, l->dir, ph, &sub->team, x->problems);
    return load_level(x, &below, &sub->subs, e);
}

/* Where the team of a phase is; false: the problem was told. */
static bool
find_sub(struct subs_load *x, const struct level *l, const struct phase *ph, struct team_sub *sub,
         struct buf *shown)
{
    const char *own = own_path(ph->team);
    struct buf frame = { 0 };
    struct err e;
    enum status s;

    if (is_assembled(l->team)) {
        buf_addf(&frame, "frames/%s", ph->name);
        s = buf_failed(&frame) ? err_nomem(&e)
                               : find_own(l, frame.p, "workflow.yml", &sub->dir, shown, &e);
        if (s == ST_NOT_FOUND)
            err_say(&e, "its team is not assembled: cliq assemble TEAM, once more");
    } else if (own) {
        s = find_own(l, own, "team.yml", &sub->dir, shown, &e);
    } else if (ph->team[0] == '.' || ph->team[0] == '/' ||
               (strchr(ph->team, '/') && ph->team[0] != '@')) {
        s = err_set(&e, ST_INVALID,
                    "\"%.200s\": a team phase runs ./teams/NAME of this team's directory, or an "
                    "installed team: cliq team install %.200s, then its name",
                    ph->team, ph->team);
    } else {
        sub->is_installed = true;
        s = find_installed(ph->team, &sub->dir, shown, &e);
    }
    if (s)
        problem_error(x->problems, at_field(l->team, ph, "team"), "%s", e.text);
    buf_release(&frame);
    return !s;
}

static enum status
load_phase_team(struct subs_load *x, const struct level *l, const struct phase *ph,
                struct team_sub **out, struct err *e)
{
    struct team_sub *sub = calloc(1, sizeof *sub);
    struct buf shown = { 0 };
    enum status s = ST_OK;

    if (!sub)
        return err_nomem(e);
    sub->dir = -1;
    *out = sub;
    if (find_sub(x, l, ph, sub, &shown) && !is_circle(x, l, ph, sub->dir)) {
        if (l->depth >= TEAM_DEPTH_MAX)
            problem_error(x->problems, at_field(l->team, ph, "team"),
                          "more than %d teams are in each other here", TEAM_DEPTH_MAX);
        else
            s = load_sub(x, l, ph, sub, &shown, e);
    }
    buf_release(&shown);
    return s;
}

/* An agent of the team's own may be called team, too: what it does with the phase is its own. */
static bool
runs_team(const struct team *t, const struct phase *ph)
{
    bool is_ours = !ph->agent || strcmp(ph->agent, "team") == 0;

    for (size_t i = 0; i < t->n_agents; i++)
        is_ours = is_ours && (!t->agents[i].name || strcmp(t->agents[i].name, "team") != 0);
    return ph->type == PHASE_TEAM && is_ours && ph->name && ph->team && *ph->team &&
           !strstr(ph->team, "$(");
}

static enum status
load_level(struct subs_load *x, const struct level *l, struct team_subs *out, struct err *e)
{
    const struct team *t = l->team;
    bool has_any = false;
    enum status s = ST_OK;

    x->n_phases += t->n_phases;
    if (x->n_phases > TEAM_TREE_PHASES_MAX && !x->is_told) {
        x->is_told = true;
        problem_error(x->problems, (struct problem_at){ .file = t->file },
                      "the teams in it have more than %d phases together", TEAM_TREE_PHASES_MAX);
    }
    for (size_t i = 0; i < t->n_phases; i++)
        has_any |= runs_team(t, &t->phases[i]);
    if (!has_any || x->is_told)
        return ST_OK;
    out->of = calloc(t->n_phases, sizeof(struct team_sub *));
    out->n = out->of ? t->n_phases : 0;
    if (!out->of)
        return err_nomem(e);
    for (size_t i = 0; !s && i < t->n_phases && !x->is_told; i++)
        if (runs_team(t, &t->phases[i]))
            s = load_phase_team(x, l, &t->phases[i], &out->of[i], e);
    return s;
}

enum status
team_subs_load(struct team_subs *out, const struct team *t, int dir, const char *state_dir,
               struct problems *p, struct err *e)
{
    struct subs_load x = { .state_dir = state_dir, .problems = p };
    struct stat st = { 0 };

    *out = (struct team_subs){ 0 };
    if (dir < 0 || !t->node)
        return ST_OK;
    sys->fstat(dir, &st);
    struct level top = { .team = t,
                         .label = t->name ? t->name : t->file,
                         .dir = dir,
                         .dev = st.st_dev,
                         .ino = st.st_ino };
    return load_level(&x, &top, out, e);
}

void
team_subs_release(struct team_subs *subs)
{
    for (size_t i = 0; i < subs->n; i++) {
        struct team_sub *sub = subs->of[i];
        if (!sub)
            continue;
        team_subs_release(&sub->subs);
        team_release(&sub->team);
        if (sub->dir >= 0)
            close(sub->dir);
        free(sub);
    }
    free(subs->of);
    *subs = (struct team_subs){ 0 };
}

bool
team_subs_have_installed(const struct team_subs *subs)
{
    for (size_t i = 0; i < subs->n; i++)
        if (subs->of[i] &&
            (subs->of[i]->is_installed || team_subs_have_installed(&subs->of[i]->subs)))
            return true;
    return false;
}
