/* room signoff - a role approves a room that passed. */
#include "cmd/cmd.h"
#include "manager/room_act.h"

#include <string.h>

static const struct opt opts[] = {
    { "from", OPT_TEXT, "ROLE", "the role that approves", .is_required = true },
    { "message", OPT_TEXT, "TEXT", "what it says", .letter = 'm', .is_required = true },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r;
    struct buf out = { 0 };
    char id[MESSAGE_ID_SIZE];
    enum status s = rooms_open(&r, false, e);

    if (!s)
        s = room_act_signoff(&r, NULL, a->words[0], args_text(a, "from"), args_text(a, "message"),
                             id, e);
    if (!s) {
        buf_addf(&out, "%s\n", id);
        s = cmd_print(&out, e);
    }
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
