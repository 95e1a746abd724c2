/* sdk verdict - the end of a gate. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = {
    { "target", OPT_TEXT, "PHASE", "ROUTE: the phase that has to work on it again" },
    { "comment", OPT_TEXT, "TEXT", "why; - reads standard input", .is_required = true,
      .letter = 'm' },
    { "reviewer", OPT_TEXT, "NAME", "who decided" },
    { "decided-at", OPT_TEXT, "TIME", "when, as 2026-05-29T06:04:14Z" },
    { 0 },
};

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf comment = { 0 };
    enum status s = sdk_open(&k, e);

    if (!s)
        s = sdk_text_arg(args_text(a, "comment"), "the comment", &comment, e);
    struct context_verdict v = {
        .outcome = a->words[0],
        .target = args_text(a, "target"),
        .comment = comment.p,
        .reviewer = args_text(a, "reviewer"),
        .decided_at = args_text(a, "decided-at"),
    };
    if (!s && !(s = sdk_claim(&k, e)))
        s = sdk_settle(&k, context_finalize_gate(&k.c, &v, e));
    buf_release(&comment);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_verdict = {
    .name = "sdk verdict",
    .words = "PASS|ROUTE|ESCALATE",
    .min_words = 1,
    .max_words = 1,
    .brief = "end a gate: PASS, ROUTE back to a phase, or ESCALATE",
    .about =
        "Writes the verdict's handoff (ROUTE: for --target, which must be one of\n"
        "CLIQ_ROUTE_TARGETS; PASS: for every target that nothing was sent to), then the\n"
        "complete line, and removes the saved message. A verdict that is refused ends nothing.",
    .examples = "cliq sdk verdict PASS -m \"All checks pass\"\n"
                "cliq sdk verdict ROUTE --target developer -m \"2 of 12 tests fail\"",
    .opts = opts,
    .run = run,
};
