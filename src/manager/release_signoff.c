#include "manager/release_signoff.h"

#include "base/path.h"
#include "base/sys.h"
#include "context/state_dir.h"
#include "manager/room_act.h"
#include "manager/room_picture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWERED "/answered" /* a file of an attempt whose answer was taken */

enum {
    TRIES_MAX = 1000, /* attempts of one room that may be there already */
    ATTEMPT_PATH = 64
};

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
    unsigned n; /* of the attempt; 0: none */
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

/* ---- attempts, this manager's and those of one that was killed ------------- */

static void
attempt_path(const struct signoff *s, unsigned n, const char *file, char path[ATTEMPT_PATH])
{
    snprintf(path, ATTEMPT_PATH, "attempts/%u.%u%s", s->room.past.life.visit, n, file);
}

static bool
has_attempt(const struct signoff *s, unsigned n, const char *file)
{
    char path[ATTEMPT_PATH];

    attempt_path(s, n, file, path);
    return faccessat(s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The message that asks in that attempt; NULL: none. */
static const struct json *
question_of(const struct signoff *s, struct arena *a, unsigned n, struct buf *line)
{
    char path[ATTEMPT_PATH];
    struct json *m = NULL;

    buf_reset(line);
    attempt_path(s, n, "/message.json", path);
    if (path_read_file(s->dir, path, line, NULL) != ST_OK || !line->len)
        return NULL;
    const char *kept = arena_dup(a, line->p, line->len);
    return kept && json_parse(a, kept, line->len, &m, NULL) ? m : NULL;
}

/* The attempt that asks this role and whose answer nobody took, with its message; 0: none. */
static unsigned
find_unanswered(const struct signoff *s, struct buf *line)
{
    struct arena a = { 0 };
    unsigned n = 1;

    for (; n < TRIES_MAX && has_attempt(s, n, ""); n++)
        if (!has_attempt(s, n, ANSWERED) &&
            json_eq(json_get(question_of(s, &a, n, line), "to"), s->role))
            break;
    if (n == TRIES_MAX || !has_attempt(s, n, "")) {
        buf_reset(line);
        n = 0;
    }
    arena_release(&a);
    return n;
}

/* An attempt's number that was not used. */
static unsigned
free_number(const struct signoff *s)
{
    unsigned n = 1;

    while (n < TRIES_MAX && has_attempt(s, n, ""))
        n++;
    return n;
}

/* Its answer was taken: a later manager asks again. */
static void
note_answered(const struct signoff *s)
{
    char path[ATTEMPT_PATH];

    attempt_path(s, s->n, ANSWERED, path);
    int fd =
        SYS_RETRY(sys->openat(s->dir, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd >= 0)
        close(fd);
}

/* A question that was posted, and no attempt began with it. */
static bool
find_question(const struct signoff *s, struct buf *line)
{
    static const char *const release[] = { "release" };
    const struct message_filter f = { release, 1, .from = LIFE_MANAGER, .to = s->role };
    struct arena a = { 0 };
    struct buf asked = { 0 };
    struct json *m = NULL;
    int fd = -1;

    if (channel_open_read_in(s->dir, s->room.config.room, &fd, NULL) == ST_OK && fd >= 0) {
        channel_last(fd, s->room.past.after, &f, line, NULL);
        close(fd);
    }
    bool is_open = line->len && json_parse(&a, line->p, line->len, &m, NULL);
    const char *id = is_open ? json_dup_text(&a, json_get(m, "id")) : NULL;
    for (unsigned n = 1; id && n < TRIES_MAX && has_attempt(s, n, ""); n++)
        if (json_eq(json_get(question_of(s, &a, n, &asked), "id"), id))
            id = NULL;
    if (!id)
        buf_reset(line);
    arena_release(&a);
    buf_release(&asked);
    return id;
}

/* ---- asking ---------------------------------------------------------------- */

static enum status
start(struct signoff *s, struct err *e)
{
    struct buf line = { 0 }, talk = { 0 };
    unsigned before = find_unanswered(s, &line);
    struct role_task task = { .rooms = s->rooms,
                              .players = s->players,
                              .config = &s->room.config,
                              .lifecycle = &s->cycle,
                              .player = s->player,
                              .visit = s->room.past.life.visit,
                              .n = before,
                              .room_dir = s->dir };
    enum status st = ST_NOT_FOUND;

    if (before)
        st = role_process_adopt(&s->process, &task, s->loop, on_gone, s, e);
    if (st == ST_NOT_FOUND) { /* nobody was asked yet */
        role_process_release(&s->process);
        task.n = free_number(s);
        st = line.len || find_question(s, &line) ? ST_OK : post_question(s, &line, e);
        buf_adds(&talk, "The release is complete. Approve it, or say why not: ");
        buf_adds(&talk, "VERDICT: APPROVED or VERDICT: REJECTED.\n");
        struct role_input in = { &line, &talk };
        if (!st) {
            manager_tell_start(s->voice, s->room.config.room, "release", s->role, s->player.name,
                               1);
            st = role_process_start(&s->process, &task, &in, s->loop, on_gone, s, e);
        }
    }
    s->n = task.n;
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
        note_answered(s);
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
