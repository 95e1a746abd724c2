#include "team/team_outputs.h"

#include "base/path.h"
#include "base/suggest.h"
#include "team/template.h"

#include <stdio.h>
#include <string.h>

enum { ROLE_MAX = 1 << 20 };

struct output_readers {
    const struct team *team, *sub;
    const struct phase *phase; /* that runs sub */
    struct problems *problems;
    struct arena arena;
};

static bool
is_leaf(const struct team *t, const struct phase *ph)
{
    if (!ph->name || ph->is_support)
        return false;
    for (size_t i = 0; i < t->n_phases; i++)
        for (size_t k = 0; k < t->phases[i].n_depends_on; k++)
            if (strcmp(t->phases[i].depends_on[k], ph->name) == 0)
                return false;
    return true;
}

/* One member of a path, up to the next dot or bracket; "" when it is longer than any name. */
static const char *
member(char to[TEAM_PHASE_NAME_MAX + 2], const char *path)
{
    size_t n = strcspn(path, ".[");

    snprintf(to, TEAM_PHASE_NAME_MAX + 2, "%.*s", n <= TEAM_PHASE_NAME_MAX ? (int)n : 0, path);
    return to;
}

static void
check_leaf(const struct output_readers *r, const char *path, const char *name, struct problem_at at)
{
    const char *team = r->sub->name ? r->sub->name : r->phase->team;
    struct suggest near = { .word = name };
    bool is_phase = false;

    for (size_t i = 0; i < r->sub->n_phases; i++) {
        const struct phase *one = &r->sub->phases[i];
        bool is_it = one->name && strcmp(one->name, name) == 0;
        if (is_leaf(r->sub, one) && is_it)
            return;
        is_phase |= is_it;
        if (is_leaf(r->sub, one))
            suggest_try(&near, one->name);
    }
    if (is_phase)
        problem_error(
            r->problems, at,
            "$(handoff.%.80s.%.80s): \"%s\" is not one of the last phases of the team %s, "
            "and only those hand over to others",
            r->phase->name, path, name, team);
    else
        problem_error(r->problems, at,
                      "$(handoff.%.80s.%.80s): the team %s has no phase \"%s\"%s%s%s",
                      r->phase->name, path, team, name, near.best ? " (did you mean \"" : "",
                      near.best ? near.best : "", near.best ? "\"?)" : "");
}

/* `path` is what stands behind the phase's name. */
static void
check_path(const struct output_readers *r, const char *path, struct problem_at at)
{
    static const char *const known[] = { "status", "outputs", "text", "data" };
    char name[TEAM_PHASE_NAME_MAX + 2];
    struct suggest near = { .word = member(name, path) };
    size_t i = 0, n = sizeof known / sizeof *known;

    while (i < n && strcmp(known[i], name) != 0)
        suggest_try(&near, known[i++]);
    if (i == n)
        problem_error(r->problems, at,
                      "$(handoff.%.80s.%.80s): a team hands over status, outputs, text and "
                      "data%s%s%s",
                      r->phase->name, path, near.best ? " (did you mean \"" : "",
                      near.best ? near.best : "", near.best ? "\"?)" : "");
    else if (i == 1 && path[strlen(name)] == '.' && path[strlen(name) + 1])
        check_leaf(r, path, member(name, path + strlen(name) + 1), at);
}

static void
check_text(struct output_readers *r, const char *text, struct problem_at at)
{
    static const char group[] = "handoff.";
    size_t n, k = strlen(r->phase->name);
    const struct template_use *uses = template_uses(&r->arena, text, &n);

    for (size_t i = 0; uses && i < n; i++) {
        const char *name = uses[i].name;
        if (!uses[i].is_bad && strncmp(name, group, sizeof group - 1) == 0 &&
            strncmp(name + sizeof group - 1, r->phase->name, k) == 0 &&
            name[sizeof group - 1 + k] == '.' && name[sizeof group + k])
            check_path(r, name + sizeof group + k, at);
    }
}

static void
check_tree(struct output_readers *r, const struct phase *ph, const char *field,
           const struct yaml *v)
{
    if (v->type == YAML_SCALAR)
        check_text(r, v->text,
                   (struct problem_at){ r->team->file, v->line, v->column, ph->name, field });
    yaml_each (m, v)
        check_tree(r, ph, field, m);
}

/* Assembling renames every role file after its phase. Validation tells what is wrong with it. */
static void
check_role(struct output_readers *r, int dir, const struct phase *ph)
{
    const char *slash = strrchr(r->team->file, '/');
    bool is_assembled = strcmp(slash ? slash + 1 : r->team->file, "workflow.yml") == 0;
    const char *stem = ph->role && !is_assembled ? ph->role : ph->name;
    struct buf path = { 0 }, text = BUF_MAX(ROLE_MAX);

    buf_addf(&path, "roles/%s.md", stem && path_is_name(stem) ? stem : "");
    if (!buf_failed(&path) && path_read_file(dir, path.p, &text, NULL) == ST_OK && text.p)
        check_text(r, text.p,
                   (struct problem_at){ r->team->file, ph->line, ph->column, ph->name, "role" });
    buf_release(&path);
    buf_release(&text);
}

void
team_outputs_check(const struct team *t, int dir, const struct phase *ph, const struct team *sub,
                   struct problems *p)
{
    struct output_readers r = { .team = t, .sub = sub, .phase = ph, .problems = p };

    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *reader = &t->phases[i];
        yaml_each (v, reader->node)
            check_tree(&r, reader, v->key, v);
        check_role(&r, dir, reader);
    }
    arena_release(&r.arena);
}
