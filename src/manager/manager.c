#define _GNU_SOURCE
#include "manager/manager.h"

#include "base/path.h"
#include "base/watch_group.h"
#include "manager/manager_lock.h"
#include "manager/release_notes.h"
#include "manager/release_signoff.h"
#include "manager/room_actor.h"
#include "run/hub_publisher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_PER_ROOM = 5, OTHER_FILES = 128 };

struct manager {
    struct actor_host host;
    const struct manager_options *o;
    struct players players;
    struct watch_group watches;
    int base_watch;
    struct room_actor **actors; /* by name */
    size_t n, cap;
    size_t n_bad; /* rooms that cannot be read */
    bool is_settling, is_over;
};

/* ---- which rooms ------------------------------------------------------------ */

static struct room_actor *
find(const struct manager *m, const char *room)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->actors[i]->room, room) == 0)
            return m->actors[i];
    return NULL;
}

static enum status
insert(struct manager *m, struct room_actor *a, struct err *e)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 32;
        struct room_actor **more = realloc(m->actors, cap * sizeof *more);
        if (!more)
            return err_nomem(e);
        m->actors = more;
        m->cap = cap;
    }
    size_t at = m->n++;
    for (; at > 0 && strverscmp(m->actors[at - 1]->room, a->room) > 0; at--)
        m->actors[at] = m->actors[at - 1];
    m->actors[at] = a;
    return ST_OK;
}

static enum status
add_room(struct manager *m, const char *room, struct err *e)
{
    if (find(m, room))
        return ST_OK;
    struct room_actor *a = calloc(1, sizeof *a);
    enum status s = a ? room_actor_open(a, &m->host, room, e) : err_nomem(e);
    if (!s && (s = insert(m, a, e)))
        room_actor_close(a);
    if (s)
        free(a);
    return s;
}

/* Rooms that are depended on and exist, as they were asked for. */
static enum status
add_dependencies(struct manager *m, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < m->n; i++) {
        const struct epic_list *on = &m->actors[i]->config.depends_on;
        for (size_t k = 0; !s && k < on->n; k++) {
            int dir;
            if (find(m, on->v[k]) || rooms_open_room(m->host.rooms, on->v[k], &dir, NULL))
                continue;
            close(dir);
            s = add_room(m, on->v[k], e);
            i = (size_t)-1; /* the order changed: begin again */
            break;
        }
    }
    return s;
}

/* All rooms that are there. One that cannot be read does not keep the others from running. */
static enum status
add_all(struct manager *m, bool is_first, struct err *e)
{
    struct arena a = { 0 };
    const char **names;
    size_t n = 0, n_before = m->n;
    enum status s = rooms_list(m->host.rooms, &a, false, &names, &n, e);

    for (size_t i = 0; !s && i < n; i++) {
        struct err why;
        if (find(m, names[i]))
            continue;
        if (add_room(m, names[i], &why)) {
            m->n_bad += is_first;
            manager_tell_note(&m->host.voice, names[i], "left out: %s", why.text);
        } else if (!is_first) {
            room_actor_recover(find(m, names[i]));
        }
    }
    for (size_t i = 0; m->n > n_before && i < m->n;
         i++) /* one may wait for a new room's reference */
        rooms_resolve(m->host.rooms, &m->actors[i]->arena, &m->actors[i]->config);
    arena_release(&a);
    return s;
}

static enum status
add_rooms(struct manager *m, struct err *e)
{
    enum status s = ST_OK;

    if (!m->o->n_rooms)
        return add_all(m, true, e);
    for (size_t i = 0; !s && i < m->o->n_rooms; i++)
        s = add_room(m, m->o->rooms[i], e);
    return s ? s : add_dependencies(m, e);
}

/* ---- watching ---------------------------------------------------------------- */

/* What came before the watch is seen when the channel is read next: true says that one was read. */
static bool
watch_channels(struct manager *m, bool is_read)
{
    struct buf path = { 0 };
    bool was_read = false;
    struct err e;

    for (size_t i = 0; i < m->n; i++) {
        struct room_actor *a = m->actors[i];
        if (!a->needs_watch || a->is_over)
            continue;
        a->needs_watch = false;
        buf_reset(&path);
        buf_addf(&path, "%s/%s/" ROOM_CHANNEL, m->host.rooms->base, a->room);
        if (buf_failed(&path) || watch_group_add(&m->watches, path.p, false, &a->watch, &e))
            manager_tell_note(&m->host.voice, a->room, "its channel cannot be watched: %s", e.text);
        else if (is_read) {
            room_actor_look(a);
            was_read = true;
        }
    }
    buf_release(&path);
    return was_read;
}

/* ---- what follows from what -------------------------------------------------- */

