/* _alarm - starts sleeping runs again when their time has come (run/sleeping.h). */
#include "cmd/cmd.h"
#include "run/sleeping.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return sleeping_alarm_run(NULL, e);
}

const struct cmd cmd_alarm = {
    .name = "_alarm",
    .brief = "start sleeping runs again when a reminder or the end of a review is due",
    .about =
        "A run that sleeps starts it, and cliq review, cliq serve and cliq signal pump do when it\n"
        "was killed. It ends when no run sleeps, and at once when another one is there.",
    .opts = opts,
    .is_hidden = true,
    .run = run,
};
