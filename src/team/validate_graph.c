/*
 * validate_graph - depends_on: unknown names, cycles, roots.
 *
 * A depth-first search along depends_on finds cycles: a phase is NEW, OPEN (on the stack) or DONE,
 * and an edge to an OPEN phase closes a cycle. No recursion: the graph may be ten thousand phases
 * deep.
 */
#include "team/validate.h"

#include <stdint.h>
#include <string.h>

enum {
    CYCLES_MAX = 10, /* cycles reported; more would only repeat them */
    NAMES_MAX = 20,  /* phases of a cycle that are written out */
};

static void
unknown_dependency(struct check *c, const struct phase *p, const char *name, struct problem_at at)
{
    struct suggest near = { .word = name };
    const struct team *t = c->team;

    if (check_may_guess(c))
        for (size_t i = 0; i < t->n_main; i++)
            if (t->phases[i].name && &t->phases[i] != p)
                suggest_try(&near, t->phases[i].name);
    problem_error(c->problems, at, "depends on unknown phase \"%.80s\"%s", name,
                  check_hint(c, &near));
}

static void
check_dependency(struct check *c, size_t self, size_t k, size_t *seen, struct problem_at at)
{
    const struct phase *p = &c->team->phases[self];
    const char *name = p->depends_on[k];
    size_t dep = p->deps ? p->deps[k] : SIZE_MAX;

    if (dep == SIZE_MAX) {
        unknown_dependency(c, p, name, at);
    } else if (dep == self) {
        problem_error(c->problems, at, "depends on itself");
    } else if (dep >= c->team->n_main) {
        problem_error(c->problems, at,
                      "depends on the support phase \"%.80s\", which only runs when a gate routes "
                      "to it",
                      name);
    } else if (seen[dep] == self + 1) {
        problem_warn(c->problems, at, "depends on \"%.80s\" twice", name);
    } else {
        seen[dep] = self + 1;
    }
}

/* A problem is reported at the name in the list, or at the whole text when it is a comma list. */
static void
check_dependencies(struct check *c, size_t self, size_t *seen)
{
    const struct phase *p = &c->team->phases[self];
    const struct yaml *list = yaml_get(p->node, "depends_on"), *v = list ? list->first : NULL;

    for (size_t k = 0; k < p->n_depends_on; k++) {
        while (v && v->text != p->depends_on[k]) /* skip items of a wrong shape */
            v = v->next;
        check_dependency(c, self, k, seen, check_at_node(c, p, "depends_on", v ? v : list));
        v = v ? v->next : NULL;
    }
}

/* ---- cycles ---- */

struct search {
    size_t *path, *next; /* the stack of OPEN phases, and the next dependency of each */
    unsigned char *state;
    size_t depth, found;
};

enum { NEW, OPEN, DONE };

static void
report_cycle(struct check *c, const struct search *w, size_t back_to)
{
    const struct phase *phases = c->team->phases;
    struct buf text = { 0 };
    size_t from = 0;

    while (w->path[from] != back_to)
        from++;
    for (size_t i = from; i < w->depth; i++) {
        if (i - from < NAMES_MAX)
            buf_addf(&text, "%s → ", phases[w->path[i]].name);
        else if (i - from == NAMES_MAX)
            buf_addf(&text, "(%zu more) → ", w->depth - i);
    }
    buf_adds(&text, phases[back_to].name);
    problem_error(c->problems, check_at(c, &phases[back_to], "depends_on"),
                  "phases depend on each other in a cycle: %s", text.p ? text.p : "");
    buf_release(&text);
}

static void
search_from(struct check *c, struct search *w, size_t root)
{
    const struct team *t = c->team;

    w->depth = 1;
    w->path[0] = root;
    w->next[0] = 0;
    w->state[root] = OPEN;
    while (w->depth > 0) {
        size_t here = w->path[w->depth - 1], k = w->next[w->depth - 1]++;
        const struct phase *p = &t->phases[here];
        if (k >= p->n_depends_on) {
            w->state[here] = DONE;
            w->depth--;
            continue;
        }
        size_t dep = p->deps[k];
        if (dep >= t->n_main || dep == here || w->state[dep] == DONE)
            continue; /* other checks report those */
        if (w->state[dep] == OPEN) {
            if (w->found++ < CYCLES_MAX)
                report_cycle(c, w, dep);
            continue;
        }
        w->state[dep] = OPEN;
        w->path[w->depth] = dep;
        w->next[w->depth++] = 0;
    }
}

static void
check_cycles(struct check *c)
{
    size_t n = c->team->n_main;
    struct search w = { .path = arena_alloc(&c->arena, (n + 1) * sizeof *w.path),
                        .next = arena_alloc(&c->arena, (n + 1) * sizeof *w.next),
                        .state = arena_alloc(&c->arena, n + 1) };

    if (!w.path || !w.next || !w.state) {
        c->is_starved = true;
        return;
    }
    memset(w.state, NEW, n + 1);
    for (size_t i = 0; i < n; i++)
        if (w.state[i] == NEW && c->team->phases[i].deps)
            search_from(c, &w, i);
}

void
check_graph(struct check *c)
{
    const struct team *t = c->team;
    size_t roots = 0;
    size_t *seen = arena_alloc(&c->arena, (t->n_phases + 1) * sizeof *seen);

    if (!seen) {
        c->is_starved = true;
        return;
    }
    memset(seen, 0, (t->n_phases + 1) * sizeof *seen);
    for (size_t i = 0; i < t->n_main; i++) {
        roots += t->phases[i].n_depends_on == 0;
        check_dependencies(c, i, seen);
    }
    for (size_t i = t->n_main; i < t->n_phases; i++)
        if (t->phases[i].n_depends_on > 0)
            problem_error(c->problems, check_at(c, &t->phases[i], "depends_on"),
                          "a support phase cannot depend on others: it runs when a gate routes "
                          "to it");
    const struct yaml *phases = yaml_get(t->node, "phases");
    if (!phases)
        phases = yaml_get(yaml_get(t->node, "workflow"), "phases");
    if (t->n_main > 0 && roots == 0)
        problem_error(c->problems, check_at_node(c, NULL, "phases", phases),
                      "no phase can start: each one depends on another");
    check_cycles(c);
}
