/* completion - scripts that make a shell ask `cliq complete` at the tab key. */
#include "cmd/cmd.h"

#include <string.h>

static const struct opt opts[] = { { 0 } };

static const char BASH[] =
    "# cliq completion for bash:  source <(cliq completion bash)\n"
    "_cliq() {\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY=($(\"${COMP_WORDS[0]}\" complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null | cut -f1))\n"
    "}\n"
    "complete -o default -F _cliq cliq\n";

static const char ZSH[] =
    "#compdef cliq\n"
    "# cliq completion for zsh:  source <(cliq completion zsh)\n"
    "_cliq() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"${words[1]}\" complete -- \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        [[ -n $line ]] && found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    if (( $#found )); then _describe 'cliq' found; else _files; fi\n"
    "}\n"
    "if [[ $funcstack[1] == _cliq ]]; then _cliq \"$@\"; else compdef _cliq cliq; fi\n";

static const char FISH[] = "# cliq completion for fish:  cliq completion fish | source\n"
                           "function __cliq_complete\n"
                           "    set -l words (commandline -opc)\n"
                           "    $words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null\n"
                           "end\n"
                           "complete -c cliq -a '(__cliq_complete)'\n";

static enum status
run(const struct args *a, struct err *e)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = { { "bash", BASH }, { "zsh", ZSH }, { "fish", FISH } };
    struct buf out = { 0 };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(a->words[0], scripts[i].shell) == 0)
            buf_adds(&out, scripts[i].script);
    if (!out.len)
        return err_set(e, ST_INVALID, "no completion for \"%s\": choose bash, zsh or fish",
                       a->words[0]);
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
