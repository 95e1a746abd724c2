/* retry - a phase and everything behind it once more. */
#include "cmd/cmd.h"
#include "cmd/run_options.h"

static const struct opt opts[] = {
    RUN_OPTS,
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct run_options o = run_options_of(a);

    o.from = a->words[0];
    return run_with(&o, a, e);
}

const struct cmd cmd_retry = {
    .name = "retry",
    .words = "PHASE",
    .choose = "phases",
    .min_words = 1,
    .max_words = 1,
    .brief = "run a phase and all downstream of it again",
    .about =
        "Everything upstream is kept, handoffs too: mend a handoff.json by hand, then retry the\n"
        "phase that reads it. One that is missing is named on standard error; the phase runs\n"
        "without it. The run keeps its --agent, --jobs and --fail-fast unless they are given, "
        "from\n"
        "that phase on (--jobs 0 takes the limit away). Agents must be there of those phases "
        "only\n"
        "that will run, or may: a gate can send work back. cliq run --from PHASE is the same.\n"
        "PHASE build/test is a phase of the team that the phase build runs: what is done in that\n"
        "team is kept, and what comes after build runs again.\n"
        "\n"
        "The workflow may be mended, too, once the run has ended (cliq cancel ends one that is\n"
        "unfinished): its journal must fit the new one. All that ran must be there, with needs\n"
        "that were met when it ran. Phases that were added, and never ran, run with whatever is\n"
        "retried; more retries and max_iterations count from there on.",
    .examples = "cliq retry developer\n"
                "cliq retry build/test\n"
                "cliq retry --dry-run developer",
    .opts = opts,
    .run = run,
};
