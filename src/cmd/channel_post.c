/* channel post - one message into a room, durable before its id is printed. */
#include "base/path.h"
#include "cmd/cmd.h"
#include "manager/room_signals.h"
#include "room/room.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { STDIN_MAX = 64 << 20 }; /* more than any limit on bodies that makes sense */

static const struct opt opts[] = {
    { "room", OPT_TEXT, "ROOM", "the war-room; made when it is new", .is_required = true,
      .choose = "rooms" },
    { "from", OPT_TEXT, "ROLE", "who says it", .is_required = true },
    { "to", OPT_TEXT, "ROLE", "who it is for", .is_required = true },
    { "type", OPT_TEXT, "TYPE", "what kind of message it is", .is_required = true,
      .choose = "types" },
    { "ref", OPT_TEXT, "REF", "the task or epic it is about", .is_required = true },
    { "body", OPT_TEXT, "TEXT", "what is said; - reads standard input", .is_required = true },
    { "any-type", OPT_FLAG, NULL, "accept a type that is not one of the known ones" },
    { 0 },
};

static enum status
post(const char *room, const struct message *m, struct err *e)
{
    struct channel c;
    struct buf out = { 0 };
    struct err why = { "" };
    char id[MESSAGE_ID_SIZE];
    bool is_cut;
    enum status s = channel_open(&c, room, true, e);

    if (s)
        return s;
    s = channel_post(&c, m, id, &is_cut, e);
    if (!s) {
        if (is_cut)
            cmd_warn("the body of %zu bytes was cut to %zu; set channel.max_message_size_bytes "
                     "to keep more",
                     m->body_len, c.max_body);
        buf_addf(&out, "%s\n", id);
        signal(SIGPIPE, SIG_IGN); /* a reader that is gone shall not keep us from saying: */
        s = cmd_print(&out, &why);
        if (s) /* a caller that sees only a failure would post again */
            err_say(e,
                    "the message is stored as %s, do not post it again; but its id cannot be "
                    "printed: %s",
                    id, why.text);
        buf_release(&out);
    }
    if (!s)
        room_signals_posted(NULL, room, m, c.max_body, id);
    channel_close(&c);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf body = BUF_MAX(STDIN_MAX);
    struct message m = {
        .from = args_text(a, "from"),
        .to = args_text(a, "to"),
        .type = args_text(a, "type"),
        .ref = args_text(a, "ref"),
        .body = args_text(a, "body"),
    };
    enum status s = ST_OK;

    m.body_len = strlen(m.body);
    if (strcmp(m.body, "-") == 0) {
        s = path_read_fd(STDIN_FILENO, "the body on standard input", &body, e);
        m.body = body.p ? body.p : "";
        m.body_len = body.len;
    }
    if (!s)
        s = message_check(&m, args_has(a, "any-type"), e);
    if (!s)
        s = post(args_text(a, "room"), &m, e);
    buf_release(&body);
    return s;
}

const struct cmd cmd_channel_post = {
    .name = "channel post",
    .brief = "post a message to a room and print its id",
    .about =
        "The message is on disk before its id is printed. The room and its channel are made when\n"
        "they do not exist. Where there is a store of signals, the message is also the signal\n"
        "room:ROOM:TYPE.\n"
        "\n"
        "A body longer than channel.max_message_size_bytes (65536 bytes, also read from\n"
        "config.json beside the rooms) is cut at a character, marked with\n"
        "\"[TRUNCATED: original N bytes, max M]\" and reported on standard error.",
    .examples =
        "cliq channel post --room room-001 --from engineer --to qa --type done --ref EPIC-001 "
        "--body \"Work complete\"\n"
        "git log -1 | cliq channel post --room room-001 --from engineer --to qa --type done "
        "--ref EPIC-001 --body -",
    .opts = opts,
    .run = run,
};