/* Of a room that runs here, or of one that does not. */
static const char *
state_of(const struct manager *m, struct arena *arena, const char *room)
{
    const struct room_actor *a = find(m, room);
    int dir;

    if (a)
        return room_actor_state(a);
    if (rooms_open_room(m->host.rooms, room, &dir, NULL))
        return NULL;
    const char *state = room_word(arena, dir, "status");
    close(dir);
    return state;
}

static void
look_at_dependencies(struct manager *m, struct room_actor *a)
{
    const struct epic_list *on = &a->config.depends_on;
    struct arena arena = { 0 };
    const char **states = arena_alloc(&arena, (on->n + 1) * sizeof *states);
    enum room_readiness before = a->readiness;

    if (states) {
        for (size_t i = 0; i < on->n; i++)
            states[i] = state_of(m, &arena, on->v[i]);
        room_actor_set_readiness(a, room_readiness(states, on->n));
        if (a->readiness != before)
            room_actor_look(a);
    }
    arena_release(&arena);
}

static size_t
n_running(const struct manager *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->actors[i]->role != NULL;
    return n;
}

/* The room whose process begins next: those that have begun first, by name. */
static struct room_actor *
next_to_start(const struct manager *m)
{
    struct room_actor *fresh = NULL;

    for (size_t i = 0; i < m->n; i++) {
        struct room_actor *a = m->actors[i];
        if (!a->wants_start || a->role || a->failed)
            continue;
        if (room_actor_has_begun(a))
            return a;
        fresh = fresh ? fresh : a;
    }
    return fresh;
}

static void
stop(struct manager *m)
{
    m->is_over = true;
    loop_stop(m->host.loop);
}

/* What keeps the manager here. */
static void
find_end(struct manager *m)
{
    size_t n_open = 0, n_people = 0;
    bool is_retried = false;

    if (n_running(m))
        return;
    for (size_t i = 0; i < m->n; i++) {
        const struct room_actor *a = m->actors[i];
        is_retried = is_retried || a->retry;
        n_open += !a->is_over && !a->failed;
        n_people += !a->is_over && !a->failed && a->awaits_person;
    }
    if (is_retried && !m->host.is_ending)
        return;
    if (m->host.is_ending || !n_open || (m->o->is_once && !next_to_start(m))) {
        stop(m);
        return;
    }
    if (n_people || next_to_start(m))
        return;
    for (size_t i = 0; i < m->n; i++)
        if (!m->actors[i]->is_over && !m->actors[i]->failed)
            manager_tell_note(&m->host.voice, m->actors[i]->room,
                              "waits for rooms that nothing carries on: cliq room status %s",
                              m->actors[i]->room);
    stop(m);
}

static void
settle(void *ctx)
{
    struct manager *m = ctx;
    size_t jobs = m->o->jobs ? m->o->jobs : MANAGER_JOBS;
    struct room_actor *a;
    bool is_new;

    if (m->is_settling || m->is_over)
        return;
    m->is_settling = true;
    do {
        for (size_t i = 0; i < m->n; i++)
            look_at_dependencies(m, m->actors[i]);
        a = m->host.is_ending || n_running(m) >= jobs ? NULL : next_to_start(m);
        if (a)
            room_actor_start(a);
        is_new = watch_channels(m, true);
    } while (a || is_new);
    m->is_settling = false;
    find_end(m);
}

/* A room whose directory was removed leaves; one that is made anew under its name then comes. */
static void
drop_removed(struct manager *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        struct room_actor *a = m->actors[i];
        if (room_actor_is_there(a)) {
            m->actors[n++] = a;
            continue;
        }
        manager_tell_note(&m->host.voice, a->room, "its directory was removed");
        if (a->role)
            role_process_stop(a->role);
        room_actor_close(a);
        free(a);
    }
    m->n = n;
}

/* ---- events -------------------------------------------------------------------- */

static void
on_change(void *ctx, int id)
{
    struct manager *m = ctx;

    for (size_t i = 0; i < m->n; i++)
        if (id == WATCH_GROUP_ANY || m->actors[i]->watch == id)
            room_actor_look(m->actors[i]);
    if (id != WATCH_GROUP_ANY && id != m->base_watch)
        return;
    drop_removed(m);
    if (!m->o->n_rooms)
        add_all(m, false, NULL);
}

static void
on_watch(void *ctx)
{
    struct manager *m = ctx;

    watch_group_drain(&m->watches, on_change, m);
    settle(m);
}

static void
on_signal(void *ctx)
{
    struct manager *m = ctx;

    m->host.is_ending = true;
    for (size_t i = 0; i < m->n; i++)
        room_actor_interrupt(m->actors[i]);
    settle(m);
}

/* ---- the whole ------------------------------------------------------------------ */

