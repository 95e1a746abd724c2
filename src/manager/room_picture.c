#include "manager/room_picture.h"

#include "base/clock.h"
#include "room/room_graph.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- dependencies -------------------------------------------------------- */

static const char *
state_of(const struct rooms *r, struct arena *a, const char *room)
{
    int dir;

    if (rooms_open_room(r, room, &dir, NULL))
        return NULL;
    const char *state = room_word(a, dir, "status");
    close(dir);
    return state;
}

static enum status
read_dependencies(const struct rooms *r, struct arena *a, struct room_picture *p, struct err *e)
{
    const struct epic_list *on = &p->config.depends_on;
    const char **states = arena_alloc(a, (on->n + 1) * sizeof *states);

    p->waits_for = arena_alloc(a, (on->n + 1) * sizeof *p->waits_for);
    if (!states || !p->waits_for)
        return err_nomem(e);
    for (size_t i = 0; i < on->n; i++) {
        states[i] = state_of(r, a, on->v[i]);
        if (!states[i] || strcmp(states[i], LIFE_PASSED) != 0)
            p->waits_for[p->n_waits_for++] = on->v[i];
    }
    p->readiness = room_readiness_name(room_readiness(states, on->n));
    return ST_OK;
}

/* ---- the channel --------------------------------------------------------- */

/* Signatures count behind the message that passed the room. False: no memory. */
static bool
add_signature(struct room_picture *p, struct arena *a, const struct json *m)
{
    const char *from = json_dup_text(a, json_get(m, "from"));

    for (size_t i = 0; from && i < p->n_done_by; i++)
        if (strcmp(p->done_by[i], from) == 0)
            return true;
    if (!from || p->n_done_by == LIFE_ROLES_MAX)
        return from;
    p->done_by[p->n_done_by++] = from;
    return true;
}

static enum status
read_channel(struct arena *a, int dir, struct room_picture *p, struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    struct buf last = { 0 };
    int fd;
    bool is_passed = strcmp(p->state, LIFE_PASSED) == 0;
    enum status s = channel_open_read_in(dir, p->config.room, &fd, e);

    if (s || fd < 0)
        return s;
    if (!(p->done_by = arena_alloc(a, LIFE_ROLES_MAX * sizeof *p->done_by)))
        s = err_nomem(e);
    log_reader_init(&r, fd, 0);
    while (!s && log_next(&r, &rec)) {
        p->messages++;
        buf_reset(&last);
        buf_add(&last, rec.text, rec.len);
        if (is_passed && rec.at >= p->past.after &&
            json_eq(json_get(rec.json, "type"), "signoff") && !add_signature(p, a, rec.json))
            s = err_nomem(e);
    }
    if (!s)
        s = log_reader_status(&r, e);
    p->bad = r.bad;
    log_reader_release(&r);
    close(fd);
    if (!s && last.len) {
        struct json *v;
        const char *kept = arena_dup(a, last.p, last.len);
        s = kept && json_parse(a, kept, last.len, &v, NULL) ? ST_OK : err_nomem(e);
        if (!s)
            p->last = v;
    }
    buf_release(&last);
    return s;
}

/* ---- the whole ----------------------------------------------------------- */

/* The state by the journal; of a room that another tool made, by its files. */
static void
read_state(struct arena *a, int dir, struct room_picture *p)
{
    const char *word = room_word(a, dir, "status"), *epoch = room_word(a, dir, "state_changed_at");
    size_t known = lifecycle_find(&p->lifecycle, word);

    p->since_ms = p->past.moved_ms ? p->past.moved_ms : strtoll(epoch, NULL, 10) * 1000;
    if (p->past.has_begun) {
        p->state = p->past.is_blocked ? ROOM_BLOCKED_BY : life_state_of(&p->past.life)->name;
        p->retries = p->past.life.retries;
        return;
    }
    p->state = *word ? word : ROOM_PENDING;
    p->retries = (unsigned)strtoul(room_word(a, dir, "retries"), NULL, 10);
    if (known != SIZE_MAX)
        p->past.life.state = known;
}

enum status
room_picture_read(const struct rooms *r, struct players *players, struct arena *a, const char *room,
                  struct room_picture *p, struct err *e)
{
    int dir;

