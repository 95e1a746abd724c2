/* room status - one room, or the counts of all. */
#include "cmd/cmd.h"
#include "cmd/lib/room_show.h"

#include <string.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* How many rooms are in a state. */
struct state_count {
    const char *state;
    size_t n;
};

enum { STATES_SHOWN = 64 };

static void
count(struct state_count *counts, size_t *n, const char *state)
{
    size_t i = 0;

    while (i < *n && strcmp(counts[i].state, state) != 0)
        i++;
    if (i == *n && *n < STATES_SHOWN)
        counts[(*n)++] = (struct state_count){ .state = state };
    counts[i < *n ? i : *n - 1].n++;
}

static void
write_counts(const struct state_count *counts, size_t n, size_t all, bool is_json, struct buf *out)
{
    if (is_json) {
        json_open(out, '{');
        json_key_int(out, "total", (int64_t)all);
        for (size_t i = 0; i < n; i++)
            json_key_int(out, counts[i].state, (int64_t)counts[i].n);
        json_close(out, '}');
        return;
    }
    buf_addf(out, "%zu room%s", all, all == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%zu %s", i ? ", " : ": ", counts[i].n, counts[i].state);
    buf_addc(out, '\n');
}

static enum status
show_all(const struct rooms *r, struct players *players, struct arena *a, bool is_json,
         struct buf *out, struct err *e)
{
    struct state_count counts[STATES_SHOWN];
    const char **names;
    size_t n = 0, k = 0;
    enum status s = rooms_list(r, a, false, &names, &n, e);

    if (is_json) {
        json_open(out, '{');
        json_key(out, "rooms");
        json_open(out, '[');
    }
    for (size_t i = 0; !s && i < n; i++) {
        struct room_picture p;
        s = room_picture_read(r, players, a, names[i], &p, e);
        if (s)
            break;
        count(counts, &k, p.state);
        if (is_json) {
            json_sep(out);
            room_picture_json(&p, true, out);
        } else {
            room_show_page(&p, out);
            buf_addc(out, '\n');
        }
    }
    if (is_json) {
        json_close(out, ']');
        json_key(out, "summary");
    }
    write_counts(counts, k, n, is_json, out);
    if (is_json)
        buf_adds(out, "}\n");
    return s;
}

static enum status
show_one(const struct rooms *r, struct players *players, struct arena *a, const char *room,
         bool is_json, struct buf *out, struct err *e)
{
    struct room_picture p;
    enum status s = room_picture_read(r, players, a, room, &p, e);

    if (s)
        return s;
    if (is_json) {
        room_picture_json(&p, true, out);
        buf_addc(out, '\n');
    } else {
        room_show_page(&p, out);
    }
    return ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r;
    struct players players = { 0 };
    struct arena arena = { 0 };
    struct buf out = { 0 };
    bool is_json = args_has(a, "json");
    enum status s = rooms_open(&r, false, e);

    if (!s)
        s = players_open(&players, &r, e);
    if (!s)
        s = a->n_words ? show_one(&r, &players, &arena, a->words[0], is_json, &out, e)
                       : show_all(&r, &players, &arena, is_json, &out, e);
    if (!s)
        s = cmd_print(&out, e);
    players_close(&players);
    arena_release(&arena);
    buf_release(&out);
    rooms_close(&r);
    return s;
}

const struct cmd cmd_room_status = {
    .name = "room status",
    .words = "[ROOM]",
    .max_words = 1,
    .choose = "rooms",
    .brief = "show a room, or all of them and how many are in which state",
    .about = "Says what the room waits for: a role and what plays it, a person, other rooms, or a\n"
             "sign-off. For a person it prints the command that answers.",
    .examples = "cliq room status room-001\n"
                "cliq room status --json | jq .summary",
    .opts = opts,
    .run = run,
};