/* The rooms exist, their life cycles are good, the agents of their roles can be found. */
static enum status
check_roles(struct manager *m, struct err *e)
{
    struct arena a = { 0 };
    struct err why;
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < m->n; i++)
        for (size_t k = 0; !s && k < m->actors[i]->lifecycle.n_states; k++) {
            const char *role = m->actors[i]->lifecycle.states[k].role;
            struct player player;
            struct agent agent;
            s = role ? players_find(&m->players, role, &player, e) : ST_OK;
            if (!s && role && player.kind == PLAYER_AGENT &&
                (s = players_agent(&m->players, &a, player.name, &agent, &why)))
                err_say(e, "the role %s: %s", role, why.text);
        }
    arena_release(&a);
    return s;
}

static enum status
watch_all(struct manager *m, struct err *e)
{
    struct loop *l = m->host.loop;
    enum status s = watch_group_open(&m->watches, e);

    if (!s)
        s = watch_group_add(&m->watches, m->host.rooms->base, true, &m->base_watch, e);
    if (!s && (!loop_on_readable(l, m->watches.fd, on_watch, m, e) ||
               !loop_on_signal(l, SIGINT, on_signal, m, e) ||
               !loop_on_signal(l, SIGTERM, on_signal, m, e)))
        s = ST_IO;
    return s;
}

/* The store of signals is a convenience: rooms run without it. */
static void
open_publisher(struct manager *m)
{
    struct buf config = { 0 };
    struct err e;

    if (path_config(&config, &e) == ST_OK)
        m->host.publisher = hub_publisher_new(config.p, &e);
    if (!m->host.publisher)
        manager_tell_note(&m->host.voice, NULL, "messages are not published as signals: %s",
                          e.text);
    buf_release(&config);
}

static enum status
prepare(struct manager *m, struct err *e)
{
    enum status s = players_open(&m->players, m->host.rooms, e);

    if (!s)
        s = room_body_max_in(m->host.rooms->base, &m->host.max_body, e);
    if (!s)
        s = rooms_check_circles(m->host.rooms, NULL, e);
    if (!s && !(m->host.loop = loop_new(e)))
        s = ST_IO;
    if (!s)
        s = add_rooms(m, e);
    proc_raise_files(m->n * FILES_PER_ROOM + OTHER_FILES);
    if (!s)
        s = check_roles(m, e);
    if (!s)
        s = watch_all(m, e);
    return s;
}

static void
run(struct manager *m, struct err *e)
{
    open_publisher(m);
    watch_channels(m, false); /* before they are read: nothing is missed */
    m->is_settling = true;
    for (size_t i = 0; i < m->n; i++)
        room_actor_recover(m->actors[i]);
    for (size_t i = 0; i < m->n; i++)
        look_at_dependencies(m, m->actors[i]);
    for (size_t i = 0; i < m->n; i++)
        room_actor_look(m->actors[i]);
    m->is_settling = false;
    settle(m);
    if (!m->is_over)
        loop_run(m->host.loop, e);
}

static void
finish(struct manager *m, struct manager_outcome *out)
{
    struct err e;

    *out = (struct manager_outcome){ .total = m->n + m->n_bad, .is_stopped = m->host.is_ending };
    for (size_t i = 0; i < m->n; i++)
        out->passed += room_actor_has_passed(m->actors[i]);
    if (out->total && out->passed == out->total) {
        bool is_stopped = false;
        if (release_notes_write(m->host.rooms, &e))
            manager_tell_note(&m->host.voice, NULL, "%s", e.text);
        if (!out->is_stopped)
            out->unsigned_roles =
                release_signoff_ask(m->host.rooms, &m->players, &m->host.voice, &is_stopped);
        out->is_stopped = out->is_stopped || is_stopped;
    }
    if (m->host.publisher && hub_publisher_end(m->host.publisher, NULL, &e))
        manager_tell_note(&m->host.voice, NULL, "%s", e.text);
    manager_tell_end(&m->host.voice, out->total, out->passed);
}

enum status
manager_run(const struct rooms *r, const struct manager_options *o, struct manager_outcome *out,
            struct err *e)
{
    struct manager m = {
        .o = o,
        .watches.fd = -1,
        .base_watch = -2,
        .host = { .rooms = r, .voice.is_json = o->is_json, .settle = settle },
    };
    int lock = -1;
    enum status s = r->dir < 0 ? err_set(e, ST_NOT_FOUND,
                                         "there are no rooms in %s: cliq room "
                                         "create makes one",
                                         r->base)
                               : manager_lock_take(r, &lock, e);

    m.host.ctx = &m;
    m.host.players = &m.players;
    signal(SIGPIPE, SIG_IGN);
    if (!s)
        s = prepare(&m, e);
    if (!s) {
        run(&m, e);
        finish(&m, out);
    }
    for (size_t i = 0; i < m.n; i++) {
        room_actor_close(m.actors[i]);
        free(m.actors[i]);
    }
    free(m.actors);
    watch_group_close(&m.watches);
    loop_free(m.host.loop);
    players_close(&m.players);
    manager_lock_drop(lock);
    return s;
}