    *p = (struct room_picture){ 0 };
    enum status s = rooms_open_room(r, room, &dir, e);
    if (s)
        return s;
    s = room_config_read(a, dir, room, &p->config, e);
    if (!s)
        s = room_lifecycle_read(a, dir, &p->config, &p->lifecycle, e);
    if (!s)
        s = room_past_read(&p->past, a, dir, &p->lifecycle, e);
    if (!s) {
        rooms_resolve(r, a, &p->config);
        read_state(a, dir, p);
        s = read_dependencies(r, a, p, e);
    }
    if (!s)
        s = read_channel(a, dir, p, e);
    if (!s && lifecycle_find(&p->lifecycle, p->state) != SIZE_MAX && !life_is_over(&p->past.life)) {
        p->role = life_state_of(&p->past.life)->role;
        p->is_running = p->past.is_open;
    }
    if (!s && p->role)
        s = players_find(players, p->role, &p->player, e);
    close(dir);
    return s;
}

/* ---- as JSON ------------------------------------------------------------- */

static bool
has_signed(const struct room_picture *p, const char *role)
{
    for (size_t i = 0; i < p->n_done_by; i++)
        if (strcmp(p->done_by[i], role) == 0)
            return true;
    return false;
}

const char *
room_picture_unsigned(const struct room_picture *p, size_t i)
{
    const struct lifecycle *c = &p->lifecycle;
    size_t k = 0;

    for (size_t s = 0; s < c->n_states; s++) {
        const char *role = c->states[s].role;
        bool is_first = role && strcmp(role, LIFE_MANAGER) != 0;
        for (size_t t = 0; is_first && t < s; t++)
            is_first = !c->states[t].role || strcmp(c->states[t].role, role) != 0;
        if (is_first && !has_signed(p, role) && k++ == i)
            return role;
    }
    return NULL;
}

static void
write_roles(const struct room_picture *p, struct buf *to)
{
    const struct lifecycle *c = &p->lifecycle;

    json_key(to, "lifecycle");
    lifecycle_write(to, c);
    json_key_strs(to, "roles", p->config.roles.v, p->config.roles.n);
    json_key_str(to, "task", p->config.task);
    json_key_str(to, "working_dir", p->config.working_dir);
    json_key_str(to, "created_at", p->config.created_at);
    json_key_strs(to, "acceptance_criteria", p->config.criteria.v, p->config.criteria.n);
    json_key_strs(to, "definition_of_done", p->config.done.v, p->config.done.n);
}

void
room_picture_json(const struct room_picture *p, bool is_whole, struct buf *to)
{
    char at[CLOCK_ISO_SIZE];

    json_open(to, '{');
    json_key_str(to, "room", p->config.room);
    json_key_str(to, "project", p->project);
    json_key_str(to, "path", p->path);
    json_key_str(to, "ref", p->config.ref);
    json_key_str(to, "title", p->config.title);
    json_key_str(to, "plan", p->config.plan);
    json_key_str(to, "state", p->state);
    if (p->since_ms)
        json_key_str(to, "since", clock_iso_ms(at, p->since_ms));
    json_key_int(to, "retries", p->retries);
    json_key_int(to, "max_retries", p->lifecycle.max_retries);
    json_key_str(to, "role", p->role);
    json_key_str(to, "player", p->role ? p->player.name : NULL);
    json_key_bool(to, "running", p->is_running);
    json_key_str(to, "readiness", p->readiness);
    json_key_strs(to, "depends_on", p->config.depends_on.v, p->config.depends_on.n);
    json_key_strs(to, "waits_for", p->waits_for, p->n_waits_for);
    json_key_int(to, "messages", (int64_t)p->messages);
    if (p->bad)
        json_key_int(to, "bad_lines", (int64_t)p->bad);
    if (p->last)
        json_key_json(to, "last", p->last);
    if (strcmp(p->state, LIFE_PASSED) == 0) {
        json_key_strs(to, "signed", p->done_by, p->n_done_by);
        json_key(to, "unsigned");
        json_open(to, '[');
        const char *role;
        for (size_t i = 0; (role = room_picture_unsigned(p, i)); i++) {
            json_sep(to);
            json_write_str(to, role, strlen(role));
        }
        json_close(to, ']');
    }
    if (is_whole)
        write_roles(p, to);
    json_close(to, '}');
}
