/* channel follow - a room's conversation as it happens. */
#include "base/term.h"
#include "cmd/lib/channel_listen.h"
#include "cmd/lib/message_show.h"

#include <unistd.h>

static const struct opt opts[] = {
    SHOW_OPT_ROOM,
    SHOW_OPTS_FILTER,
    { "all", OPT_FLAG, NULL, "begin with the messages that are there already" },
    { "jsonl", OPT_FLAG, NULL, "print one JSON object a line (the default unless on a terminal)" },
    { "text", OPT_FLAG, NULL, "print a conversation (the default on a terminal)" },
    { 0 },
};

static bool
heard(void *ctx, const struct json *message, enum status *s, struct err *e)
{
    struct message_show *show = ctx;

    show_message(show, message);
    *s = show->out.len > 65536 ? show_flush(show, false, e) : ST_OK;
    return true;
}

static enum status
caught_up(void *ctx, struct err *e)
{
    return show_flush(ctx, false, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct message_show show;
    struct listen l = {
        .room = args_text(a, "room"),
        .after = args_text(a, "after"),
        .from = args_has(a, "all") ? LOG_FROM_START : LOG_FROM_END,
        .heard = heard,
        .caught_up = caught_up,
        .ctx = &show,
    };
    bool is_text = args_has(a, "text"), is_lines = args_has(a, "jsonl");
    enum status s = show_filter(a, &l.filter, e);

    if (!s && is_text && is_lines)
        s = err_set(e, ST_INVALID, "choose one of --jsonl and --text");
    if (s)
        return s;
    is_text = is_text || (!is_lines && term_is_tty(STDOUT_FILENO));
    show_init(&show, is_text ? SHOW_TALK : SHOW_LINES);
    s = listen_run(&l, e);
    show_release(&show);
    return s;
}

const struct cmd cmd_channel_follow = {
    .name = "channel follow",
    .brief = "print messages as they are posted",
    .about = "Goes on until it is interrupted (exit code 130). The room need not exist yet. A\n"
             "channel that is truncated, replaced or rotated is followed to the new one.",
    .examples = "cliq channel follow --room room-001\n"
                "cliq channel follow --room room-001 --all --type done --jsonl | jq -r .body",
    .opts = opts,
    .run = run,
};
