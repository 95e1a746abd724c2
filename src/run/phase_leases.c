#include "run/phase_leases.h"

#include "base/json.h"
#include "context/checkout.h"
#include "hub/hub.h"

#include <stdio.h>
#include <string.h>

enum { LONGER_S = 120 };

static enum status
list_paths(struct phase_leases *l, const struct checkout *here, const struct phase *ph,
           const char **out, struct err *e)
{
    struct buf b = { 0 };
    enum status s = ST_OK;

    json_open(&b, '[');
    for (size_t i = 0; !s && i < ph->n_files; i++) {
        const char *path = NULL;
        s = checkout_path(here, l->plan->state.project_dir, ph->files[i], false, &l->arena, &path,
                          e);
        if (s)
            break;
        json_sep(&b);
        json_write_str(&b, path, strlen(path));
    }
    json_close(&b, ']');
    if (!s)
        s = buf_status(&b, "the files of a phase", e);
    if (!s && !(*out = arena_dup(&l->arena, b.p, b.len)))
        s = err_nomem(e);
    buf_release(&b);
    return s;
}

enum status
phase_leases_init(struct phase_leases *l, const struct plan *p, struct err *e)
{
    struct checkout here = { 0 };
    size_t n = p->team.n_phases;
    bool is_covered = false; /* by the files of the team phase that it is in */
    enum status s = ST_OK;

    *l = (struct phase_leases){ .plan = p };
    l->paths = arena_alloc(&l->arena, (n + 1) * sizeof *l->paths);
    if (!l->paths)
        return err_nomem(e);
    for (const struct plan *k = p; k->above; k = k->above)
        is_covered |= k->above->team.phases[k->above_phase].n_files > 0;
    for (size_t i = 0; !s && i < n; i++) {
        l->paths[i] = NULL;
        if (!p->team.phases[i].n_files || is_covered)
            continue;
        if (!here.project)
            s = checkout_find(&here, p->state.project_dir, &l->arena, e);
        if (!s)
            s = list_paths(l, &here, &p->team.phases[i], &l->paths[i], e);
    }
    l->project = here.project;
    return s;
}

void
phase_leases_release(struct phase_leases *l)
{
    arena_release(&l->arena);
    *l = (struct phase_leases){ 0 };
}

/* The last of it, where the way is long: the nearest teams tell phases apart. */
void
phase_leases_holder(const char *way, const char *phase, char to[PATH_NAME_MAX + 1])
{
    struct buf name = { 0 };

    buf_addf(&name, "%s%s", way, phase);
    size_t from = name.len > PATH_NAME_MAX ? name.len - PATH_NAME_MAX : 0;
    if (buf_failed(&name))
        snprintf(to, PATH_NAME_MAX + 1, "%s", phase);
    else
        snprintf(to, PATH_NAME_MAX + 1, "%s", name.p + from + strspn(name.p + from, "/-"));
    for (char *p = to; (p = strchr(p, '/')) != NULL;)
        *p = '.';
    buf_release(&name);
}

void
phase_leases_event(struct phase_leases *l, const struct sched_event *ev,
                   struct hub_publisher *publisher)
{
    bool is_start = ev->kind == EV_STARTED;
    char who[PATH_NAME_MAX + 1];
    struct buf b = { 0 };

    if (!l->project || (!is_start && ev->kind != EV_GONE) || !l->paths[ev->phase])
        return;
    int64_t ms = plan_timeout_ms(l->plan, ev->phase);
    int64_t ttl_s = ms ? ms / 1000 + LONGER_S : HUB_LEASE_MAX_S;
    json_open(&b, '{');
    json_key_str(&b, "project", l->project);
    json_key(&b, "paths");
    buf_adds(&b, l->paths[ev->phase]);
    if (is_start) {
        json_key_int(&b, "ttl_seconds", ttl_s < HUB_LEASE_MAX_S ? ttl_s : HUB_LEASE_MAX_S);
        json_key(&b, "reason");
        buf_adds(&b, "\"phase ");
        buf_adds(&b, l->plan->team.phases[ev->phase].name);
        buf_addf(&b, " of %s\"", l->plan->instance_id);
    }
    json_close(&b, '}');
    phase_leases_holder(l->plan->way, l->plan->team.phases[ev->phase].name, who);
    hub_publisher_ask(publisher, is_start ? HUB_LEASE_TAKE : HUB_LEASE_RELEASE, who, &b);
    buf_release(&b);
}
