#include "room/room.h"

#include "base/path.h"
#include "base/sys.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_MAX = 1 << 20 };

enum status
room_base(struct buf *to, struct err *e)
{
    const char *env = getenv("WARROOMS_DIR");

    if (env && *env) {
        buf_adds(to, env);
        return buf_status(to, "WARROOMS_DIR", e);
    }
    enum status s = path_find_up(".war-rooms", to, e);
    if (s != ST_NOT_FOUND)
        return s;
    s = path_find_up(".cliq", to, e);
    if (!s)
        buf_cut(to, to->len - strlen(".cliq"));
    else if (s == ST_NOT_FOUND)
        buf_reset(to);
    else
        return s;
    buf_adds(to, ".war-rooms");
    return buf_status(to, "the path of the rooms", e);
}

enum status
room_path(struct buf *to, const char *room, struct err *e)
{
    enum status s = path_check_name("room name", room, e);

    if (!s)
        s = room_base(to, e);
    if (s)
        return s;
    buf_addf(to, "/%s", room);
    return buf_status(to, "the path of the room", e);
}

/* ---- the body limit ---- */

/* Reads the limit from one JSON file. *is_found: the file sets it. A missing file is fine. */
static enum status
limit_in(const char *path, size_t *max, bool *is_found, struct err *e)
{
    static const char *const places[] = { "channel.max_message_size_bytes",
                                          "max_message_size_bytes" };
    struct buf text = BUF_MAX(CONFIG_MAX);
    struct arena a = { 0 };
    struct json *doc;
    enum status s = path_read_file(AT_FDCWD, path, &text, e);

    if (s == ST_NOT_FOUND) {
        s = ST_OK;
    } else if (!s) {
        s = json_parse_named(&a, path, text.p ? text.p : "", text.len, &doc, e);
        for (size_t i = 0; !s && !*is_found && i < sizeof places / sizeof *places; i++) {
            const struct json *v = json_path(doc, places[i]);
            int64_t n;
            if (!v)
                continue;
            if (!json_int(v, &n) || n < 1)
                s = err_set(e, ST_INVALID, "%s: %s must be a whole number of bytes, at least 1",
                            path, places[i]);
            else
                *max = (size_t)n;
            *is_found = true;
        }
    }
    arena_release(&a);
    buf_release(&text);
    return s;
}

/* In the settings of <path>/.cliq. */
static enum status
limit_of_project(struct buf *path, size_t *max, bool *is_found, struct err *e)
{
    buf_adds(path, "/settings.json");
    enum status s = buf_status(path, "the path", e);
    return s ? s : limit_in(path->p, max, is_found, e);
}

/* In the user's settings. */
static enum status
limit_of_user(struct buf *path, size_t *max, bool *is_found, struct err *e)
{
    buf_reset(path);
    return path_config(path, NULL) == ST_OK ? limit_of_project(path, max, is_found, e) : ST_OK;
}

enum status
room_body_max_in(const char *base, size_t *max, struct err *e)
{
    struct buf path = { 0 };
    bool is_found = false;

    *max = MESSAGE_BODY_MAX;
    buf_addf(&path, "%s/config.json", base);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = limit_in(path.p, max, &is_found, e);
    if (!s && !is_found) {
        buf_reset(&path);
        buf_addf(&path, "%s/../.cliq", base);
        s = limit_of_project(&path, max, &is_found, e);
    }
    if (!s && !is_found)
        s = limit_of_user(&path, max, &is_found, e);
    buf_release(&path);
    return s;
}

enum status
room_body_max(size_t *max, struct err *e)
{
    struct buf path = { 0 };
    bool is_found = false;
    enum status s = room_base(&path, e);

    *max = MESSAGE_BODY_MAX;
    buf_adds(&path, "/config.json");
    if (!s && !buf_failed(&path))
        s = limit_in(path.p, max, &is_found, e);
    if (!s && !is_found) {
        s = path_find_up(".cliq", &path, e);
        if (!s)
            s = limit_of_project(&path, max, &is_found, e);
        else if (s == ST_NOT_FOUND)
            s = ST_OK;
    }
    if (!s && !is_found)
        s = limit_of_user(&path, max, &is_found, e);
    buf_release(&path);
    return s;
}

