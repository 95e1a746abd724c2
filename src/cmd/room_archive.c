/* room archive - puts a room away. */
#include "base/json.h"
#include "cmd/cmd.h"
#include "manager/manager_lock.h"

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r;
    struct buf path = { 0 }, out = { 0 };
    int lock = -1;
    enum status s = rooms_open(&r, false, e);

    if (!s && r.dir >= 0)
        s = manager_lock_take(&r, &lock, e);
    if (!s)
        s = rooms_archive(&r, a->words[0], &path, e);
    if (!s && args_has(a, "json")) {
        json_open(&out, '{');
        json_key_str(&out, "room", a->words[0]);
        json_key_str(&out, "path", path.p);
        json_close(&out, '}');
    } else if (!s) {
        buf_adds(&out, path.p);
    }
    if (!s) {
        buf_addc(&out, '\n');
        s = cmd_print(&out, e);
    }
    manager_lock_drop(lock);
    buf_release(&path);
    buf_release(&out);
    rooms_close(&r);
    return s;
}

const struct cmd cmd_room_archive = {
    .name = "room archive",
    .words = "ROOM",
    .min_words = 1,
    .max_words = 1,
    .choose = "rooms",
    .brief = "move a room to .archives/ and print where it is",
    .about = "The room keeps all its files, under its name and the time: .archives/room-001-DATE.\n"
             "While cliq room run is active it is refused.",
    .examples = "cliq room archive room-001",
    .opts = opts,
    .run = run,
};
