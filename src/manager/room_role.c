#include "manager/room_actor_impl.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TALK_MESSAGES = 20, TALK_BODY_MAX = 16384 };

static struct room_event
attempt_event(const struct room_actor *a, enum room_event_kind kind)
{
    return (struct room_event){ .kind = kind, .visit = a->past.life.visit, .n = a->past.n };
}

static void
on_late(void *ctx)
{
    struct room_actor *a = ctx;
    struct life_event ev = { .kind = LIFE_LATE };
    struct life_move mv;

    room_actor_drop_timer(&a->late);
    room_actor_look(a); /* its answer may be there already */
    if (!a->role || a->is_stale || a->failed) {
        a->host->settle(a->host->ctx);
        return;
    }
    struct life next = a->past.life;
    manager_tell_note(&a->host->voice, a->room, "the state %s timed out after %g s",
                      room_actor_now(a)->name, (double)a->config.timeout_ms / 1000);
    life_apply(&next, &ev, &mv);
    if (room_actor_move(a, &next, &mv, NULL, room_actor_channel_end(a), false))
        room_actor_look(a);
    a->host->settle(a->host->ctx);
}

static void
set_late(struct room_actor *a)
{
    int64_t left = a->past.started_ms + a->config.timeout_ms - clock_wall_ns() / 1000000;

    if (left > a->config.timeout_ms) /* the clock was set back */
        left = a->config.timeout_ms;
    room_actor_drop_timer(&a->late);
    a->late = loop_after(a->host->loop, left > 0 ? (uint64_t)left : 0, on_late, a, NULL);
}

static struct role_task
task_of(struct room_actor *a)
{
    return (struct role_task){ .rooms = a->host->rooms,
                               .players = a->host->players,
                               .config = &a->config,
                               .lifecycle = &a->lifecycle,
                               .state = a->past.life.state,
                               .player = a->player,
                               .visit = a->past.life.visit,
                               .n = a->past.n,
                               .room_dir = a->dir };
}

/* Posts what the attempt amounts to under the id that the journal has. A failed review goes to the
 * worker as findings, too. */
static bool
post_result(struct room_actor *a, const char *type, const char *id, const struct buf *body)
{
    const struct life_state *s = room_actor_now(a);
    bool has_findings = s->type == LIFE_REVIEW && strcmp(type, "fail") == 0;
    struct message m[CHANNEL_POST_MAX];
    char findings[MESSAGE_ID_SIZE];
    const char *ids[CHANNEL_POST_MAX];
    size_t n = 0;

    struct message base = {
        .from = s->role, .ref = a->config.ref, .body = body->p ? body->p : "", .body_len = body->len
    };
    if (has_findings) {
        m[n] = base;
        m[n].type = "review";
        m[n].to = lifecycle_worker(&a->lifecycle);
        message_id(&m[n], findings);
        ids[n++] = findings;
    }
    m[n] = base;
    m[n].type = type;
    m[n].to = life_receiver(&a->past.life, type);
    ids[n++] = id;
    return room_actor_post(a, m, ids, n);
}

/* The result of that visit's attempt is posted: it moves the room, or the role stalls. */
static void
follow_result(struct room_actor *a, unsigned visit)
{
    struct life_event stall = { .kind = LIFE_STALL };
    struct life_move mv;

    room_actor_look(a);
    if (a->failed || a->past.life.visit != visit || life_is_over(&a->past.life))
        return;
    struct life next = a->past.life;
    struct room_event ev = attempt_event(a, ROOM_STALL);
    manager_tell_note(&a->host->voice, a->room, "the state %s does not answer to the %s of %s",
                      room_actor_now(a)->name, a->past.result_type, room_actor_now(a)->role);
    if (life_apply(&next, &stall, &mv) == LIFE_RESTARTS)
        room_actor_note(a, &ev);
    else
        room_actor_move(a, &next, &mv, a->past.result_id, room_actor_channel_end(a), false);
}

