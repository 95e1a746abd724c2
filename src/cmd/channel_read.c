/* channel read - messages of a room, as they stand in the file. */
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/message_show.h"

#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

static const struct opt opts[] = {
    SHOW_OPT_ROOM,
    SHOW_OPTS_FILTER,
    { "last", OPT_NUMBER, "N", "only the last N that match" },
    { "json", OPT_FLAG, NULL, "print a JSON array (the default unless on a terminal)" },
    { "jsonl", OPT_FLAG, NULL, "print one JSON object a line" },
    { "text", OPT_FLAG, NULL, "print a table (the default on a terminal)" },
    { 0 },
};

static enum status
choose_form(const struct args *a, enum show_form *form, struct err *e)
{
    int chosen = args_has(a, "json") + args_has(a, "jsonl") + args_has(a, "text");

    if (chosen > 1)
        return err_set(e, ST_INVALID, "choose one of --json, --jsonl and --text");
    *form = args_has(a, "json")          ? SHOW_ARRAY
            : args_has(a, "jsonl")       ? SHOW_LINES
            : args_has(a, "text")        ? SHOW_TABLE
            : term_is_tty(STDOUT_FILENO) ? SHOW_TABLE
                                         : SHOW_ARRAY;
    return ST_OK;
}

static enum status
show_one(void *ctx, const struct json *message, struct err *e)
{
    struct message_show *show = ctx;

    show_message(show, message);
    return show->out.len > FLUSH_AT ? show_flush(show, false, e) : ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *room = args_text(a, "room"), *after = args_text(a, "after");
    struct message_filter f;
    enum show_form form;
    struct message_show show = { 0 };
    uint64_t bad = 0;
    off_t at = 0;
    int fd = -1;
    enum status s = choose_form(a, &form, e);

    if (!s)
        s = show_filter(a, &f, e);
    if (!s)
        s = channel_open_read(room, &fd, e);
    if (!s)
        show_init(&show, form);
    if (!s && fd >= 0 && after) {
        s = channel_find_after(fd, after, &at, e);
        if (!s && at < 0)
            cmd_warn("no message with the id %s in %s", after, room);
    }
    if (!s && fd >= 0 && at >= 0) {
        struct channel_range range = { .from = at, .is_last = args_has(a, "last") };
        range.last = args_number(a, "last", 0);
        s = channel_read(fd, &range, &f, show_one, &show, &bad, e);
    }
    if (!s)
        s = show_flush(&show, true, e);
    if (!s && !show.n && form == SHOW_TABLE && show.is_tty)
        show_nothing(room, fd >= 0);
    show_bad_lines(room, bad);
    if (fd >= 0)
        close(fd);
    show_release(&show);
    return s;
}

const struct cmd cmd_channel_read = {
    .name = "channel read",
    .brief = "print the messages of a room",
    .about =
        "Messages come in the order in which they were posted. A room or channel that does not\n"
        "exist is an empty one, and so is what follows an unknown --after ID. Lines that are\n"
        "not messages are passed over and counted on standard error.\n"
        "\n"
        "--last reads backward from the end and does not look at the rest.",
    .examples = "cliq channel read --room room-001\n"
                "cliq channel read --room room-001 --type done\n"
                "cliq channel read --room room-001 --last 5\n"
                "cliq channel read --room room-001 --type pass --type fail --last 1 --jsonl",
    .opts = opts,
    .run = run,
};
