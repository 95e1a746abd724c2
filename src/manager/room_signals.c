#include "manager/room_signals.h"

#include "base/path.h"
#include "base/sys.h"
#include "run/hub_publisher.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void
room_signals_write(struct buf *to, const char *room, const struct json *m)
{
    const struct json *id = json_get(m, "id"), *type = json_get(m, "type");
    struct buf name = { 0 };

    if (!json_is(id, JSON_STRING) || !id->text.len || !json_is(type, JSON_STRING) ||
        !type->text.len)
        return;
    buf_addf(&name, "room:%s:%.*s", room, (int)type->text.len, type->text.p);
    json_open(to, '{');
    json_key_strn(to, "type", name.p ? name.p : "", name.len);
    json_key_str(to, "source", "system");
    json_key_json(to, "data", m);
    buf_reset(&name);
    buf_addf(&name, "room/%s/%.*s", room, (int)id->text.len, id->text.p);
    json_key_strn(to, "dedup_key", name.p ? name.p : "", name.len);
    json_close(to, '}');
    buf_release(&name);
}

/* This user's, when there is a store in it. */
static bool
find_store(struct buf *config)
{
    struct stat st;
    struct buf path = { 0 };

    if (path_config(config, NULL))
        return false;
    buf_addf(&path, "%s/signals", config->p);
    bool is_there =
        !buf_failed(&path) && sys->fstatat(AT_FDCWD, path.p, &st, 0) == 0 && S_ISDIR(st.st_mode);
    buf_release(&path);
    return is_there;
}

void
room_signals_publish(const char *config, const char *room, const struct buf *line)
{
    struct buf own = { 0 }, request = { 0 };
    struct arena a = { 0 };
    struct json *message;
    struct err e;
    enum status s = ST_OK;

    if (config || find_store(&own)) {
        struct hub_publisher *b = hub_publisher_new(config ? config : own.p, &e);
        if (!b)
            s = ST_IO;
        if (b && json_parse(&a, line->p, line->len, &message, NULL)) {
            room_signals_write(&request, room, message);
            if (request.len)
                hub_publisher_add(b, &request);
            hub_publisher_go(b);
        }
        if (b)
            s = hub_publisher_end(b, NULL, &e);
    }
    if (s)
        fprintf(stderr, "cliq: the message is posted, but not published as a signal: %s\n", e.text);
    buf_release(&own);
    buf_release(&request);
    arena_release(&a);
}

void
room_signals_posted(const char *config, const char *room, const struct message *m, size_t max_body,
                    const char *id)
{
    struct buf line = { 0 };

    message_write(&line, m, max_body, id);
    if (!buf_failed(&line))
        room_signals_publish(config, room, &line);
    buf_release(&line);
}
