/* channel - the channels of cliq.h, over room/ and log/. */
#include "cliq.h"

#include "room/room.h"
#include "sdk/sdk.h"

#include <stdlib.h>
#include <string.h>

struct cliq_channel {
    char *room;
    struct channel writer; /* opened by the first post */
    bool is_writing;
    bool is_durable;
    struct log_tail tail;
    struct arena strings; /* of the message last read or posted */
    char id[MESSAGE_ID_SIZE];
};

const char *
cliq_version(void)
{
    return CLIQ_VERSION;
}

cliq_status
cliq_channel_open(cliq_channel **out, const cliq_channel_options *o, cliq_error *err)
{
    struct buf path = { 0 };
    struct err e;
    enum status s;

    if (out)
        *out = NULL;
    if (!out || !o || o->size < sizeof *o || !o->room)
        return sdk_outcome(err_set(&e, ST_INVALID, "cliq_channel_open: options.room is missing"),
                           &e, err);
    cliq_channel *c = calloc(1, sizeof *c);
    if (!c || !(c->room = strdup(o->room))) {
        free(c);
        return sdk_outcome(err_nomem(&e), &e, err);
    }
    c->is_durable = !o->not_durable;
    c->tail = (struct log_tail){ .dir = -1, .fd = -1, .watch.fd = -1 };
    s = room_path(&path, o->room, &e);
    if (!s)
        s = log_tail_open(&c->tail, path.p, ROOM_CHANNEL, false,
                          o->from_start ? LOG_FROM_START : LOG_FROM_END, &e);
    buf_release(&path);
    if (s)
        cliq_channel_close(c);
    else
        *out = c;
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_channel_post(cliq_channel *c, cliq_message *m, cliq_error *err)
{
    struct err e;
    bool is_cut;
    enum status s;

    if (!c || !m || m->size < sizeof *m || !m->from || !m->to || !m->type || !m->ref || !m->body)
        return sdk_outcome(err_set(&e, ST_INVALID,
                                   "cliq_channel_post: from, to, type, ref and body "
                                   "must be set"),
                           &e, err);
    struct message msg = { m->from, m->to, m->type, m->ref, m->body, strlen(m->body) };
    s = message_check(&msg, false, &e);
    if (!s && !c->is_writing) {
        s = channel_open(&c->writer, c->room, c->is_durable, &e);
        c->is_writing = !s;
    }
    if (!s)
        s = channel_post(&c->writer, &msg, c->id, &is_cut, &e);
    if (!s)
        m->id = c->id;
    return sdk_outcome(s, &e, err);
}

cliq_status
cliq_channel_next(cliq_channel *c, cliq_message *m, cliq_error *err)
{
    struct log_record rec;
    struct err e;
    enum status s;

    if (!c || !m || m->size < sizeof *m)
        return sdk_outcome(err_set(&e, ST_INVALID, "cliq_channel_next: bad arguments"), &e, err);
    if (!log_tail_next(&c->tail, &rec)) {
        s = log_tail_status(&c->tail, &e);
        if (!s)
            s = err_set(&e, ST_NOT_FOUND, "no new message");
        return sdk_outcome(s, &e, err);
    }
    struct arena *a = &c->strings;
    arena_reset(a);
    m->from = json_dup_text(a, json_get(rec.json, "from"));
    m->to = json_dup_text(a, json_get(rec.json, "to"));
    m->type = json_dup_text(a, json_get(rec.json, "type"));
    m->ref = json_dup_text(a, json_get(rec.json, "ref"));
    m->body = json_dup_text(a, json_get(rec.json, "body"));
    m->id = json_dup_text(a, json_get(rec.json, "id"));
    m->ts = json_dup_text(a, json_get(rec.json, "ts"));
    m->json = arena_dup(a, rec.text, rec.len);
    s = m->json ? ST_OK : err_nomem(&e);
    return sdk_outcome(s, &e, err);
}

int
cliq_channel_fd(cliq_channel *c)
{
    return c ? log_tail_fd(&c->tail) : -1;
}

void
cliq_channel_close(cliq_channel *c)
{
    if (!c)
        return;
    if (c->is_writing)
        channel_close(&c->writer);
    log_tail_close(&c->tail);
    arena_release(&c->strings);
    free(c->room);
    free(c);
}
