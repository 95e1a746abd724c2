#include "cmd/lib/completion_file.h"

#include "base/path.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const struct {
    const char *shell, *script;
    const char *variable, *otherwise; /* the directory: of this variable, else below HOME */
    const char *dir, *name;           /* NULL: no file */
} shells[] = {
    { "bash", BASH, "XDG_DATA_HOME", ".local/share", "bash-completion/completions", "cliq" },
    { "zsh", ZSH, NULL, NULL, NULL, NULL },
    { "fish", FISH, "XDG_CONFIG_HOME", ".config", "fish/completions", "cliq.fish" },
};

enum { N_SHELLS = sizeof shells / sizeof *shells };

static size_t
find_shell(const char *name)
{
    size_t i = 0;

    while (i < N_SHELLS && strcmp(shells[i].shell, name) != 0)
        i++;
    return i;
}

const char *
completion_script(const char *shell)
{
    size_t i = find_shell(shell);

    return i < N_SHELLS ? shells[i].script : NULL;
}

bool
completion_file_find(struct completion_file *f)
{
    const char *shell = getenv("SHELL"), *home = getenv("HOME");
    const char *slash = shell ? strrchr(shell, '/') : NULL;
    size_t i = find_shell(slash ? slash + 1 : "");

    if (i == N_SHELLS || !home)
        return false;
    f->shell = shells[i].shell;
    if (!shells[i].dir)
        return false;
    const char *base = getenv(shells[i].variable);
    if (base && *base)
        buf_addf(&f->path, "%s/%s/%s", base, shells[i].dir, shells[i].name);
    else
        buf_addf(&f->path, "%s/%s/%s/%s", home, shells[i].otherwise, shells[i].dir, shells[i].name);
    f->is_there = !buf_failed(&f->path) && access(f->path.p, F_OK) == 0;
    return !buf_failed(&f->path);
}

enum status
completion_file_write(const struct completion_file *f, struct err *e)
{
    const char *script = completion_script(f->shell), *slash = strrchr(f->path.p, '/');
    struct buf dir_path = { 0 };
    int dir = -1, fd = -1;

    buf_add(&dir_path, f->path.p, (size_t)(slash - f->path.p));
    enum status s = script ? buf_status(&dir_path, "the path", e)
                           : err_set(e, ST_INVALID, "no completion for %s", f->shell);
    if (!s)
        s = path_open_dir(dir_path.p, true, &dir, e);
    if (!s &&
        (fd = SYS_RETRY(sys->openat(
             dir, slash + 1, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644))) < 0)
        s = err_sys(e, "create %s", f->path.p);
    if (!s && SYS_RETRY(sys->write(fd, script, strlen(script))) != (ssize_t)strlen(script))
        s = err_sys(e, "write %s", f->path.p);
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    buf_release(&dir_path);
    return s;
}

void
completion_file_release(struct completion_file *f)
{
    buf_release(&f->path);
}
