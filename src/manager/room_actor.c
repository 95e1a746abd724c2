#include "manager/room_actor_impl.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/state_dir.h"
#include "manager/room_signals.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_retry(void *ctx);

const struct life_state *
room_actor_now(const struct room_actor *a)
{
    return life_state_of(&a->past.life);
}

const char *
room_actor_state(const struct room_actor *a)
{
    return a->past.is_blocked  ? ROOM_BLOCKED_BY
           : a->past.has_begun ? room_actor_now(a)->name
                               : ROOM_PENDING;
}

bool
room_actor_is_there(const struct room_actor *a)
{
    struct stat mine, there;

    if (sys->fstatat(a->host->rooms->dir, a->room, &there, AT_SYMLINK_NOFOLLOW) != 0)
        return errno != ENOENT;
    return sys->fstat(a->dir, &mine) != 0 ||
           (mine.st_ino == there.st_ino && mine.st_dev == there.st_dev);
}

bool
room_actor_has_begun(const struct room_actor *a)
{
    return a->past.has_begun;
}

bool
room_actor_has_passed(const struct room_actor *a)
{
    return a->past.has_begun && a->past.life.state == a->lifecycle.passed;
}

void
room_actor_give_up(struct room_actor *a, enum status s, const struct err *why)
{
    if (a->failed)
        return;
    a->failed = s;
    a->why = *why;
    a->wants_start = a->awaits_person = false;
    if (a->role)
        role_process_stop(a->role);
    manager_tell_note(&a->host->voice, a->room, "%s", why->text);
}

/* ---- the journal, and the files for other tools --------------------------- */

bool
room_actor_note(struct room_actor *a, const struct room_event *ev)
{
    struct buf line = { 0 };
    struct json *v;
    struct err e;

    room_event_write(&line, ev, clock_wall_ns() / 1000000);
    enum status s = buf_status(&line, ROOM_JOURNAL, &e);
    struct log *log = room_event_is_durable(ev->kind) ? &a->journal : &a->quick_journal;
    if (!s)
        s = log_append(log, &(struct log_text){ line.p, line.len }, 1, &e);
    const char *kept = s ? NULL : arena_dup(&a->arena, line.p, line.len);
    if (!s && (!kept || !json_parse(&a->arena, kept, line.len, &v, NULL)))
        s = err_nomem(&e);
    if (!s)
        room_past_apply(&a->past, &a->arena, v);
    buf_release(&line);
    if (s)
        room_actor_give_up(a, s, &e);
    return !s;
}

/* What other tools read. A failure is told, and mended by the next change. */
static void
tell_files(struct room_actor *a)
{
    struct err e;

    if (room_files_tell(a->dir, room_actor_state(a), a->past.life.retries, &e))
        manager_tell_note(&a->host->voice, a->room, "%s", e.text);
}

/* ---- messages that were posted -------------------------------------------- */

bool
room_actor_find_message(const struct room_actor *a, const char *id, struct buf *line, off_t *end)
{
    struct log_reader r;
    struct log_record rec;
    bool is_found = false;

    if (!id || a->fd < 0)
        return false;
    log_reader_init(&r, a->fd, 0);
    while (!is_found && log_prev(&r, &rec)) {
        is_found = json_eq(json_get(rec.json, "id"), id);
        if (is_found) {
            *end = rec.end;
            if (line)
                buf_add(line, rec.text, rec.len);
        }
    }
    log_reader_release(&r);
    return is_found;
}

/* Another program holds the channel's lock: nothing was posted, and the journal says what has to
 * be. */
static void
try_later(struct room_actor *a, enum status s, const struct err *why)
{
    int64_t now_ms = clock_mono_ms();

    if (!a->locked_ms) {
        a->locked_ms = now_ms;
        manager_tell_note(&a->host->voice, a->room, "waits for the lock of its channel: %s",
                          why->text);
    }
    if (now_ms - a->locked_ms < CHANNEL_LOCKED_MAX_MS && !a->retry)
        a->retry = loop_after(a->host->loop, CHANNEL_RETRY_MS, on_retry, a, NULL);
    if (!a->retry) {
        room_actor_give_up(a, s, why);
        return;
    }
    a->failed = s;
    a->wants_start = a->awaits_person = false;
}

