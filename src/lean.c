/*
 * lean - the front: a small static program called `cliq` that starts in a
 * quarter of the time of the full one.
 *
 * It knows only the straight road of the LEAN commands in cmds.def. For
 * anything else (another command, a wrong option, --help) it becomes the full
 * program, which knows every command, the lean ones too.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
    struct err e = { "" };
    struct args a = { 0 };
    size_t used = 0, n = argc > 0 ? (size_t)argc - 1 : 0;

    cmd_setup();
    const struct cmd *c = cmd_find((const char *const *)argv + 1, n, &used);
    /* Parsing moves the words of argv about; the full program wants them as they came. */
    static char *few[16];
    char **words = !c ? NULL : argc < 16 ? few : malloc((size_t)(argc + 1) * sizeof *words);
    if (words) {
        memcpy(words, argv, (size_t)(argc + 1) * sizeof *words);
        if (args_parse(&a, c->opts, argc - (int)used, words + used, c->min_words, c->max_words, &e))
            c = NULL;
    }
    enum status s = c && words && !a.wants_help
                        ? c->run(&a, &e)
                        : cmd_become("cliq-full", (const char *const *)argv, &e);
    return cmd_exit(s, &e); /* what we hold goes with us */
}
