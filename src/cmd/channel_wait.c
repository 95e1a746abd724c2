/* channel wait - blocks until a message comes. */
#include "cmd/lib/channel_listen.h"
#include "cmd/lib/message_show.h"

static const struct opt opts[] = {
    SHOW_OPT_ROOM,
    SHOW_OPTS_FILTER,
    { "any", OPT_FLAG, NULL,
      "also take a message that is there already (the oldest that matches)" },
    { "timeout", OPT_TIME, "S", "give up after this long, with exit code 6; 0 or nothing: never" },
    { 0 },
};

static bool
heard(void *ctx, const struct json *message, enum status *s, struct err *e)
{
    struct message_show *show = ctx;

    show_message(show, message);
    *s = show_flush(show, true, e);
    return false;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct message_show show;
    struct listen l = {
        .room = args_text(a, "room"),
        .after = args_text(a, "after"),
        .from = args_has(a, "any") ? LOG_FROM_START : LOG_FROM_END,
        .timeout_ms = args_ms(a, "timeout", 0),
        .heard = heard,
        .ctx = &show,
    };
    enum status s = show_filter(a, &l.filter, e);

    if (s)
        return s;
    show_init(&show, SHOW_LINES);
    s = listen_run(&l, e);
    show_release(&show);
    return s;
}

const struct cmd cmd_channel_wait = {
    .name = "channel wait",
    .brief = "wait for a message and print it",
    .about = "Prints the first message that matches and was posted after the call started, as one\n"
             "JSON object. --any also takes earlier ones; --after ID takes those behind that\n"
             "message, earlier or not, so nothing is missed between a read and a wait.\n"
             "\n"
             "The room need not exist yet. Waiting costs nothing: it ends by an event of the file\n"
             "system, not by looking again and again.",
    .examples = "cliq channel wait --room room-001 --type pass --type fail --timeout 600\n"
                "cliq channel wait --room room-001 --from qa --any",
    .opts = opts,
    .run = run,
};