bool
room_actor_post(struct room_actor *a, const struct message *m, const char *const *ids, size_t n)
{
    bool is_cut = false;
    int64_t since = clock_mono_ms();
    struct err e;
    enum status s = channel_post_as(&a->channel, m, ids, n, &is_cut, &e);

    if (!s)
        a->locked_ms = 0;
    if (s == ST_IO && clock_mono_ms() - since >= CHANNEL_WAIT_MS)
        try_later(a, s, &e);
    else if (s)
        room_actor_give_up(a, s, &e);
    else if (is_cut)
        manager_tell_note(&a->host->voice, a->room,
                          "a body was cut to %zu bytes; set channel.max_message_size_bytes to keep "
                          "more",
                          a->host->max_body);
    return !s;
}

/* ---- what opens a state ---------------------------------------------------- */

static const struct json *
parse_line(struct arena *arena, const struct buf *line)
{
    struct json *v = NULL;

    return line->len && json_parse(arena, line->p, line->len, &v, NULL) ? v : NULL;
}

void
room_actor_add_member(struct buf *to, const struct json *m, const char *key)
{
    const struct json *v = json_get(m, key);

    if (json_is(v, JSON_STRING))
        buf_add(to, v->text.p, v->text.len);
}

void
room_actor_add_file(struct room_actor *a, const char *name, struct buf *to)
{
    if (state_dir_read_at(a->dir, name, to, NULL) != ST_OK && strcmp(name, "brief.md") == 0)
        buf_adds(to, a->config.task);
}

/* The body of the manager's message: the brief of a task; of a fix, what has to be fixed. */
static void
write_opening(struct room_actor *a, struct buf *to)
{
    struct room_past *p = &a->past;
    struct arena arena = { 0 };
    struct buf line = { 0 };
    off_t end;

    if (strcmp(p->open_type, "task") == 0) {
        room_actor_add_file(a, "brief.md", to);
        return;
    }
    room_actor_find_message(a, p->by, &line, &end);
    const struct json *m = parse_line(&arena, &line);
    if (p->is_late) {
        buf_addf(to, "The state %s timed out after %g s", p->from ? p->from : "",
                 (double)a->config.timeout_ms / 1000);
    } else {
        room_actor_add_member(to, m, "from");
        buf_adds(to, json_eq(json_get(m, "type"), "error") ? " could not go on" : " sent it back");
    }
    buf_addf(to, " (failed tries: %u of %u).\n", p->life.retries, a->lifecycle.max_retries);
    if (m && json_is(json_get(m, "body"), JSON_STRING)) {
        buf_addc(to, '\n');
        room_actor_add_member(to, m, "body");
    }
    buf_release(&line);
    arena_release(&arena);
}

/* Adds the notes of a triage to the brief, once. */
static void
add_notes(struct room_actor *a)
{
    struct arena arena = { 0 };
    struct buf line = { 0 }, brief = { 0 }, mark = { 0 };
    struct err e;
    off_t end;

    if (!a->past.adds_notes || !room_actor_find_message(a, a->past.by, &line, &end))
        return;
    const struct json *m = parse_line(&arena, &line);
    room_actor_add_file(a, "brief.md", &brief);
    buf_addf(&mark, "<!-- %s -->", a->past.by);
    if (m && brief.p && mark.p && !strstr(brief.p, mark.p)) {
        buf_addf(&brief, "\n## Notes of the triage %s\n\n", mark.p);
        room_actor_add_member(&brief, m, "body");
        buf_addc(&brief, '\n');
        if (!buf_failed(&brief) && state_dir_replace_at(a->dir, "brief.md", brief.p, brief.len, &e))
            manager_tell_note(&a->host->voice, a->room, "%s", e.text);
    }
    buf_release(&line);
    buf_release(&brief);
    buf_release(&mark);
    arena_release(&arena);
}

