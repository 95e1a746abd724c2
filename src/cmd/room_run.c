/* room run - carries rooms through their life cycles. */
#include "cmd/cmd.h"
#include "manager/manager.h"

static const struct opt opts[] = {
    { "once", OPT_FLAG, NULL, "end when only people are awaited" },
    { "jobs", OPT_NUMBER, "N", "processes at once (default 10)" },
    { "json", OPT_FLAG, NULL, "print JSON, a line an event" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct rooms r;
    struct manager_options o = { .rooms = a->words,
                                 .n_rooms = a->n_words,
                                 .jobs = (unsigned)args_number(a, "jobs", MANAGER_JOBS),
                                 .is_once = args_has(a, "once"),
                                 .is_json = args_has(a, "json") };
    struct manager_outcome out = { 0 };
    enum status s = ST_OK;

    if (!o.jobs || o.jobs > 1000)
        return err_set(e, ST_INVALID, "--jobs must be from 1 to 1000");
    s = rooms_open(&r, false, e);
    if (!s)
        s = manager_run(&r, &o, &out, e);
    rooms_close(&r);
    if (s)
        return s;
    err_say(e, "%s", ""); /* its last line said it */
    return out.is_stopped                                   ? ST_CANCELLED
           : out.passed == out.total && !out.unsigned_roles ? ST_OK
                                                            : ST_ESCALATED;
}

const struct cmd cmd_room_run = {
    .name = "room run",
    .words = "[ROOM]...",
    .max_words = 1000,
    .choose = "rooms",
    .brief = "carry rooms through work, review and fixes until each has passed or failed",
    .about =
        "Without names it runs every room, and those that are made meanwhile; with names these\n"
        "and the rooms that they depend on. It waits for messages and processes, and ends when\n"
        "every room is in a final state: exit code 0 when all passed, else 3. A second manager of\n"
        "the same rooms is refused (exit code 5).\n"
        "\n"
        "Settings say what plays a role: roles.NAME.command is a shell command, which gets the\n"
        "message that starts it on standard input, and CLIQ_ROOM and CLIQ_ROLE; roles.NAME.agent\n"
        "an agent, whose role text is roles/NAME.md. Without either a person plays the role, by\n"
        "posting into the room. What a command prints is its message: done; of a reviewer pass or\n"
        "fail, by its line VERDICT: PASS or VERDICT: FAIL. No verdict, or an exit code other than\n"
        "0, is an error.\n"
        "\n"
        "When every room has passed, RELEASE.md is drafted, and the roles of the setting\n"
        "release.require_signoffs are asked in each room: VERDICT: APPROVED signs, anything else "
        "is\n"
        "a refusal (exit code 3).\n"
        "\n"
        "A failed review, an error and a time limit are failed tries; the one that reaches\n"
        "max_retries is the last. A process that dies without a word is started again, three\n"
        "times. After a crash or kill -9 the next cliq room run goes on: what was posted counts,\n"
        "and processes that still run are taken over.",
    .examples = "cliq settings roles.engineer.agent claude-code\n"
                "cliq settings roles.qa.command 'make check >&2 && echo VERDICT: PASS || echo "
                "VERDICT: FAIL'\n"
                "cliq room run\n"
                "cliq room run room-001 --once --json",
    .opts = opts,
    .run = run,
};
