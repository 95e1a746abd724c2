/* room create - a room for a task, with its roles. */
#include "base/path.h"
#include "cmd/cmd.h"
#include "manager/room_act.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "ref", OPT_TEXT, "REF", "the task or epic: EPIC-001 (default: the room's name)" },
    { "task", OPT_TEXT, "FILE", "a file with the task; - reads standard input" },
    { "message", OPT_TEXT, "TEXT", "the task", .letter = 'm' },
    { "title", OPT_TEXT, "TEXT", "its title (default: the first line of the task)" },
    { "roles", OPT_TEXT, "ROLES",
      "engineer,qa (the default): the first works, the others review in this order" },
    { "depends-on", OPT_TEXT, "ROOM",
      "begins when that room (or its reference) has passed; may be repeated", .is_many = true,
      .choose = "rooms" },
    { "max-retries", OPT_NUMBER, "N", "tries that may fail (default 3)" },
    { "timeout", OPT_TIME, "TIME", "of a state, from the start of its role (default 15m)" },
    { "lifecycle", OPT_TEXT, "FILE", "its states, as lifecycle.json" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static enum status
read_text(const char *path, const char *what, struct buf *to, struct err *e)
{
    enum status s = strcmp(path, "-") == 0 ? path_read_fd(STDIN_FILENO, what, to, e)
                                           : path_read_file(AT_FDCWD, path, to, e);

    if (s == ST_NOT_FOUND)
        err_say(e, "there is no file %s", path);
    return s;
}

static enum status
read_task(const struct args *a, struct buf *to, struct err *e)
{
    const char *file = args_text(a, "task"), *text = args_text(a, "message");

    if (!file == !text)
        return err_set(e, ST_INVALID, "say what is to be done: --task FILE, or -m TEXT");
    if (file)
        return read_text(file, "the task on standard input", to, e);
    buf_adds(to, text);
    return buf_status(to, "the task", e);
}

static enum status
describe(const struct args *a, struct arena *arena, const struct buf *task, struct room_config *c,
         struct err *e)
{
    const char *ref = args_text(a, "ref");
    size_t n;
    const char *const *on = args_many(a, "depends-on", &n);
    int64_t timeout = args_ms(a, "timeout", ROOM_TIMEOUT_MS);
    uint64_t retries = args_number(a, "max-retries", LIFE_RETRIES);
    const char *given = args_text(a, "roles");

    *c = (struct room_config){ .room = a->words[0],
                               .ref = ref ? ref : a->words[0],
                               .title = args_text(a, "title"),
                               .task = task->p ? task->p : "",
                               .max_retries = (unsigned)retries,
                               .timeout_ms = timeout,
                               .depends_on.n = n };
    if (retries < 1 || retries > LIFE_RETRIES_MAX)
        return err_set(e, ST_INVALID, "--max-retries must be from 1 to %d", LIFE_RETRIES_MAX);
    if (timeout < 1)
        return err_set(e, ST_INVALID, "--timeout must be above 0");
    c->depends_on.v = arena_alloc(arena, (n + 1) * sizeof *c->depends_on.v);
    if (!c->depends_on.v)
        return err_nomem(e);
    if (n)
        memcpy(c->depends_on.v, on, n * sizeof *on);
    return lifecycle_roles(arena, given ? given : "engineer,qa", &c->roles.v, &c->roles.n, e);
}

/* A room may be made before the one that it waits for; but it may be a slip, too. */
static void
warn_of_missing(const struct rooms *r, struct arena *arena, struct room_config *c)
{
    int dir;

    rooms_resolve(r, arena, c);
    for (size_t i = 0; i < c->depends_on.n; i++)
        if (rooms_open_room(r, c->depends_on.v[i], &dir, NULL))
            cmd_warn("there is no room %s yet: %s waits until it is made and has passed",
                     c->depends_on.v[i], c->room);
        else
            close(dir);
}

static enum status
print(const struct rooms *r, const struct room_config *c, bool is_json, struct err *e)
{
    struct buf out = { 0 };

    if (is_json) {
        json_open(&out, '{');
        json_key_str(&out, "room", c->room);
        json_key_str(&out, "ref", c->ref);
        buf_adds(&out, ",\"path\":");
        struct buf path = { 0 };
        buf_addf(&path, "%s/%s", r->base, c->room);
        json_write_str(&out, path.p ? path.p : "", path.len);
        buf_release(&path);
        json_close(&out, '}');
        buf_addc(&out, '\n');
    } else {
        buf_addf(&out, "%s/%s\n", r->base, c->room);
    }
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r = { .dir = -1 };
    struct room_config c;
    struct arena arena = { 0 };
    struct buf task = { 0 }, lifecycle = BUF_MAX(1 << 20);
    const char *file = args_text(a, "lifecycle");
    enum status s = read_task(a, &task, e);

    if (!s)
        s = describe(a, &arena, &task, &c, e);
    if (!s && file)
        s = read_text(file, "the life cycle on standard input", &lifecycle, e);
    if (!s)
        s = rooms_open(&r, true, e);
    if (!s)
        s = room_act_create(&r, NULL, &c, file ? &lifecycle : NULL, e);
    if (!s) {
        warn_of_missing(&r, &arena, &c);
        s = print(&r, &c, args_has(a, "json"), e);
    }
    rooms_close(&r);
    arena_release(&arena);
    buf_release(&task);
    buf_release(&lifecycle);
    return s;
}

const struct cmd cmd_room_create = {
    .name = "room create",
    .words = "ROOM",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a room for a task, and print its directory",
    .about =
        "The room has a task message in its channel, and the life cycle of its roles: the first\n"
        "works, the others review, and a failed review sends the work back. cliq room run then\n"
        "carries it from there. A room that exists already is refused (exit code 5), and so are\n"
        "dependencies in a circle (2).",
    .examples = "cliq room create room-001 --ref EPIC-001 -m 'A shell function add A B'\n"
                "cliq room create room-002 --task brief.md --roles engineer,security,qa "
                "--depends-on room-001",
    .opts = opts,
    .run = run,
};
