#include "manager/room_journal.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {
    [ROOM_BEGIN] = "begin",   [ROOM_START] = "start",
    [ROOM_RESULT] = "result", [ROOM_CRASH] = "crash",
    [ROOM_STOP] = "stop",     [ROOM_STALL] = "stall",
    [ROOM_MOVE] = "move",     [ROOM_BLOCKED_EVENT] = "blocked",
    [ROOM_FREE] = "free",
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

bool
room_event_is_durable(enum room_event_kind kind)
{
    return kind == ROOM_BEGIN || kind == ROOM_MOVE || kind == ROOM_BLOCKED_EVENT ||
           kind == ROOM_FREE;
}

void
room_event_write(struct buf *to, const struct room_event *ev, int64_t at_ms)
{
    json_open(to, '{');
    json_key_str(to, "ev", kinds[ev->kind]);
    json_key_int(to, "at", at_ms);
    if (ev->visit)
        json_key_int(to, "visit", ev->visit);
    if (ev->n)
        json_key_int(to, "n", ev->n);
    json_key_str(to, "from", ev->from);
    json_key_str(to, ev->kind == ROOM_BEGIN ? "state" : "to", ev->to);
    if (ev->kind == ROOM_MOVE || (ev->kind == ROOM_BEGIN && ev->retries))
        json_key_int(to, "retries", ev->retries);
    json_key_str(to, "role", ev->role);
    json_key_str(to, "player", ev->player);
    json_key_str(to, "by", ev->by);
    if (ev->kind == ROOM_MOVE || ev->kind == ROOM_BEGIN)
        json_key_int(to, "after", ev->after);
    json_key_str(to, ev->kind == ROOM_MOVE ? "posts" : "type", ev->type);
    json_key_str(to, "to_role", ev->to_role);
    json_key_str(to, "id", ev->id);
    if (ev->is_late)
        json_key_bool(to, "late", true);
    if (ev->adds_notes)
        json_key_bool(to, "notes", true);
    json_close(to, '}');
}

void
room_past_init(struct room_past *p, const struct lifecycle *c)
{
    *p = (struct room_past){ 0 };
    life_begin(&p->life, c);
}

static bool
read_count(const struct json *line, const char *key, unsigned *to)
{
    int64_t n = 0;

    if (!json_int(json_get(line, key), &n) || n < 0 || n > 1000000000)
        return false;
    *to = (unsigned)n;
    return true;
}

static bool
read_state(const struct room_past *p, struct arena *a, const struct json *v, size_t *to)
{
    const char *name = json_dup_text(a, v);

    *to = name ? lifecycle_find(p->life.c, name) : SIZE_MAX;
    return *to != SIZE_MAX;
}

static bool
enter(struct room_past *p, struct arena *a, const struct json *line, bool is_move, int64_t at)
{
    unsigned visit = 1, retries = 0;
    int64_t after = 0;
    size_t state;

    if (!read_state(p, a, json_get(line, is_move ? "to" : "state"), &state) ||
        !json_int(json_get(line, "after"), &after) || after < 0 ||
        (is_move && !read_count(line, "visit", &visit)))
        return false;
    read_count(line, "retries", &retries);
    unsigned recoveries = p->life.recoveries;
    struct life life = p->life;
    life.state = state;
    life.visit = visit;
    life.retries = retries;
    life.crashes = 0;
    life.recoveries = recoveries;
    *p = (struct room_past){ .has_begun = true,
                             .life = life,
                             .after = (off_t)after,
                             .moved_ms = at,
                             .bad = p->bad,
                             .open_id = json_dup_text(a, json_get(line, "id")),
                             .open_type = json_dup_text(a, json_get(line, "posts")),
                             .open_to = json_dup_text(a, json_get(line, "to_role")),
                             .by = json_dup_text(a, json_get(line, "by")),
                             .from = json_dup_text(a, json_get(line, "from")),
                             .is_late = json_is(json_get(line, "late"), JSON_TRUE),
                             .adds_notes = json_is(json_get(line, "notes"), JSON_TRUE) };
    return true;
}

/* Of the attempt that runs; lines of others are history. */
static bool
is_of_now(const struct room_past *p, const struct json *line)
{
    unsigned visit = 0, n = 0;

    return read_count(line, "visit", &visit) && read_count(line, "n", &n) &&
           visit == p->life.visit && n == p->n;
}

static bool
start(struct room_past *p, struct arena *a, const struct json *line, int64_t at)
{
    unsigned visit = 0, n = 0;

    if (!read_count(line, "visit", &visit) || !read_count(line, "n", &n) || visit != p->life.visit)
        return false;
    p->n = n;
    p->is_open = true;
    p->result_id = p->result_type = NULL;
    p->player = json_dup_text(a, json_get(line, "player"));
    if (!p->started_ms)
        p->started_ms = at;
    return true;
}

static bool
end(struct room_past *p, struct arena *a, const struct json *line, enum room_event_kind kind)
{
    if (!is_of_now(p, line))
        return false;
    p->is_open = false;
    if (kind == ROOM_CRASH)
        p->life.crashes++;
    else if (kind == ROOM_STALL)
        p->life.recoveries++;
    bool is_result = kind == ROOM_RESULT;
    p->result_id = is_result ? json_dup_text(a, json_get(line, "id")) : NULL;
    p->result_type = is_result ? json_dup_text(a, json_get(line, "type")) : NULL;
    return true;
}

bool
room_past_apply(struct room_past *p, struct arena *a, const struct json *line)
{
    const struct json *ev = json_get(line, "ev");
    size_t kind = 0;
    int64_t at = 0;

    while (kind < N_KINDS && !json_eq(ev, kinds[kind]))
        kind++;
    json_int(json_get(line, "at"), &at);
    switch (kind) {
    case ROOM_BEGIN:
    case ROOM_MOVE:
        return enter(p, a, line, kind == ROOM_MOVE, at);
    case ROOM_START:
        return start(p, a, line, at);
    case ROOM_RESULT:
    case ROOM_CRASH:
    case ROOM_STOP:
    case ROOM_STALL:
        return end(p, a, line, (enum room_event_kind)kind);
    case ROOM_BLOCKED_EVENT:
    case ROOM_FREE:
        p->is_blocked = kind == ROOM_BLOCKED_EVENT;
        return true;
    default:
        return false;
    }
}

enum status
room_past_read(struct room_past *p, struct arena *a, int dir, const struct lifecycle *c,
               struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    int fd = SYS_RETRY(
        sys->openat(dir, ROOM_JOURNAL, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    room_past_init(p, c);
    if (fd < 0)
        return errno == ENOENT ? ST_OK : path_open_failed(dir, ROOM_JOURNAL, ROOM_JOURNAL, e);
    log_reader_init(&r, fd, 0);
    while (log_next(&r, &rec))
        p->bad += !room_past_apply(p, a, rec.json);
    enum status s = log_reader_status(&r, e);
    p->bad += r.bad - r.torn;
    log_reader_release(&r);
    close(fd);
    return s;
}
