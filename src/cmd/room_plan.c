/* room plan - the epics of a plan become rooms. */
#include "base/path.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "manager/plan_rooms.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "roles", OPT_TEXT, "ROLES", "of epics that name none (default engineer,qa)" },
    { "review", OPT_TEXT, "ROLE", "the role that must approve the plan first" },
    { "max-retries", OPT_NUMBER, "N", "tries that may fail (default 3)" },
    { "timeout", OPT_TIME, "TIME", "of a state, from the start of its role (default 15m)" },
    { "anew", OPT_FLAG, NULL, "archive rooms of a plan that have not begun, and make them again" },
    { "dry-run", OPT_FLAG, NULL, "show the rooms, make none" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

enum { PLAN_MAX = 8 << 20 };

static void
write_json(const struct room_config *rooms, size_t n, struct buf *out)
{
    json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "room", rooms[i].room);
        json_key_str(out, "ref", rooms[i].ref);
        json_key_str(out, "title", rooms[i].title);
        json_key_strs(out, "roles", rooms[i].roles.v, rooms[i].roles.n);
        json_key_strs(out, "depends_on", rooms[i].depends_on.v, rooms[i].depends_on.n);
        json_key_strs(out, "acceptance_criteria", rooms[i].criteria.v, rooms[i].criteria.n);
        json_key_strs(out, "definition_of_done", rooms[i].done.v, rooms[i].done.n);
        json_close(out, '}');
    }
    buf_adds(out, "]\n");
}

static void
add_list(struct table *t, const struct epic_list *list)
{
    struct buf text = { 0 };

    for (size_t i = 0; i < list->n; i++)
        buf_addf(&text, "%s%s", i ? ", " : "", list->v[i]);
    table_cell(t, text.p ? text.p : "", text.len);
    buf_release(&text);
}

static void
write_table(const struct room_config *rooms, size_t n, struct buf *out)
{
    static const char *const head[] = { "ROOM", "REF", "ROLES", "DEPENDS ON", "TITLE" };
    struct table t = { .columns = 5 };

    for (size_t i = 0; i < 5; i++)
        table_cell(&t, head[i], strlen(head[i]));
    for (size_t i = 0; i < n; i++) {
        table_cell(&t, rooms[i].room, strlen(rooms[i].room));
        table_cell(&t, rooms[i].ref, strlen(rooms[i].ref));
        add_list(&t, &rooms[i].roles);
        add_list(&t, &rooms[i].depends_on);
        table_cell(&t, rooms[i].title, strlen(rooms[i].title));
    }
    table_write(&t, out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                term_has_color(STDOUT_FILENO));
    table_release(&t);
}

static enum status
read_options(const struct args *a, struct arena *arena, struct plan_options *o, struct err *e)
{
    const char *roles = args_text(a, "roles");
    uint64_t retries = args_number(a, "max-retries", LIFE_RETRIES);

    *o = (struct plan_options){ .name = a->words[0],
                                .reviewer = args_text(a, "review"),
                                .max_retries = (unsigned)retries,
                                .timeout_ms = args_ms(a, "timeout", ROOM_TIMEOUT_MS),
                                .is_anew = args_has(a, "anew"),
                                .is_dry = args_has(a, "dry-run") };
    if (retries < 1 || retries > LIFE_RETRIES_MAX)
        return err_set(e, ST_INVALID, "--max-retries must be from 1 to %d", LIFE_RETRIES_MAX);
    if (o->timeout_ms < 1)
        return err_set(e, ST_INVALID, "--timeout must be above 0");
    return lifecycle_roles(arena, roles ? roles : "engineer,qa", &o->roles.v, &o->roles.n, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r = { .dir = -1 };
    struct arena arena = { 0 };
    struct buf plan = BUF_MAX(PLAN_MAX), out = { 0 };
    struct plan_options o;
    struct room_config *rooms;
    size_t n = 0;
    enum status s = read_options(a, &arena, &o, e);

    if (!s && (s = path_read_file(AT_FDCWD, a->words[0], &plan, e)) == ST_NOT_FOUND)
        err_say(e, "there is no file %s", a->words[0]);
    if (!s)
        s = rooms_open(&r, !o.is_dry, e);
    if (!s)
        s = plan_rooms_make(&r, &o, &arena, &plan, &rooms, &n, e);
    if (!s) {
        if (args_has(a, "json"))
            write_json(rooms, n, &out);
        else
            write_table(rooms, n, &out);
        s = cmd_print(&out, e);
    }
    rooms_close(&r);
    arena_release(&arena);
    buf_release(&plan);
    buf_release(&out);
    return s;
}

const struct cmd cmd_room_plan = {
    .name = "room plan",
    .words = "FILE",
    .min_words = 1,
    .max_words = 1,
    .brief = "make rooms of the epics in a plan",
    .about = "A heading with EPIC-NAME begins an epic, up to the next heading of its level. It may "
             "have\n"
             "lines \"Depends on: EPIC-001\" and \"Roles: engineer, qa\", and sections "
             "\"Acceptance criteria\"\n"
             "and \"Definition of done\", whose list items become those of the room. EPIC-001 "
             "becomes the\n"
             "room room-001. A dependency that no epic has, a circle, or a room that exists is "
             "refused,\n"
             "and nothing is made.\n"
             "\n"
             "With --review the room plan-review comes first, and all others wait for it: ROLE, a "
             "person\n"
             "or whatever the settings say, answers plan-approve or plan-reject. A rejected plan "
             "blocks\n"
             "the rooms; once it is mended, --anew makes them again.",
    .examples = "cliq room plan plan.md --dry-run\n"
                "cliq room plan plan.md --review architect && cliq room run",
    .opts = opts,
    .run = run,
};
