#include "manager/release_signoff.h"

#include "base/path.h"
#include "context/state_dir.h"
#include "manager/room_act.h"
#include "manager/room_picture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES_MAX = 1000 }; /* attempts of one room that may be there already */

/* The state in which a role is asked: no life cycle has it. */
static struct life_signal answers[] = {
    { .type = "approved" }, { .type = "pass" }, { .type = "rejected" }, { .type = "fail" }
};

/* One role of one room that is asked. */
struct signoff {
    const struct rooms *rooms;
    struct players *players;
    struct manager_voice *voice;
    struct loop *loop;
    struct room_picture room;
    const char *role;
    struct life_state state;
    struct lifecycle cycle; /* of that state alone */
    struct player player;
    struct role_process process;
    struct loop_source *late;
    int dir;
    bool is_done, is_late, is_stopped;
};

static void
on_gone(void *ctx)
{
    struct signoff *s = ctx;

    if (role_process_is_gone(&s->process)) {
        s->is_done = true;
        loop_stop(s->loop);
    }
}

static void
on_late(void *ctx)
{
    struct signoff *s = ctx;

    loop_drop(s->late);
    s->late = NULL;
    s->is_late = true;
    role_process_stop(&s->process);
}

static void
on_signal(void *ctx)
{
    struct signoff *s = ctx;

    s->is_stopped = true;
    role_process_stop(&s->process);
}

/* Posts the message that asks; its line goes to `line`. */
static enum status
post_question(struct signoff *s, struct buf *line, struct err *e)
{
    struct buf notes = { 0 };
    char id[MESSAGE_ID_SIZE];
    bool is_cut;

    if (state_dir_read_at(s->rooms->dir, "RELEASE.md", &notes, NULL) != ST_OK)
        buf_adds(&notes, "Every room passed.\n");
    struct message m = { .from = LIFE_MANAGER,
                         .to = s->role,
                         .type = "release",
                         .ref = s->room.config.ref,
                         .body = notes.p ? notes.p : "",
                         .body_len = notes.len };
    enum status st = room_act_post(s->rooms, NULL, s->room.config.room, &m, id, &is_cut, e);
    if (!st) {
        message_write(line, &m, MESSAGE_BODY_MAX, id);
        st = buf_status(line, "the message", e);
    }
    buf_release(&notes);
    return st;
}

