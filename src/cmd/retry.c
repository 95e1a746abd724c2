/* retry - a phase and everything behind it once more. */
#include "cmd/cmd.h"
#include "cmd/run.h"

static const struct opt opts[] = {
    { "headless", OPT_FLAG, NULL, "plain processes, no tmux panes" },
    { "jobs", OPT_NUMBER, "N", "phases at a time; 0, the default: as many as are ready" },
    { "json", OPT_FLAG, NULL, "print events as JSON lines" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct run_options o = {
        .from = a->words[0],
        .jobs = (unsigned)args_number(a, "jobs", 0),
        .is_json = args_has(a, "json"),
    };
    enum status s = run_choose_executor(&o, args_has(a, "headless"), e);

    return s ? s : run_with(&o, e);
}

const struct cmd cmd_retry = {
    .name = "retry",
    .words = "PHASE",
    .min_words = 1,
    .max_words = 1,
    .brief = "run a phase and all downstream of it again",
    .about =
        "Everything upstream is kept, handoffs too: mend a handoff.json by hand, then retry the\n"
        "phase that reads it. One that is missing is named on standard error; the phase runs\n"
        "without it. Phases that name no agent have the one that the run had; cliq run --from "
        "PHASE\n"
        "--agent NAME gives them another.\n"
        "\n"
        "The workflow may be mended, too, once the run has ended (cliq cancel ends one that is\n"
        "unfinished): its journal must fit the new one. All that ran must be there, with needs\n"
        "that were met when it ran, and the run must still end where it did.",
    .examples = "cliq retry developer",
    .opts = opts,
    .run = run,
};