/* The role said it: journal, post; what it said moves the room, or it stalls. */
static void
say(struct room_actor *a, const char *type, const struct buf *body)
{
    struct room_event ev = attempt_event(a, ROOM_RESULT);
    struct message m = { .from = room_actor_now(a)->role, .type = type };
    unsigned visit = a->past.life.visit;
    char id[MESSAGE_ID_SIZE];

    message_id(&m, id);
    ev.id = id;
    ev.type = type;
    if (!room_actor_note(a, &ev) || !post_result(a, type, id, body))
        return;
    follow_result(a, visit);
}

static void
crash(struct room_actor *a, const struct buf *how)
{
    struct life next = a->past.life;
    struct life_event ev = { .kind = LIFE_CRASH };
    struct room_event line = attempt_event(a, ROOM_CRASH);
    struct life_move mv;
    struct buf body = { 0 };

    manager_tell_note(&a->host->voice, a->room, "%s", how->p ? how->p : "its process crashed");
    if (life_apply(&next, &ev, &mv) == LIFE_RESTARTS) {
        room_actor_note(a, &line);
        return;
    }
    buf_addf(&body, "%s crashed %u times in this state. The last time: %s", room_actor_now(a)->role,
             next.crashes, how->p ? how->p : "");
    say(a, "error", &body);
    buf_release(&body);
}

void
room_role_free(struct room_actor *a)
{
    if (a->role)
        role_process_release(a->role);
    free(a->role);
    a->role = NULL;
    a->is_stale = a->is_interrupted = false;
    room_actor_drop_timer(&a->linger);
}

/* Its process is gone. */
static void
on_gone(void *ctx)
{
    struct room_actor *a = ctx;
    struct buf body = { 0 };

    if (!role_process_is_gone(a->role))
        return;         /* it ended; its tree is being stopped */
    room_actor_look(a); /* what it posted itself counts before what it amounts to */
    room_actor_drop_timer(&a->late);
    if (!a->is_stale && !a->failed) {
        const char *type = role_process_result(a->role, &body);
        /* one that was stopped with the manager counts only if it had done its work */
        if (a->is_interrupted && (!type || strcmp(type, "error") == 0)) {
            struct room_event ev = attempt_event(a, ROOM_STOP);
            room_actor_note(a, &ev);
        } else if (type) {
            say(a, type, &body);
        } else {
            crash(a, &body);
        }
    }
    room_role_free(a);
    buf_release(&body);
    room_actor_look(a);
    a->host->settle(a->host->ctx);
}

/* The recent conversation, for agents. */
static enum status
add_talk(void *ctx, const struct json *m, struct err *e)
{
    struct buf *to = ctx;
    const struct json *body = json_get(m, "body");

    (void)e;
    buf_adds(to, "**");
    room_actor_add_member(to, m, "from");
    buf_adds(to, " -> ");
    room_actor_add_member(to, m, "to");
    buf_adds(to, ": ");
    room_actor_add_member(to, m, "type");
    buf_adds(to, "**\n\n");
    if (json_is(body, JSON_STRING))
        buf_add(to, body->text.p, body->text.len < TALK_BODY_MAX ? body->text.len : TALK_BODY_MAX);
    buf_adds(to, "\n\n");
    return ST_OK;
}

/* The message that a role's first state is about: the last task or message to it. */
static void
find_trigger(struct room_actor *a, struct buf *line)
{
    const struct message_filter to_role = { .to = room_actor_now(a)->role };
    off_t end;

    if (room_actor_find_message(a, a->past.open_id ? a->past.open_id : a->past.by, line, &end))
        return;
    if (a->fd >= 0)
        channel_last(a->fd, 0, &to_role, line, NULL);
    if (!line->len) { /* a room that another tool made without a task */
        struct buf body = { 0 };
        room_actor_add_file(a, "brief.md", &body);
        struct message m = { .from = LIFE_MANAGER,
                             .to = room_actor_now(a)->role,
                             .type = "task",
                             .ref = a->config.ref,
                             .body = body.p ? body.p : "",
                             .body_len = body.len };
        char id[MESSAGE_ID_SIZE];
        message_id(&m, id);
        message_write(line, &m, a->host->max_body, id);
        buf_release(&body);
    }
}