/* An attempt's number that was not used. */
static unsigned
free_number(const struct signoff *s)
{
    char path[48];
    unsigned n = 1;

    for (; n < TRIES_MAX; n++) {
        snprintf(path, sizeof path, "attempts/%u.%u", s->room.past.life.visit, n);
        if (faccessat(s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            break;
    }
    return n;
}

static enum status
start(struct signoff *s, struct err *e)
{
    struct buf line = { 0 }, talk = { 0 };
    struct role_task task = { .rooms = s->rooms,
                              .players = s->players,
                              .config = &s->room.config,
                              .lifecycle = &s->cycle,
                              .player = s->player,
                              .visit = s->room.past.life.visit,
                              .n = free_number(s),
                              .room_dir = s->dir };
    enum status st = post_question(s, &line, e);

    buf_adds(&talk, "The release is complete. Approve it, or say why not: ");
    buf_adds(&talk, "VERDICT: APPROVED or VERDICT: REJECTED.\n");
    struct role_input in = { &line, &talk };
    if (!st) {
        manager_tell_start(s->voice, s->room.config.room, "release", s->role, s->player.name, 1);
        st = role_process_start(&s->process, &task, &in, s->loop, on_gone, s, e);
    }
    buf_release(&line);
    buf_release(&talk);
    return st;
}

/* Its answer, in `body`; true: it approves. */
static bool
is_approval(struct signoff *s, struct buf *body)
{
    const char *type = role_process_result(&s->process, body);

    return !s->is_late && !s->is_stopped && type &&
           (strcmp(type, "approved") == 0 || strcmp(type, "pass") == 0);
}

static bool
ask(struct signoff *s, struct err *e)
{
    struct buf body = { 0 };
    char id[MESSAGE_ID_SIZE];
    enum status st = ST_IO;
    bool is_signed = false;

    if ((s->loop = loop_new(e)) && loop_on_signal(s->loop, SIGINT, on_signal, s, e) &&
        loop_on_signal(s->loop, SIGTERM, on_signal, s, e))
        st = start(s, e);
    if (!st) {
        s->late = loop_after(s->loop, (uint64_t)s->room.config.timeout_ms, on_late, s, NULL);
        st = loop_run(s->loop, e);
    }
    if (!st && s->is_done) {
        is_signed = is_approval(s, &body);
        if (is_signed)
            st = room_act_signoff(s->rooms, NULL, s->room.config.room, s->role,
                                  body.p ? body.p : "", id, e);
        else
            err_say(e, "%s: %s", s->is_late ? "it did not answer in time" : "it did not approve",
                    body.p ? body.p : "");
    }
    role_process_release(&s->process);
    loop_free(s->loop);
    buf_release(&body);
    return is_signed && !st;
}

/* Has the role signed this room, or is it no role of it? */
static bool
owes_nothing(const struct room_picture *p, const char *role)
{
    const char *open;

    for (size_t i = 0; (open = room_picture_unsigned(p, i)); i++)
        if (strcmp(open, role) == 0)
            return false;
    return true;
}

static bool
sign(struct signoff *s, const char *room, const char *role)
{
    struct arena a = { 0 };
    struct err e = { "" };
    bool is_signed = false;
    enum status st = room_picture_read(s->rooms, s->players, &a, room, &s->room, &e);

    if (!st && owes_nothing(&s->room, role)) {
        arena_release(&a);
        return true;
    }
    s->role = role;
    s->state = (struct life_state){ .name = "release",
                                    .role = role,
                                    .type = LIFE_REVIEW,
                                    .signals = answers,
                                    .n_signals = sizeof answers / sizeof *answers };
    s->cycle = (struct lifecycle){ .states = &s->state, .n_states = 1 };
    if (!st)
        st = players_find(s->players, role, &s->player, &e);
    if (!st && s->player.kind == PLAYER_PERSON)
        st = err_set(&e, ST_REFUSED, "a person has to: cliq room signoff %s --from %s -m …", room,
                     role);
    if (!st)
        st = rooms_open_room(s->rooms, room, &s->dir, &e);
    if (!st) {
        is_signed = ask(s, &e);
        close(s->dir);
    }
    if (is_signed)
        manager_tell_note(s->voice, room, "%s has signed it off", role);
    else
        manager_tell_note(s->voice, room, "%s has not signed it off: %s", role, e.text);
    arena_release(&a);
    return is_signed;
}

/* Of all rooms, also those that this manager did not run. */
static bool
is_release(const struct rooms *r, struct arena *a, const char *const *names, size_t n)
{
    bool is_passed = true;

    for (size_t i = 0; is_passed && i < n; i++) {
        int dir;
        is_passed = rooms_open_room(r, names[i], &dir, NULL) == ST_OK;
        if (is_passed) {
            is_passed = strcmp(room_word(a, dir, "status"), LIFE_PASSED) == 0;
            close(dir);
        }
    }
    return is_passed;
}

size_t
release_signoff_ask(const struct rooms *r, struct players *players, struct manager_voice *voice,
                    bool *is_stopped)
{
    const struct json *roles = settings_get(&players->settings, "release.require_signoffs");
    struct arena a = { 0 };
    const char **names;
    size_t n = 0, n_open = 0;
    struct err e;

    *is_stopped = false;
    if (rooms_list(r, &a, false, &names, &n, &e))
        manager_tell_note(voice, NULL, "%s", e.text);
    for (size_t i = 0; i < n && is_release(r, &a, names, n); i++)
        json_each (v, roles) {
            const char *role = json_dup_text(&a, v);
            struct signoff s = { .rooms = r, .players = players, .voice = voice, .dir = -1 };
            if (role && !*is_stopped && !sign(&s, names[i], role))
                n_open++;
            *is_stopped = *is_stopped || s.is_stopped;
        }
    arena_release(&a);
    return n_open;
}
