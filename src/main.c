/* main - argv to a command, its outcome to an exit code. */
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "cmd/lib/hub_show.h"

#include <signal.h>

static enum status
run_command(const struct cmd *c, int argc, char **argv, struct err *e)
{
    struct args a;
    enum status s = args_parse(&a, c->opts, argc, argv, c->min_words, c->max_words, e);

    if (s && a.words && a.n_words < c->min_words)
        err_say(e, "an argument is missing: cliq %s %s", c->name, c->words);
    if (s)
        help_hint(c->name, e);
    else
        s = a.wants_help ? help_command(c, e) : c->hub ? hub_run(c->hub, &a, e) : c->run(&a, e);
    args_release(&a);
    return s;
}

int
main(int argc, char **argv)
{
    struct err e = { "" };
    size_t used = 0, n = argc > 0 ? (size_t)argc - 1 : 0;

    cmd_begin();
    const struct cmd *c = cmd_find((const char *const *)argv + 1, n, &used);
    enum status s = c ? run_command(c, argc - (int)used, argv + used, &e)
                      : help_without_command(argc, argv, &e);
    return cmd_exit(s, &e);
}
