#include "manager/plan_rooms.h"

#include "base/path.h"
#include "manager/room_act.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The states of the review, with the role for %s and the tries for %u. */
static const char review_states[] =
    "{\"version\":2,\"initial_state\":\"plan-review\",\"max_retries\":%u,\"states\":{"
    "\"plan-review\":{\"role\":\"%s\",\"type\":\"review\",\"signals\":{"
    "\"plan-approve\":{\"target\":\"passed\"},\"pass\":{\"target\":\"passed\"},"
    "\"done\":{\"target\":\"passed\"},"
    "\"plan-reject\":{\"target\":\"failed-final\"},\"fail\":{\"target\":\"failed-final\"},"
    "\"error\":{\"target\":\"failed\",\"actions\":[\"increment_retries\"]}}},"
    "\"failed\":{\"role\":\"manager\",\"type\":\"decision\",\"signals\":{"
    "\"retry\":{\"target\":\"plan-review\",\"guard\":\"retries < max_retries\"},"
    "\"exhaust\":{\"target\":\"failed-final\",\"guard\":\"retries >= max_retries\"}}},"
    "\"passed\":{\"type\":\"terminal\"},\"failed-final\":{\"type\":\"terminal\"}}}";

/* The text of an epic without its heading, which the brief has already. */
static const char *
below_heading(const char *text)
{
    const char *nl = strchr(text, '\n');

    return nl ? nl + 1 + strspn(nl + 1, "\r\n") : "";
}

/* The room of an epic that is depended on. */
static const char *
room_of(const struct epic *epics, size_t n, const char *ref)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(epics[i].ref, ref) == 0)
            return epics[i].room;
    return ref;
}

static enum status
describe(const struct plan_options *o, struct arena *a, const struct epic *epics, size_t n,
         size_t i, struct room_config *c, struct err *e)
{
    static const char *review[] = { PLAN_REVIEW_ROOM };
    const struct epic *x = &epics[i];

    *c = (struct room_config){ .room = x->room,
                               .ref = x->ref,
                               .title = *x->title ? x->title : x->ref,
                               .task = below_heading(x->text),
                               .plan = o->name,
                               .roles = x->roles.n ? x->roles : o->roles,
                               .criteria = x->criteria,
                               .done = x->done,
                               .max_retries = o->max_retries,
                               .timeout_ms = o->timeout_ms };
    if (!x->depends_on.n) {
        if (o->reviewer)
            c->depends_on = (struct epic_list){ review, 1 };
        return ST_OK;
    }
    c->depends_on.v = arena_alloc(a, x->depends_on.n * sizeof *c->depends_on.v);
    if (!c->depends_on.v)
        return err_nomem(e);
    for (size_t k = 0; k < x->depends_on.n; k++)
        c->depends_on.v[c->depends_on.n++] = room_of(epics, n, x->depends_on.v[k]);
    return ST_OK;
}

static void
describe_review(const struct plan_options *o, const char **roles, const struct buf *plan,
                struct room_config *c)
{
    roles[0] = o->reviewer;
    *c = (struct room_config){ .room = PLAN_REVIEW_ROOM,
                               .ref = "PLAN-REVIEW",
                               .title = o->name,
                               .task = plan->p,
                               .plan = o->name,
                               .opening = "plan-review",
                               .roles = { roles, 1 },
                               .max_retries = o->max_retries,
                               .timeout_ms = o->timeout_ms };
}

/* Is that room one of this plan, which never began or was rejected? */
static enum status
may_replace(const struct rooms *r, const struct room_config *c, struct arena *a, struct err *e)
{
    struct room_config old;
    int dir;
    enum status s = rooms_open_room(r, c->room, &dir, e);

    if (s)
        return s;
    const char *state = room_word(a, dir, "status");
    s = room_config_read(a, dir, c->room, &old, e);
    close(dir);
    if (s)
        return s;
    bool is_open = strcmp(state, ROOM_PENDING) == 0 || strcmp(state, ROOM_BLOCKED_BY) == 0 ||
                   strcmp(c->room, PLAN_REVIEW_ROOM) == 0;
    return is_open && old.plan ? ST_OK
                               : err_set(e, ST_CONFLICT,
                                         "the room %s exists already, and %s: archive it, or "
                                         "rename the epic",
                                         c->room, old.plan ? "has begun" : "is no room of a plan");
}

static bool
is_there(const struct rooms *r, const char *room)
{
    int dir;

    if (r->dir < 0 || path_open_dir_at(r->dir, room, false, &dir, NULL))
        return false;
    close(dir);
    return true;
}

/* Before anything is made: may all of them be? */
static enum status
check(const struct rooms *r, const struct plan_options *o, struct arena *a,
      const struct room_config *rooms, size_t n, struct err *e)
{
    struct lifecycle l;
    struct err why;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        const struct room_config *c = &rooms[i];
        if (is_there(r, c->room))
            s = o->is_anew ? may_replace(r, c, a, e)
                           : err_set(e, ST_CONFLICT,
                                     "the room %s exists already: --anew replaces rooms of a plan "
                                     "that have not begun",
                                     c->room);
        if (!s && !c->opening &&
            (s = lifecycle_default(&l, a, c->roles.v, c->roles.n, c->max_retries, &why)))
            err_say(e, "%s: %s", c->ref, why.text);
    }
    return s;
}

static enum status
make(const struct rooms *r, const struct plan_options *o, const struct room_config *c,
     struct err *e)
{
    struct buf path = { 0 }, states = { 0 };
    enum status s = is_there(r, c->room) ? rooms_archive(r, c->room, &path, e) : ST_OK;

    if (c->opening)
        buf_addf(&states, review_states, o->max_retries, o->reviewer);
    if (!s)
        s = room_act_create(r, NULL, c, c->opening ? &states : NULL, e);
    buf_release(&path);
    buf_release(&states);
    return s;
}

enum status
plan_rooms_make(const struct rooms *r, const struct plan_options *o, struct arena *a,
                const struct buf *plan, struct room_config **rooms, size_t *n, struct err *e)
{
    const char **roles = arena_alloc(a, sizeof *roles);
    struct epic *epics;
    size_t n_epics = 0;
    enum status s = epics_parse(a, o->name, plan->p ? plan->p : "", plan->len, &epics, &n_epics, e);

    *n = 0;
    *rooms = arena_alloc(a, (n_epics + 1) * sizeof **rooms);
    if (!s && (!*rooms || !roles))
        s = err_nomem(e);
    if (!s && o->reviewer) {
        s = path_check_name("role", o->reviewer, e);
        describe_review(o, roles, plan, &(*rooms)[(*n)++]);
    }
    for (size_t i = 0; !s && i < n_epics; i++)
        s = describe(o, a, epics, n_epics, i, &(*rooms)[(*n)++], e);
    if (!s)
        s = check(r, o, a, *rooms, *n, e);
    for (size_t i = 0; !s && !o->is_dry && i < *n; i++)
        s = make(r, o, &(*rooms)[i], e);
    return s;
}
