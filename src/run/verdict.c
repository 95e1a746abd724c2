#include "run/verdict.h"

#include "base/sys.h"
#include "context/handoff.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {
    [VERDICT_NONE] = "",
    [VERDICT_PASS] = "PASS",
    [VERDICT_ROUTE] = "ROUTE",
    [VERDICT_ESCALATE] = "ESCALATE",
};

const char *
verdict_name(enum verdict v)
{
    return names[v];
}

/* Why, and for a target that does not exist, which. */
static const char *
say_why(struct arena *a, const struct json *reason, const struct json *unknown)
{
    struct buf b = { 0 };
    const char *text = NULL;

    if (json_is(unknown, JSON_STRING))
        buf_addf(&b, "\"%.*s\" is no phase", (int)unknown->text.len, unknown->text.p);
    if (json_is(reason, JSON_STRING)) {
        buf_adds(&b, b.len ? "; " : "");
        buf_add(&b, reason->text.p, reason->text.len);
    }
    if (b.p && !buf_failed(&b))
        text = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

void
verdict_read(const struct team *t, const struct json *result, struct arena *a,
             struct sched_event *ev)
{
    const struct json *v = json_get(result, "verdict"), *target = json_get(v, "target");
    const struct json *why = json_get(v, "reason");

    ev->target = SIZE_MAX;
    for (int k = VERDICT_PASS; k <= VERDICT_ESCALATE; k++)
        if (json_eq(json_get(v, "outcome"), names[k]))
            ev->verdict = (enum verdict)k;
    for (size_t i = 0; ev->verdict == VERDICT_ROUTE && i < t->n_phases; i++)
        if (json_eq(target, t->phases[i].name))
            ev->target = i;
    bool is_lost = ev->verdict == VERDICT_ROUTE && ev->target == SIZE_MAX;
    if (!json_is(why, JSON_STRING)) /* as handlers call it */
        why = json_get(result, "comment");
    ev->text = say_why(a, why, is_lost ? target : NULL);
}

/* ---- the envelope ---- */

/* [{"name":…,"pass":…}] from the results of this gate's commands; empty without any. */
static struct json *
read_checks(const struct plan *p, const struct phase *gate, struct arena *a)
{
    struct buf text = { 0 };
    struct json *results = NULL, *list = json_new(a, JSON_ARRAY);
    char path[TEAM_PHASE_NAME_MAX + 64];

    snprintf(path, sizeof path, "signals/%s_command_results.json", gate->name);
    if (gate->n_commands && state_dir_read(&p->state, path, &text, NULL) == ST_OK) {
        const char *kept = arena_dup(a, text.p, text.len);
        if (kept)
            json_parse(a, kept, text.len, &results, NULL);
    }
    json_each (r, results) {
        struct json *one = json_new(a, JSON_OBJECT);
        const struct json *name = json_get(r, "name");
        bool is_pass = json_is(json_get(r, "pass"), JSON_TRUE);
        if (!list || !one || !json_is(name, JSON_STRING))
            break;
        json_set(one, "name", json_new_str(a, name->text.p, name->text.len));
        json_set(one, "pass", json_new(a, is_pass ? JSON_TRUE : JSON_FALSE));
        json_add(list, one);
    }
    buf_release(&text);
    return list;
}

static struct json *
text_node(struct arena *a, const char *text)
{
    return json_new_str(a, text, strlen(text));
}

/* NULL without memory. */
static struct json *
make_data(const struct plan *p, const struct attempt_id *at, const struct sched_event *ev,
          struct arena *a)
{
    const struct phase *gate = &p->team.phases[at->phase];
    struct json *data = json_new(a, JSON_OBJECT), *v = json_new(a, JSON_OBJECT);

    if (!data || !v)
        return NULL;
    json_set(v, "outcome", text_node(a, names[ev->verdict]));
    if (ev->verdict == VERDICT_ROUTE)
        json_set(v, "target", text_node(a, p->team.phases[ev->target].name));
    json_set(v, "reason", text_node(a, ev->text ? ev->text : ""));
    json_set(data, "verdict", v);
    json_set(data, "checks", read_checks(p, gate, a));
    json_set(data, "iteration", json_new_int(a, at->iteration));
    json_set(data, "max_iterations", json_new_int(a, gate->max_iterations));
    return data;
}

static bool
is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Is there an envelope that is not older than the attempt, nor the one that we left there the last
 * time? The times are those of the kernel's tick, within which a gate may come round. (Not
 * through the seam: its stat leaves them out.) */
static bool
is_written(const struct plan *p, const struct attempt_id *at, const char *channel, ino_t ours)
{
    struct buf began = { 0 }, envelope = { 0 };
    struct stat a, b;

    buf_adds(&began, "run/attempts/");
    attempt_id_name(p, at, &began);
    buf_addf(&envelope, "%s/handoff.json", channel);
    bool is_it = !buf_failed(&began) && !buf_failed(&envelope) &&
                 fstatat(p->state.dir, began.p, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
                 fstatat(p->state.dir, envelope.p, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
                 b.st_ino != ours && !is_before(&b.st_mtim, &a.st_mtim);
    buf_release(&began);
    buf_release(&envelope);
    return is_it;
}

static enum status
publish_to(const struct plan *p, const struct attempt_id *at, const char *target,
           const struct handoff *h, ino_t *ours, struct err *e)
{
    char channel[2 * TEAM_PHASE_NAME_MAX + 32];
    struct buf path = { 0 };
    struct stat st;

    snprintf(channel, sizeof channel, "channels/%s--%s", p->team.phases[at->phase].name, target);
    if (is_written(p, at, channel, *ours))
        return ST_OK;
    state_dir_path(&p->state, &path, channel);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = handoff_write(path.p, h, e);
    buf_adds(&path, "/handoff.json");
    *ours = !s && !buf_failed(&path) && sys->fstatat(AT_FDCWD, path.p, &st, 0) == 0 ? st.st_ino : 0;
    buf_release(&path);
    return s;
}

enum status
verdict_publish(const struct plan *p, const struct attempt_id *at, const struct sched_event *ev,
                ino_t *ours, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *data = make_data(p, at, ev, &a);
    const struct dag *d = p->dag;
    enum status s = data ? ST_OK : err_nomem(e);

    buf_adds(&text, names[ev->verdict]);
    if (ev->verdict == VERDICT_ROUTE)
        buf_addf(&text, " to %s", p->team.phases[ev->target].name);
    if (ev->text && *ev->text)
        buf_addf(&text, ": %s", ev->text);
    if (!s)
        s = buf_status(&text, "the verdict", e);
    struct handoff h = {
        "gate", p->team.phases[at->phase].name, p->agents[at->phase].name, data, text.p, text.len
    };
    if (ev->verdict == VERDICT_ROUTE && !s)
        s = publish_to(p, at, p->team.phases[ev->target].name, &h, ours, e);
    for (uint32_t k = d->first[at->phase];
         ev->verdict == VERDICT_PASS && !s && k < d->first[at->phase + 1]; k++)
        s = publish_to(p, at, p->team.phases[d->succ[k]].name, &h, &(ino_t){ 0 }, e);
    if (ev->verdict == VERDICT_PASS && !s && plan_is_leaf(p, at->phase))
        s = publish_to(p, at, PLAN_OUT, &h, &(ino_t){ 0 }, e);
    buf_release(&text);
    arena_release(&a);
    return s;
}