/* ---- channels ---- */

static enum status
open_room(const char *room, bool create, int *dir, struct err *e)
{
    struct buf base = { 0 };
    int fd = -1;
    enum status s = path_check_name("room name", room, e);

    if (!s)
        s = room_base(&base, e);
    if (!s)
        s = path_open_dir(base.p, create, &fd, e);
    if (!s)
        s = path_open_dir_at(fd, room, create, dir, e);
    if (fd >= 0)
        close(fd);
    buf_release(&base);
    return s;
}

enum status
channel_open(struct channel *c, const char *room, bool is_durable, struct err *e)
{
    struct log_options o = { .is_durable = is_durable };
    enum status s;

    *c = (struct channel){ .dir = -1, .log.fd = -1 };
    s = room_body_max(&c->max_body, e);
    if (!s)
        s = open_room(room, true, &c->dir, e);
    if (!s)
        s = log_open(&c->log, c->dir, ROOM_CHANNEL, &o, e);
    if (s)
        channel_close(c);
    return s;
}

enum status
channel_open_in(struct channel *c, int dir, size_t max_body, bool is_durable, struct err *e)
{
    struct log_options o = { .is_durable = is_durable };

    *c = (struct channel){ .dir = -1, .log.fd = -1, .max_body = max_body };
    return log_open(&c->log, dir, ROOM_CHANNEL, &o, e);
}

void
channel_close(struct channel *c)
{
    log_close(&c->log);
    if (c->dir >= 0)
        close(c->dir);
    c->dir = -1;
}

enum status
channel_post_as(struct channel *c, const struct message *m, const char *const *ids, size_t n,
                bool *is_cut, struct err *e)
{
    struct log_text lines[CHANNEL_POST_MAX] = { { 0 } };
    struct buf text[CHANNEL_POST_MAX] = { { 0 } };
    enum status s = ST_OK;

    assert(n <= CHANNEL_POST_MAX);
    *is_cut = false;
    for (size_t i = 0; i < n; i++) {
        text[i].max = LOG_LINE_MAX - 1;
        *is_cut |= message_write(&text[i], &m[i], c->max_body, ids[i]);
        s = s ? s : buf_status(&text[i], "the message", e);
        lines[i] = (struct log_text){ text[i].p, text[i].len };
    }
    if (!s)
        s = log_append(&c->log, lines, n, e);
    for (size_t i = 0; i < n; i++)
        buf_release(&text[i]);
    return s;
}

enum status
channel_post(struct channel *c, const struct message *m, char id[MESSAGE_ID_SIZE], bool *is_cut,
             struct err *e)
{
    message_id(m, id);
    return channel_post_as(c, m, (const char *const[]){ id }, 1, is_cut, e);
}

enum status
channel_open_read_in(int dir, const char *room, int *out, struct err *e)
{
    struct stat st;
    char what[PATH_NAME_MAX + 32];
    enum status s = ST_OK;

    *out = -1;
    snprintf(what, sizeof what, "%s of room %.64s", ROOM_CHANNEL, room);
    int fd = SYS_RETRY(
        sys->openat(dir, ROOM_CHANNEL, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
    if (fd < 0)
        s = errno == ENOENT ? ST_OK : path_open_failed(dir, ROOM_CHANNEL, what, e);
    else if (sys->fstat(fd, &st) != 0)
        s = err_sys(e, "look at %s", what);
    else
        s = path_check_regular(&st, what, e);
    if (s && fd >= 0)
        close(fd);
    else
        *out = fd;
    return s;
}

enum status
channel_open_read(const char *room, int *out, struct err *e)
{
    int dir;
    enum status s = open_room(room, false, &dir, e);

    *out = -1;
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    s = channel_open_read_in(dir, room, out, e);
    close(dir);
    return s;
}

enum status
channel_find_after(int fd, const char *id, off_t *at, struct err *e)
{
    struct log_reader r;
    struct log_record rec;

    *at = -1;
    log_reader_init(&r, fd, 0);
    while (*at < 0 && log_prev(&r, &rec))
        if (json_eq(json_get(rec.json, "id"), id))
            *at = rec.end;
    enum status s = log_reader_status(&r, e);
    log_reader_release(&r);
    return s;
}
