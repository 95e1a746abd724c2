#include "manager/release_notes.h"

#include "context/state_dir.h"
#include "manager/room_picture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 10 }; /* of a room's last pass */

/* The first lines with words of the text, as a list. */
static void
add_lines(struct buf *to, const char *p, size_t len)
{
    unsigned n = 0;

    for (size_t at = 0, k; at < len && n < LINES_MAX; at += k + 1) {
        const char *nl = memchr(p + at, '\n', len - at);
        k = nl ? (size_t)(nl - p) - at : len - at;
        size_t skip = strspn(p + at, " \t-*#>");
        if (skip >= k || strncmp(p + at + skip, "VERDICT:", 8) == 0)
            continue;
        buf_adds(to, "- ");
        buf_add(to, p + at + skip, k - skip);
        buf_addc(to, '\n');
        n++;
    }
}

/* What the last pass of the room says. */
static enum status
add_pass(const struct rooms *r, const struct room_picture *p, struct buf *to, struct err *e)
{
    struct log_reader reader;
    struct log_record rec;
    int dir, fd;
    enum status s = rooms_open_room(r, p->config.room, &dir, e);

    if (s)
        return s;
    s = channel_open_read_in(dir, p->config.room, &fd, e);
    close(dir);
    if (s || fd < 0)
        return s;
    log_reader_init(&reader, fd, 0);
    while (log_prev(&reader, &rec)) {
        const struct json *body = json_get(rec.json, "body");
        if (!json_eq(json_get(rec.json, "type"), "pass"))
            continue;
        if (json_is(body, JSON_STRING)) {
            struct buf text = { 0 }; /* NUL-ended, for strspn */
            buf_add(&text, body->text.p, body->text.len);
            add_lines(to, text.p ? text.p : "", text.len);
            buf_release(&text);
        }
        break;
    }
    s = log_reader_status(&reader, e);
    log_reader_release(&reader);
    close(fd);
    return s;
}

static enum status
add_room(const struct rooms *r, const struct room_picture *p, struct buf *to, struct err *e)
{
    const char *role;

    buf_addf(to, "\n## %s: %s\n\n", p->config.ref, p->config.title);
    enum status s = add_pass(r, p, to, e);
    for (size_t i = 0; i < p->n_done_by; i++)
        buf_addf(to, "%s%s", i ? ", " : "\nSigned off by ", p->done_by[i]);
    for (size_t i = 0; (role = room_picture_unsigned(p, i)); i++)
        buf_addf(to, "%s%s", i ? ", " : "\nStill to sign: ", role);
    buf_addc(to, '\n');
    return s;
}

enum status
release_notes_write(const struct rooms *r, struct err *e)
{
    struct players players = { 0 };
    struct arena a = { 0 };
    struct buf text = { 0 }, rooms = { 0 };
    const char **names;
    size_t n = 0, n_passed = 0;
    bool is_signed = true;
    enum status s = players_open(&players, r, e);

    if (!s)
        s = rooms_list(r, &a, false, &names, &n, e);
    for (size_t i = 0; !s && i < n; i++) {
        struct room_picture p;
        s = room_picture_read(r, &players, &a, names[i], &p, e);
        if (s || strcmp(p.state, LIFE_PASSED) != 0)
            break;
        n_passed++;
        is_signed = is_signed && !room_picture_unsigned(&p, 0);
        s = add_room(r, &p, &rooms, e);
    }
    if (!s && n && n_passed == n) {
        buf_addf(&text, "# Release notes\n\nStatus: %s\n", is_signed ? "Approved" : "Draft");
        buf_add(&text, rooms.p, rooms.len);
        s = buf_status(&text, "RELEASE.md", e);
        if (!s)
            s = state_dir_replace_at(r->dir, "RELEASE.md", text.p, text.len, e);
    }
    players_close(&players);
    arena_release(&a);
    buf_release(&text);
    buf_release(&rooms);
    return s;
}