/* The process could not be started: the role's error says why. */
static void
refuse_start(struct room_actor *a, const struct err *why)
{
    struct buf body = { 0 };

    room_role_free(a);
    buf_addf(&body, "%s could not be started: %s", room_actor_now(a)->role, why->text);
    say(a, "error", &body);
    buf_release(&body);
}

void
room_actor_start(struct room_actor *a)
{
    struct buf trigger = { 0 }, talk = { 0 };
    const struct channel_range recent = { .is_last = true, .last = TALK_MESSAGES };
    static const struct message_filter all = { 0 };
    uint64_t bad;
    struct err e;

    a->wants_start = false;
    if (!a->past.has_begun) {
        room_actor_begin(a);
        if (!a->failed)
            room_actor_look(a); /* it may have been answered before it began */
        if (a->failed || !a->wants_start || a->role)
            return;
        a->wants_start = false;
    }
    struct room_event ev = attempt_event(a, ROOM_START);
    ev.n++;
    ev.role = room_actor_now(a)->role;
    ev.player = a->player.name;
    if (!room_actor_note(a, &ev))
        return;
    find_trigger(a, &trigger);
    if (a->player.kind == PLAYER_AGENT && a->fd >= 0)
        channel_read(a->fd, &recent, &all, add_talk, &talk, &bad, NULL);
    a->role = calloc(1, sizeof *a->role);
    struct role_task t = task_of(a);
    struct role_input in = { &trigger, &talk };
    enum status s = a->role ? buf_status(&trigger, "the message", &e) : err_nomem(&e);
    if (!s) {
        manager_tell_start(&a->host->voice, a->room, room_actor_now(a)->name, ev.role, ev.player,
                           ev.n);
        s = role_process_start(a->role, &t, &in, a->host->loop, on_gone, a, &e);
    }
    if (s == ST_CONFLICT) { /* its start was lost with the power, its attempt file was not */
        struct room_event never = attempt_event(a, ROOM_STOP);
        room_role_free(a);
        if (room_actor_note(a, &never))
            room_actor_look(a);
    } else if (s)
        refuse_start(a, &e);
    else
        set_late(a);
    buf_release(&trigger);
    buf_release(&talk);
}

void
room_actor_interrupt(struct room_actor *a)
{
    if (!a->role)
        return;
    a->is_interrupted = a->is_interrupted || !a->is_stale;
    room_actor_drop_timer(&a->late);
    role_process_stop(a->role);
}

void
room_role_recover_result(struct room_actor *a)
{
    struct role_process past = { 0 };
    struct buf body = { 0 };
    struct err e;
    off_t end;

    if (!room_actor_find_message(a, a->past.result_id, NULL, &end)) {
        struct role_task t = task_of(a);
        const char *type = role_process_past(&past, &t, &body, &e);
        if (!type || strcmp(type, a->past.result_type ? a->past.result_type : "") != 0)
            type = a->past.result_type ? a->past.result_type : "error";
        post_result(a, type, a->past.result_id, &body);
        role_process_release(&past);
        buf_release(&body);
    }
    follow_result(a, a->past.life.visit);
}

void
room_role_recover_process(struct room_actor *a)
{
    struct err e;

    a->role = calloc(1, sizeof *a->role);
    struct role_task t = task_of(a);
    enum status s =
        a->role ? role_process_adopt(a->role, &t, a->host->loop, on_gone, a, &e) : err_nomem(&e);
    if (!s) {
        set_late(a);
        return;
    }
    room_role_free(a);
    if (s == ST_NOT_FOUND) { /* it never began */
        struct room_event ev = attempt_event(a, ROOM_STOP);
        room_actor_note(a, &ev);
    } else {
        room_actor_give_up(a, s, &e);
    }
}
