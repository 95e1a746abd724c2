/* sdk progress - a note for people who watch. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf text = { 0 };
    enum status s = sdk_open(&k, e);

    if (!s)
        s = sdk_text_arg(a->words[0], "the note", &text, e);
    if (!s)
        s = context_progress(&k.c, text.p, e);
    if (!s)
        sdk_say(&k, text.p);
    buf_release(&text);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_progress = {
    .name = "sdk progress",
    .words = "TEXT",
    .min_words = 1,
    .max_words = 1,
    .brief = "tell people how far the agent is",
    .about =
        "Appends a progress line to the phase's signals and says it on standard error. TEXT may\n"
        "be - for standard input.",
    .examples = "cliq sdk progress \"half way\"",
    .opts = opts,
    .run = run,
};
