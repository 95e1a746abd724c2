/* channel rooms - which rooms there are, and what was said last. */
#include "base/path.h"
#include "base/sys.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/message_show.h"
#include "room/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print a JSON array (the default unless on a terminal)" },
    { "text", OPT_FLAG, NULL, "print a table (the default on a terminal)" },
    { 0 },
};

static void
row(struct table *t, const char *room, intmax_t bytes, const struct json *last)
{
    static const char *const keys[] = { "ts", "from", "to", "type" };
    char size[32];

    table_cell(t, room, strlen(room));
    table_cell(t, size, (size_t)snprintf(size, sizeof size, "%jd", bytes));
    for (size_t i = 0; i < 4; i++) {
        const struct json *v = json_get(last, keys[i]);
        bool is_text = json_is(v, JSON_STRING);
        char near[CLOCK_ISO_SIZE];
        if (i == 0 && is_text && term_is_tty(STDOUT_FILENO) &&
            show_near(near, v->text.p, v->text.len))
            table_cell(t, near, strlen(near));
        else
            table_cell(t, is_text ? v->text.p : "", is_text ? v->text.len : 0);
    }
}

static void
object(struct buf *out, const char *room, intmax_t bytes, const struct json *last)
{
    if (out->len > 1)
        buf_adds(out, ",\n ");
    json_open(out, '{');
    json_key_str(out, "room", room);
    json_key_int(out, "bytes", bytes);
    json_key(out, "last");
    if (last)
        show_json(out, last, term_is_tty(STDOUT_FILENO));
    else
        buf_adds(out, "null");
    json_close(out, '}');
}

/* One room into the table or the list; a directory without a channel is none. */
static enum status
show_room(const char *room, struct table *t, struct buf *out, struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    struct stat st;
    int fd;
    enum status s = channel_open_read(room, &fd, e);

    if (s || fd < 0)
        return s;
    log_reader_init(&r, fd, 0);
    const struct json *last = log_prev(&r, &rec) ? rec.json : NULL;
    s = log_reader_status(&r, e);
    if (!s && sys->fstat(fd, &st) != 0)
        s = err_sys(e, "look at room %s", room);
    if (!s && out)
        object(out, room, st.st_size, last);
    else if (!s)
        row(t, room, st.st_size, last);
    log_reader_release(&r);
    close(fd);
    return s;
}

static int
is_room(const struct dirent *d)
{
    /* Other files (config.json) live beside the rooms; a link is told to be none. */
    return path_is_name(d->d_name) &&
           (d->d_type == DT_DIR || d->d_type == DT_LNK || d->d_type == DT_UNKNOWN);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct table t = { .columns = 6 };
    struct buf out = { 0 }, base = { 0 };
    struct dirent **found = NULL;
    bool is_text = args_has(a, "text") || (!args_has(a, "json") && term_is_tty(STDOUT_FILENO));
    enum status s = room_base(&base, e);

    if (!s && args_has(a, "json") && args_has(a, "text"))
        s = err_set(e, ST_INVALID, "choose one of --json and --text");
    int n = s ? 0 : scandir(base.p, &found, is_room, alphasort);
    if (n < 0) {
        n = 0;
        if (errno != ENOENT)
            s = err_sys(e, "list the rooms in %s", base.p);
    }
    static const char *const head[] = { "ROOM", "BYTES", "LAST", "FROM", "TO", "TYPE" };
    for (size_t i = 0; i < 6; i++)
        table_cell(&t, head[i], strlen(head[i]));
    if (!is_text)
        json_open(&out, '[');
    for (int i = 0; i < n; i++) {
        struct err why;
        if (!s && show_room(found[i]->d_name, &t, is_text ? NULL : &out, &why))
            cmd_warn("room %s left out: %s", found[i]->d_name, why.text);
        free(found[i]);
    }
    free(found);
    if (!is_text)
        buf_adds(&out, "]\n");
    else if (t.cells == 6 && term_is_tty(STDOUT_FILENO))
        fprintf(stderr, "cliq: nothing to show: there are no rooms in %s\n", base.p);
    else if (t.cells > 6)
        table_write(&t, &out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                    term_has_color(STDOUT_FILENO));
    if (!s)
        s = cmd_print(&out, e);
    table_release(&t);
    buf_release(&out);
    buf_release(&base);
    return s;
}

const struct cmd cmd_channel_rooms = {
    .name = "channel rooms",
    .brief = "list the rooms and the last message in each",
    .about =
        "Rooms are the directories with a channel.jsonl in $WARROOMS_DIR, else in the nearest\n"
        ".war-rooms/ of this directory or one above it.",
    .examples = "cliq channel rooms\n"
                "cliq channel rooms --json | jq -r '.[].room'",
    .opts = opts,
    .run = run,
};
