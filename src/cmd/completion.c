/* completion - scripts that make a shell ask `cliq complete` at the tab key. */
#include "cmd/cmd.h"
#include "cmd/lib/completion_file.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    const char *script = completion_script(a->words[0]);
    struct buf out = { 0 };

    if (!script)
        return err_set(e, ST_INVALID, "no completion for \"%s\": choose bash, zsh or fish",
                       a->words[0]);
    buf_adds(&out, script);
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

const struct cmd cmd_completion = {
    .name = "completion",
    .words = "bash|zsh|fish",
    .min_words = 1,
    .max_words = 1,
    .brief = "print a completion script for a shell",
    .about =
        "The script asks cliq itself what fits, so it knows commands, options, rooms and types.\n"
        "make install puts the scripts where the shells look for them.",
    .examples = "source <(cliq completion bash)\n"
                "cliq completion fish > ~/.config/fish/completions/cliq.fish",
    .opts = opts,
    .run = run,
};