/* Posts what opens the state, unless it is there, and finds where messages begin to count. */
static bool
open_state(struct room_actor *a)
{
    struct room_past *p = &a->past;
    struct buf body = { 0 };
    off_t end = 0;

    add_notes(a);
    if (p->open_id && !room_actor_find_message(a, p->open_id, NULL, &end)) {
        write_opening(a, &body);
        struct message m = { .from = LIFE_MANAGER,
                             .to = p->open_to ? p->open_to : LIFE_MANAGER,
                             .type = p->open_type ? p->open_type : "fix",
                             .ref = a->config.ref,
                             .body = body.p ? body.p : "",
                             .body_len = body.len };
        bool is_good = room_actor_post(a, &m, (const char *const[]){ p->open_id }, 1) &&
                       room_actor_find_message(a, p->open_id, NULL, &end);
        buf_release(&body);
        if (!is_good)
            return false;
    }
    if (end > p->after)
        p->after = end;
    a->scanned = p->after;
    return true;
}

/* ---- moving ---------------------------------------------------------------- */

void
room_actor_drop_timer(struct loop_source **timer)
{
    loop_drop(*timer);
    *timer = NULL;
}

static void
on_linger(void *ctx)
{
    struct room_actor *a = ctx;

    room_actor_drop_timer(&a->linger);
    if (a->role)
        role_process_stop(a->role);
}

/* The process is of a visit that is over. One that answered by itself may end by itself. */
static void
leave_process(struct room_actor *a, bool may_linger)
{
    room_actor_drop_timer(&a->late);
    if (!a->role || a->is_stale)
        return;
    a->is_stale = true;
    if (may_linger)
        a->linger = loop_after(a->host->loop, ROLE_LINGER_MS, on_linger, a, NULL);
    if (!a->linger)
        role_process_stop(a->role);
}

bool
room_actor_move(struct room_actor *a, const struct life *next, const struct life_move *mv,
                const char *id, off_t end, bool may_linger)
{
    const struct lifecycle *c = &a->lifecycle;
    char new_id[MESSAGE_ID_SIZE] = "";
    struct room_event ev = { .kind = ROOM_MOVE,
                             .visit = next->visit,
                             .from = c->states[mv->from].name,
                             .to = c->states[next->state].name,
                             .retries = next->retries,
                             .by = id,
                             .is_late = !id,
                             .adds_notes = mv->adds_notes,
                             .after = (int64_t)end };

    if (mv->posts) {
        struct message m = { .from = LIFE_MANAGER, .type = mv->posts };
        message_id(&m, new_id);
        ev.id = new_id;
        ev.type = mv->posts;
        ev.to_role = mv->to_role;
    }
    if (!room_actor_note(a, &ev))
        return false;
    leave_process(a, may_linger);
    a->awaits_person = a->has_told_person = a->wants_start = false;
    manager_tell_move(&a->host->voice, a->room, ev.from, ev.to, ev.retries);
    bool is_good = open_state(a);
    tell_files(a);
    return is_good;
}

/* ---- reading --------------------------------------------------------------- */

off_t
room_actor_channel_end(const struct room_actor *a)
{
    struct stat st;

    return a->fd >= 0 && sys->fstat(a->fd, &st) == 0 ? st.st_size : 0;
}

/* Shows and publishes a message that is new to this manager. */
static void
tell(struct room_actor *a, const struct json *m)
{
    struct buf request = { 0 };

    manager_tell_message(&a->host->voice, a->room, m);
    if (a->host->publisher) {
        room_signals_write(&request, a->room, m);
        if (request.len) {
            hub_publisher_add(a->host->publisher, &request);
            hub_publisher_go(a->host->publisher);
        }
    }
    buf_release(&request);
}

/* A message that counts. */
struct counted {
    size_t signal; /* SIZE_MAX: there is none */
    off_t end;
    const char *id; /* in `arena`; "": it has none */
    bool is_of_process;
    struct arena arena;
};

