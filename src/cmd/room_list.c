/* room list - the rooms that run, and where each stands. */
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/room_show.h"

#include <stdio.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
show(const struct rooms *r, bool is_json, struct buf *out, struct err *e)
{
    struct table t = room_show_table();
    struct players players;
    struct arena a = { 0 };
    const char **names;
    size_t n = 0;
    enum status s = players_open(&players, r, e);

    if (!s)
        s = rooms_list(r, &a, false, &names, &n, e);
    if (is_json)
        json_open(out, '[');
    for (size_t i = 0; !s && i < n; i++) {
        struct room_picture p;
        struct err why;
        if (room_picture_read(r, &players, &a, names[i], &p, &why)) {
            cmd_warn("left out: %s", why.text);
        } else if (is_json) {
            json_sep(out);
            room_picture_json(&p, false, out);
        } else {
            room_show_row(&t, &p);
        }
    }
    if (is_json)
        buf_adds(out, "]\n");
    else if (!s && n == 0)
        cmd_note("there are no rooms in %s: cliq room create makes one", r->base);
    else
        table_write(&t, out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                    term_has_color(STDOUT_FILENO));
    table_release(&t);
    players_close(&players);
    arena_release(&a);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r;
    struct buf out = { 0 };
    enum status s = rooms_open(&r, false, e);

    if (!s)
        s = show(&r, args_has(a, "json"), &out, e);
    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    rooms_close(&r);
    return s;
}

const struct cmd cmd_room_list = {
    .name = "room list",
    .brief = "list the rooms, their states, and what each waits for",
    .about =
        "Rooms that cliq room create made, and those that other tools made with a config.json.\n"
        "cliq channel rooms also lists conversations.",
    .examples = "cliq room list\n"
                "cliq room list --json | jq -r '.[] | select(.player == \"person\") | .room'",
    .opts = opts,
    .run = run,
};
