/* room graph - the life cycle of a room, or the rooms and what they depend on. */
#include "cmd/cmd.h"
#include "manager/room_picture.h"

#include <string.h>

static const struct opt opts[] = {
    { "format", OPT_TEXT, "FORMAT", "text (the default), mermaid or dot" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
read_format(const struct args *a, enum lifecycle_form *form, struct err *e)
{
    static const char *const names[] = { "text", "mermaid", "dot" };
    const char *format = args_text(a, "format");

    *form = LIFECYCLE_TEXT;
    for (size_t i = 0; format && i < 3; i++)
        if (strcmp(names[i], format) == 0) {
            *form = (enum lifecycle_form)i;
            return ST_OK;
        }
    return format ? err_set(e, ST_INVALID, "--format is text, mermaid or dot, not %.40s", format)
                  : ST_OK;
}

/* ---- one room -------------------------------------------------------------- */

static enum status
draw_room(const struct rooms *r, struct players *players, struct arena *a, const char *room,
          enum lifecycle_form form, bool is_json, struct buf *out, struct err *e)
{
    struct room_picture p;
    enum status s = room_picture_read(r, players, a, room, &p, e);

    if (s)
        return s;
    if (is_json) {
        json_open(out, '{');
        json_key_str(out, "room", room);
        json_key_str(out, "state", p.state);
        json_key(out, "lifecycle");
        lifecycle_write(out, &p.lifecycle);
        buf_adds(out, "}\n");
    } else {
        lifecycle_draw(out, &p.lifecycle, form, lifecycle_find(&p.lifecycle, p.state));
    }
    return ST_OK;
}

/* ---- all rooms -------------------------------------------------------------- */

/* mermaid takes letters, digits and _ only. */
static void
add_id(struct buf *to, const char *name)
{
    for (; *name; name++)
        buf_addc(to, strchr("-.", *name) ? '_' : *name);
}

static void
draw_one(const struct room_picture *p, enum lifecycle_form form, struct buf *out)
{
    const struct epic_list *on = &p->config.depends_on;
    const char *room = p->config.room;

    if (form == LIFECYCLE_TEXT) {
        buf_addf(out, "%-16s %-12s", room, p->state);
        for (size_t i = 0; i < on->n; i++)
            buf_addf(out, "%s%s", i ? ", " : " <- ", on->v[i]);
        buf_addc(out, '\n');
        return;
    }
    if (form == LIFECYCLE_MERMAID) {
        buf_adds(out, "    ");
        add_id(out, room);
        buf_addf(out, "[\"%s: %s\"]\n", room, p->state);
    } else {
        buf_addf(out, "    \"%s\" [label=\"%s\\n%s\"];\n", room, room, p->state);
    }
    for (size_t i = 0; i < on->n; i++) {
        buf_adds(out, "    ");
        if (form == LIFECYCLE_MERMAID) {
            add_id(out, on->v[i]);
            buf_adds(out, " --> ");
            add_id(out, room);
            buf_addc(out, '\n');
        } else {
            buf_addf(out, "\"%s\" -> \"%s\";\n", on->v[i], room);
        }
    }
}

static enum status
draw_all(const struct rooms *r, struct players *players, struct arena *a, enum lifecycle_form form,
         bool is_json, struct buf *out, struct err *e)
{
    const char **names;
    size_t n = 0;
    enum status s = rooms_list(r, a, false, &names, &n, e);

    if (is_json)
        json_open(out, '[');
    else if (form != LIFECYCLE_TEXT)
        buf_adds(out, form == LIFECYCLE_MERMAID ? "graph TD\n" : "digraph rooms {\n");
    for (size_t i = 0; !s && i < n; i++) {
        struct room_picture p;
        s = room_picture_read(r, players, a, names[i], &p, e);
        if (!s && is_json) {
            json_sep(out);
            json_open(out, '{');
            json_key_str(out, "room", p.config.room);
            json_key_str(out, "state", p.state);
            json_key_strs(out, "depends_on", p.config.depends_on.v, p.config.depends_on.n);
            json_close(out, '}');
        } else if (!s) {
            draw_one(&p, form, out);
        }
    }
    if (is_json)
        buf_adds(out, "]\n");
    else if (form == LIFECYCLE_DOT)
        buf_adds(out, "}\n");
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r = { .dir = -1 };
    struct players players = { 0 };
    struct arena arena = { 0 };
    struct buf out = { 0 };
    enum lifecycle_form form;
    bool is_json = args_has(a, "json");
    enum status s = read_format(a, &form, e);

    if (!s)
        s = rooms_open(&r, false, e);
    if (!s)
        s = players_open(&players, &r, e);
    if (!s)
        s = a->n_words ? draw_room(&r, &players, &arena, a->words[0], form, is_json, &out, e)
                       : draw_all(&r, &players, &arena, form, is_json, &out, e);
    if (!s)
        s = cmd_print(&out, e);
    players_close(&players);
    rooms_close(&r);
    arena_release(&arena);
    buf_release(&out);
    return s;
}

const struct cmd cmd_room_graph = {
    .name = "room graph",
    .words = "[ROOM]",
    .max_words = 1,
    .choose = "rooms",
    .brief = "draw a room's life cycle, or which rooms wait for which",
    .about =
        "With a room: its states, the messages that they answer to, and where it is. Without:\n"
        "the rooms, their states, and the rooms that they depend on.",
    .examples = "cliq room graph room-001\n"
                "cliq room graph --format mermaid",
    .opts = opts,
    .run = run,
};
