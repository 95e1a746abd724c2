#include "scheds.h"

size_t
find_phase(const struct team *t, const char *name, size_t len)
{
    for (size_t i = 0; i < t->n_phases; i++)
        if (strlen(t->phases[i].name) == len && strncmp(t->phases[i].name, name, len) == 0)
            return i;
    fail_msg("no phase %.*s", (int)len, name);
    return SIZE_MAX;
}

char *
keep_name(struct team *t, const char *p, size_t len)
{
    char *copy = arena_dup(&t->arena, p, len);
    assert_non_null(copy);
    return copy;
}

void
team_alloc(struct team *t, size_t n)
{
    *t = (struct team){ 0 };
    t->phases = arena_alloc(&t->arena, (n + 1) * sizeof *t->phases);
    assert_non_null(t->phases);
    memset(t->phases, 0, (n + 1) * sizeof *t->phases);
}

void
add_dep(struct team *t, struct phase *p, size_t dep, size_t max)
{
    if (!p->deps)
        p->deps = arena_alloc(&t->arena, max * sizeof *p->deps);
    assert_non_null(p->deps);
    p->deps[p->n_depends_on++] = dep;
}

void
team_of(struct team *t, const char *line)
{
    team_alloc(t, 40);
    for (const char *at = line + strspn(line, " ;"); *at; at += strspn(at, " ;")) {
        struct phase *p = &t->phases[t->n_phases];
        p->max_iterations = 3;
        if (*at == '+') {
            p->is_support = true;
            at++;
        }
        size_t len = strcspn(at, "!~:=; ");
        p->name = keep_name(t, at, len);
        for (at += len; *at && !strchr("; ", *at);) {
            char what = *at++;
            if (what == '!') {
                p->type = PHASE_GATE;
                if (*at >= '0' && *at <= '9')
                    p->max_iterations = (unsigned)(*at++ - '0');
            } else if (what == '~') {
                p->retries = (unsigned)(*at++ - '0');
            } else if (what == '=') {
                len = strcspn(at, "!~:; ");
                p->files = arena_alloc(&t->arena, sizeof *p->files);
                assert_non_null(p->files);
                p->files[p->n_files++] = keep_name(t, at, len);
                at += len;
            } else { /* ':' or ',' */
                len = strcspn(at, ",; ");
                add_dep(t, p, find_phase(t, at, len), 40);
                at += len;
            }
        }
        t->n_phases++;
        if (!p->is_support)
            t->n_main = t->n_phases;
    }
}

void
team_drop(struct team *t)
{
    arena_release(&t->arena);
}
