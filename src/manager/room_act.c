#include "manager/room_act.h"

#include "manager/release_notes.h"
#include "manager/room_picture.h"
#include "manager/room_signals.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line of the channel. */
static void
publish_task(const struct rooms *r, const char *config, const char *room)
{
    struct log_reader reader;
    struct log_record rec;
    struct buf line = { 0 };
    int dir, fd = -1;

    if (rooms_open_room(r, room, &dir, NULL))
        return;
    if (channel_open_read_in(dir, room, &fd, NULL) == ST_OK && fd >= 0) {
        log_reader_init(&reader, fd, 0);
        if (log_next(&reader, &rec))
            buf_add(&line, rec.text, rec.len);
        log_reader_release(&reader);
        close(fd);
    }
    if (line.len)
        room_signals_publish(config, room, &line);
    buf_release(&line);
    close(dir);
}

enum status
room_act_create(const struct rooms *r, const char *config, const struct room_config *c,
                const struct buf *lifecycle, struct err *e)
{
    enum status s = rooms_create(r, c, lifecycle, e);

    if (!s)
        publish_task(r, config, c->room);
    return s;
}

bool
room_act_knows(const struct rooms *r, const char *room, const char *type)
{
    struct arena a = { 0 };
    struct room_config c;
    struct lifecycle l = { 0 };
    bool is_known = false;
    int dir;

    if (rooms_open_room(r, room, &dir, NULL))
        return false;
    if (room_config_read(&a, dir, room, &c, NULL) == ST_OK &&
        room_lifecycle_read(&a, dir, &c, &l, NULL) == ST_OK)
        for (size_t i = 0; i < l.n_states; i++)
            for (size_t k = 0; k < l.states[i].n_signals; k++)
                is_known = is_known || strcmp(l.states[i].signals[k].type, type) == 0;
    close(dir);
    arena_release(&a);
    return is_known;
}

enum status
room_act_post(const struct rooms *r, const char *config, const char *room, const struct message *m,
              char id[MESSAGE_ID_SIZE], bool *is_cut, struct err *e)
{
    struct channel c;
    size_t max = MESSAGE_BODY_MAX;
    int dir;
    enum status s = rooms_open_room(r, room, &dir, e);

    if (s)
        return s;
    s = room_body_max_in(r->base, &max, e);
    if (!s) {
        s = channel_open_in(&c, dir, max, true, e);
        if (!s) {
            s = channel_post(&c, m, id, is_cut, e);
            channel_close(&c);
        }
    }
    close(dir);
    if (!s)
        room_signals_posted(config, room, m, max, id);
    return s;
}

static bool
has_role(const struct room_picture *p, const char *role)
{
    for (size_t i = 0; i < p->lifecycle.n_states; i++)
        if (p->lifecycle.states[i].role && strcmp(p->lifecycle.states[i].role, role) == 0)
            return true;
    return strcmp(role, LIFE_MANAGER) == 0;
}

static enum status
check(const struct room_picture *p, const char *role, struct err *e)
{
    struct buf roles = { 0 };
    enum status s = ST_OK;

    if (strcmp(p->state, LIFE_PASSED) != 0)
        return err_set(e, ST_CONFLICT,
                       "the room %s is in the state %s: only a room that passed can be signed off",
                       p->config.room, p->state);
    if (!has_role(p, role)) {
        for (size_t i = 0; i < p->config.roles.n; i++)
            buf_addf(&roles, "%s, ", p->config.roles.v[i]);
        s = err_set(e, ST_INVALID, "the room %s has no role %.64s: its roles are %smanager",
                    p->config.room, role, roles.p ? roles.p : "");
        buf_release(&roles);
    }
    return s;
}

enum status
room_act_signoff(const struct rooms *r, const char *config, const char *room, const char *role,
                 const char *text, char id[MESSAGE_ID_SIZE], struct err *e)
{
    struct players players = { 0 };
    struct arena a = { 0 };
    struct room_picture p;
    bool is_cut;
    enum status s = players_open(&players, r, e);

    if (!s)
        s = room_picture_read(r, &players, &a, room, &p, e);
    if (!s)
        s = check(&p, role, e);
    struct message m = { .from = role, .to = LIFE_MANAGER, .type = "signoff", .body = text };
    if (!s) {
        m.ref = p.config.ref;
        m.body_len = strlen(text);
        s = message_check(&m, false, e);
    }
    if (!s)
        s = room_act_post(r, config, room, &m, id, &is_cut, e);
    struct err why;
    if (!s && release_notes_write(r, &why)) /* the signature stands */
        fprintf(stderr, "cliq: %s\n", why.text);
    players_close(&players);
    arena_release(&a);
    return s;
}
