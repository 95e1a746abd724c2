/* room signoff - a role approves a room that passed. */
#include "base/json.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "manager/room_act.h"

#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "from", OPT_TEXT, "ROLE", "the role that approves", .is_required = true },
    { "message", OPT_TEXT, "TEXT", "what it says; - reads standard input", .letter = 'm',
      .is_required = true },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    const char *room = a->words[0], *role = args_text(a, "from"), *text = args_text(a, "message");
    struct rooms r;
    struct buf said = { 0 }, out = { 0 };
    char id[MESSAGE_ID_SIZE];
    enum status s = rooms_open(&r, false, e);

    if (!s && strcmp(text, "-") == 0) {
        s = path_read_fd(STDIN_FILENO, "the message on standard input", &said, e);
        text = said.p ? said.p : "";
    }
    if (!s)
        s = room_act_signoff(&r, NULL, room, role, text, id, e);
    if (!s && args_has(a, "json")) {
        json_open(&out, '{');
        json_key_str(&out, "room", room);
        json_key_str(&out, "from", role);
        json_key_str(&out, "id", id);
        json_close(&out, '}');
    } else if (!s) {
        buf_adds(&out, id);
    }
    if (!s) {
        buf_addc(&out, '\n');
        s = cmd_print(&out, e);
    }
    buf_release(&said);
    buf_release(&out);
    rooms_close(&r);
    return s;
}

const struct cmd cmd_room_signoff = {
    .name = "room signoff",
    .words = "ROOM",
    .min_words = 1,
    .max_words = 1,
    .choose = "rooms",
    .brief = "approve the release of a room that passed",
    .about = "Posts a signoff message in the name of one of the room's roles, and prints its id.\n"
             "Refused (exit code 5) unless the room passed. When every role of every room has\n"
             "signed, RELEASE.md says Approved.",
    .examples = "cliq room signoff room-001 --from qa -m 'QA approves release. All rooms passed.'",
    .opts = opts,
    .run = run,
};
