#include "doctor/doctor.h"

#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct doctor_check {
    const char *section;
    bool is_of_agents; /* also of `cliq doctor agent NAME` */
    void (*begin)(struct doctor *d);
    void (*look)(struct doctor *d);
    void (*mend)(struct doctor *d);
} checks[] = {
    /* clang-format off */
    { "Dependencies", false, programs_begin,     programs_look,       NULL },
    { "Agents",       true,  agent_health_begin, agent_health_look,   NULL },
    { "Your files",   false, NULL,               user_files_look,     user_files_mend },
    { "Hub",          false, NULL,               store_health_look,   store_health_mend },
    { "Project",      false, NULL,               project_health_look, project_health_mend },
    { "Machine",      false, NULL,               machine_look,        NULL },
    /* clang-format on */
};

enum { N_CHECKS = sizeof checks / sizeof *checks };

const char *
doctor_level_name(enum doctor_level level)
{
    static const char *const names[] = { "ok", "note", "warning", "error" };

    return names[level];
}

/* ---- findings ---- */

static const char *
vtext(struct doctor *d, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n >= 0 ? arena_alloc(&d->arena, (size_t)n + 1) : NULL;
    if (!text)
        return "";
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    return text;
}

const char *
doctor_text(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    const char *text = vtext(d, fmt, ap);
    va_end(ap);
    return text;
}

static struct doctor_finding *
add(struct doctor *d, enum doctor_level level, const char *name, const char *fix, const char *fmt,
    va_list ap)
{
    struct doctor_finding *f = arena_alloc(&d->arena, sizeof *f);

    if (!f)
        return NULL;
    *f = (struct doctor_finding){
        .section = d->section,
        .agent = d->agent,
        .name = doctor_text(d, "%s", name),
        .level = level,
        .fix = fix ? doctor_text(d, "%s", fix) : NULL,
        .says = vtext(d, fmt, ap),
    };
    *d->end = f;
    d->end = &f->next;
    return f;
}

struct doctor_finding *
doctor_add(struct doctor *d, enum doctor_level level, const char *name, const char *fix,
           const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct doctor_finding *f = add(d, level, name, fix, fmt, ap);
    va_end(ap);
    return f;
}

struct doctor_finding *
doctor_add_mendable(struct doctor *d, enum doctor_level level, const char *name, const char *fix,
                    const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct doctor_finding *f = add(d, level, name, fix, fmt, ap);
    va_end(ap);
    if (f)
        f->is_mendable = true;
    return f;
}

/* ---- mending ---- */

static bool
is_same(const struct doctor_finding *a, const struct doctor_finding *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->says, b->says) == 0;
}

/* Tells what `before` had and the second look did not find again. */
static void
tell_mended(struct doctor *d, const struct doctor_finding *before, const struct doctor_finding *now)
{
    for (; before; before = before->next) {
        const struct doctor_finding *same = now;
        while (same && !is_same(before, same))
            same = same->next;
        if (!before->is_mendable || same)
            continue;
        doctor_add(d, DOCTOR_NOTE, before->name, NULL, "mended: %s", before->says);
        d->mended++;
    }
}

static void
look(struct doctor *d, const struct doctor_check *check)
{
    struct doctor_finding **begin = d->end;
    bool is_mendable = false;

    d->section = check->section;
    check->look(d);
    for (const struct doctor_finding *f = *begin; f; f = f->next)
        is_mendable = is_mendable || f->is_mendable;
    if (is_mendable && d->o.is_mending && check->mend) {
        const struct doctor_finding *before = *begin;
        check->mend(d);
        *begin = NULL;
        d->end = begin;
        check->look(d);
        tell_mended(d, before, *begin);
    }
    d->agent = NULL;
}

enum status
doctor_examine(struct doctor *d, struct err *e)
{
    (void)e;
    for (size_t i = 0; i < N_CHECKS; i++)
        if (checks[i].begin && (checks[i].is_of_agents || !d->o.agent))
            checks[i].begin(d);
    for (size_t i = 0; i < N_CHECKS; i++)
        if (checks[i].is_of_agents || !d->o.agent)
            look(d, &checks[i]);
    for (const struct doctor_finding *f = d->first; f; f = f->next) {
        d->errors += f->level == DOCTOR_ERROR;
        d->warnings += f->level == DOCTOR_WARNING;
    }
    return ST_OK;
}

/* ---- the places ---- */

enum status
doctor_open(struct doctor *d, const struct doctor_options *o, struct err *e)
{
    struct buf config = { 0 };
    struct err why;

    *d = (struct doctor){ .o = *o, .project = { .dir = -1 } };
    d->end = &d->first;
    if (!d->o.limit_ms)
        d->o.limit_ms = DOCTOR_LIMIT_MS;
    if (path_config(&config, NULL) == ST_OK)
        d->config = arena_dup(&d->arena, config.p, config.len);
    buf_release(&config);
    enum status s = state_dir_find(&d->project, &why);
    if (s == ST_REFUSED) {
        d->refused = doctor_text(d, "%s", why.text);
    } else if (s && s != ST_NOT_FOUND) {
        err_say(e, "%s", why.text);
        return s;
    }
    if (d->config && settings_load(&d->settings, d->project.state_dir, NULL) != ST_OK)
        d->settings.merged = NULL;
    return ST_OK;
}

void
doctor_release(struct doctor *d)
{
    programs_release(d);
    agent_health_release(d);
    settings_release(&d->settings);
    state_dir_close(&d->project);
    arena_release(&d->arena);
}