static void
weigh(struct room_actor *a, const struct log_record *rec, struct counted *found)
{
    struct arena scratch = { 0 };
    const char *from = json_dup_text(&scratch, json_get(rec->json, "from"));
    const char *type = json_dup_text(&scratch, json_get(rec->json, "type"));
    size_t signal = from && type && a->past.has_begun && rec->at >= a->past.after
                        ? life_answers(&a->past.life, from, type)
                        : SIZE_MAX;

    if (signal != SIZE_MAX) {
        arena_reset(&found->arena);
        const char *id = json_dup_text(&found->arena, json_get(rec->json, "id"));
        found->signal = signal;
        found->end = rec->end;
        found->id = id ? id : "";
    }
    arena_release(&scratch);
}

/* Opens the channel that is there now: another tool may have replaced the file. */
static void
reopen(struct room_actor *a)
{
    struct stat mine, there;
    struct err e;
    int fd;

    if (sys->fstatat(a->dir, ROOM_CHANNEL, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
        (a->fd >= 0 && sys->fstat(a->fd, &mine) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev))
        return;
    if (channel_open_read_in(a->dir, a->room, &fd, &e)) {
        room_actor_give_up(a, ST_FAILED, &e);
        return;
    }
    if (a->fd >= 0)
        close(a->fd);
    a->fd = fd;
    a->needs_watch = true;
}

/* Reads to the end; the latest message that counts. */
static void
read_channel(struct room_actor *a, struct counted *found)
{
    struct log_reader r;
    struct log_record rec;
    struct err e;
    uint64_t n_bad = 0;
    off_t at = a->scanned < a->seen ? a->scanned : a->seen;

    *found = (struct counted){ .signal = SIZE_MAX };
    reopen(a);
    if (a->fd < 0)
        return;
    if (room_actor_channel_end(a) < at) {
        manager_tell_note(&a->host->voice, a->room,
                          "the channel became shorter: messages count from its end on");
        a->past.after = a->scanned = a->seen = at = room_actor_channel_end(a);
    }
    log_reader_init(&r, a->fd, at);
    r.wants_bad = true;
    while (log_next(&r, &rec)) {
        if (rec.at >= a->seen) {
            if (rec.verdict == LOG_GOOD)
                tell(a, rec.json);
            else
                n_bad++;
            a->seen = rec.end;
        }
        if (rec.verdict == LOG_GOOD && rec.at >= a->scanned)
            weigh(a, &rec, found);
        if (rec.end > a->scanned)
            a->scanned = rec.end;
    }
    enum status s = log_reader_status(&r, &e);
    log_reader_release(&r);
    if (n_bad)
        manager_tell_note(&a->host->voice, a->room,
                          "%" PRIu64 " line%s of the channel %s no message, and passed over", n_bad,
                          n_bad == 1 ? "" : "s", n_bad == 1 ? "is" : "are");
    if (s)
        room_actor_give_up(a, s, &e);
}

/* True: it moved, so what is behind may count for the new state. */
static bool
apply_messages(struct room_actor *a)
{
    struct counted found;
    struct life next = a->past.life;
    struct life_move mv;
    bool has_moved = false;

    read_channel(a, &found);
    if (found.signal != SIZE_MAX && !a->failed) {
        struct life_event ev = { LIFE_MESSAGE, found.signal };
        const char *id = arena_dup(&a->arena, found.id, strlen(found.id));
        life_apply(&next, &ev, &mv);
        has_moved = id && room_actor_move(a, &next, &mv, id, found.end, true);
    }
    arena_release(&found.arena);
    return has_moved;
}

/* ---- what follows ------------------------------------------------------------ */

/* After the channel was read: does the state need a process, or a person? */
static void
find_need(struct room_actor *a)
{
    struct err e;

    a->wants_start = false;
    a->is_over = a->past.is_blocked || (a->past.has_begun && life_is_over(&a->past.life));
    if (a->is_over || a->failed || a->role)
        return;
    if (!a->past.has_begun && a->readiness != ROOM_READY)
        return;
    a->player = (struct player){ .kind = PLAYER_PERSON, .name = "person" };
    enum status s = room_actor_now(a)->role
                        ? players_find(a->host->players, room_actor_now(a)->role, &a->player, &e)
                        : ST_OK;
    if (s) {
        room_actor_give_up(a, s, &e);
        return;
    }
    a->awaits_person = a->player.kind == PLAYER_PERSON;
    a->wants_start = !a->awaits_person;
}

void
room_actor_begin(struct room_actor *a)
{
    struct room_event ev = { .kind = ROOM_BEGIN,
                             .to = a->lifecycle.states[a->past.life.state].name,
                             .retries = a->past.life.retries,
                             .after = (int64_t)a->past.after };

    if (room_actor_note(a, &ev)) {
        a->scanned = a->past.after;
        tell_files(a);
    }
}

void
room_actor_look(struct room_actor *a)
{
    if (a->failed)
        return;
    while (apply_messages(a) && !a->failed)
        ;
    find_need(a);
    if (a->awaits_person && !a->past.has_begun && !a->failed && !a->host->is_ending) {
        room_actor_begin(a);
        while (!a->failed && apply_messages(a))
            ;
        find_need(a);
    }
    if (a->awaits_person && !a->has_told_person && !a->is_over && !a->failed) {
        a->has_told_person = true;
        manager_tell_waits(&a->host->voice, a->room, room_actor_now(a)->name,
                           room_actor_now(a)->role ? room_actor_now(a)->role : "any role");
    }
}

void
room_actor_set_readiness(struct room_actor *a, enum room_readiness r)
{
    a->readiness = r;
    if (a->past.has_begun && !a->past.is_blocked)
        return;
    if (r == ROOM_BLOCKED && !a->past.is_blocked) {
        room_actor_note(a, &(struct room_event){ .kind = ROOM_BLOCKED_EVENT });
        manager_tell_move(&a->host->voice, a->room, ROOM_PENDING, ROOM_BLOCKED_BY, 0);
        tell_files(a);
    } else if (r != ROOM_BLOCKED && a->past.is_blocked) {
        room_actor_note(a, &(struct room_event){ .kind = ROOM_FREE });
        tell_files(a);
    }
    a->is_over = a->past.is_blocked;
}

/* ---- opening ------------------------------------------------------------------ */

/* A room that another tool was running: its state is that of its files. Messages count that are not
 * older than the state, which is all that such a tool knows. */
static void
take_over(struct room_actor *a)
{
    const char *word = room_word(&a->arena, a->dir, "status");
    size_t state = lifecycle_find(&a->lifecycle, word);
    int64_t since = strtoll(room_word(&a->arena, a->dir, "state_changed_at"), NULL, 10);
    struct log_reader r;
    struct log_record rec;
    char at[CLOCK_ISO_SIZE];

    if (a->past.has_begun || state == SIZE_MAX)
        return;
    clock_iso(at, since * 1000000000, 0);
    a->past.life.state = state;
    a->past.life.retries = (unsigned)strtoul(room_word(&a->arena, a->dir, "retries"), NULL, 10);
    a->past.after = room_actor_channel_end(a);
    if (a->fd >= 0) {
        log_reader_init(&r, a->fd, 0);
        while (log_next(&r, &rec)) {
            const char *ts = json_dup_text(&a->arena, json_get(rec.json, "ts"));
            if (ts && strcmp(ts, at) >= 0) {
                a->past.after = rec.at;
                break;
            }
        }
        log_reader_release(&r);
    }
    room_actor_begin(a);
}

enum status
room_actor_open(struct room_actor *a, struct actor_host *host, const char *room, struct err *e)
{
    struct log_options durable = { .is_durable = true }, quick = { .is_durable = false };

    *a = (struct room_actor){ .host = host,
                              .dir = -1,
                              .fd = -1,
                              .channel.dir = -1,
                              .channel.log.fd = -1,
                              .journal.fd = -1,
                              .quick_journal.fd = -1,
                              .watch = -1 };
    a->room = arena_dup(&a->arena, room, strlen(room));
    enum status s = a->room ? rooms_open_room(host->rooms, room, &a->dir, e) : err_nomem(e);
    if (!s)
        s = room_config_read(&a->arena, a->dir, room, &a->config, e);
    if (!s) {
        rooms_resolve(host->rooms, &a->arena, &a->config);
        s = room_lifecycle_read(&a->arena, a->dir, &a->config, &a->lifecycle, e);
    }
    if (!s)
        s = room_past_read(&a->past, &a->arena, a->dir, &a->lifecycle, e);
    if (!s && a->past.bad)
        s = err_set(e, ST_FAILED,
                    "room %s: %" PRIu64 " lines of its journal cannot be used, so its state is not "
                    "known: cliq fsck %s/%s/" ROOM_JOURNAL,
                    room, a->past.bad, host->rooms->base, room);
    if (!s)
        s = log_open(&a->journal, a->dir, ROOM_JOURNAL, &durable, e);
    if (!s)
        s = log_open(&a->quick_journal, a->dir, ROOM_JOURNAL, &quick, e);
    if (!s)
        s = channel_open_in(&a->channel, a->dir, host->max_body, true, e);
    a->channel.log.o.lock_wait_ms = CHANNEL_WAIT_MS;
    if (!s)
        s = channel_open_read_in(a->dir, room, &a->fd, e);
    a->needs_watch = true;
    a->seen = a->scanned = a->past.has_begun ? a->past.after : 0;
    a->is_over = a->past.has_begun && life_is_over(&a->past.life);
    if (s)
        room_actor_close(a);
    return s;
}

void
room_actor_close(struct room_actor *a)
{
    room_actor_drop_timer(&a->late);
    room_actor_drop_timer(&a->retry);
    room_role_free(a);
    log_close(&a->journal);
    log_close(&a->quick_journal);
    channel_close(&a->channel);
    if (a->fd >= 0)
        close(a->fd);
    if (a->dir >= 0)
        close(a->dir);
    arena_release(&a->arena);
    a->fd = a->dir = -1;
}

/* ---- after a restart ------------------------------------------------------------ */

void
room_actor_recover(struct room_actor *a)
{
    struct err e;

    take_over(a);
    if (!a->past.has_begun || a->failed)
        return;
    if (!open_state(a))
        return;
    tell_files(a);
    if (life_is_over(&a->past.life) || !room_actor_now(a)->role)
        return;
    enum status s = players_find(a->host->players, room_actor_now(a)->role, &a->player, &e);
    if (a->past.player) /* as it was started, whatever the settings say now */
        a->player = strcmp(a->past.player, "command") == 0
                        ? (struct player){ PLAYER_COMMAND, "command", a->player.command }
                        : (struct player){ PLAYER_AGENT, a->past.player, NULL };
    if (s)
        room_actor_give_up(a, s, &e);
    else if (a->past.result_id)
        room_role_recover_result(a);
    else if (a->past.is_open)
        room_role_recover_process(a);
}

/* Is the lock free? Then the room goes on as after a restart. */
static void
on_retry(void *ctx)
{
    struct room_actor *a = ctx;
    struct err e;
    enum status s;

    room_actor_drop_timer(&a->retry);
    s = a->role ? ST_CONFLICT /* a process of an earlier visit is being stopped */
                : log_try_lock(&a->channel.log, &e);
    if (s == ST_CONFLICT) {
        err_say(&e,
                "another program has held the lock of its channel for more than %d s: the next "
                "cliq room run goes on",
                CHANNEL_LOCKED_MAX_MS / 1000);
        s = a->failed;
        a->failed = ST_OK;
        try_later(a, s, &e);
    } else {
        a->failed = ST_OK;
        if (s)
            room_actor_give_up(a, s, &e);
        else
            log_unlock(&a->channel.log);
        if (!s)
            room_actor_recover(a);
        room_actor_look(a);
    }
    a->host->settle(a->host->ctx);
}
