/* init - makes .cliq/ here. */
#include "base/path.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "run/assemble.h"

#include <unistd.h>

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct buf out = { 0 };
    bool is_new = false;
    enum status s = assemble_init(".", &is_new, e);

    (void)a;
    if (!s) {
        buf_adds(&out, is_new
                           ? "Made .cliq/. Next: cliq assemble TEAM, cliq req -m TEXT, cliq run\n"
                           : ".cliq/ is there already; nothing was changed\n");
        s = cmd_print(&out, e);
    }
    buf_release(&out);
    return s;
}

const struct cmd cmd_init = {
    .name = "init",
    .brief = "make .cliq/ in this directory",
    .about =
        "The project's own state lives in .cliq/: an id, settings, and what is assembled and run.\n"
        "A .gitignore in it keeps secrets and the state of runs out of version control. The\n"
        "first time, the user's own directory (~/.cliqrc, or $CLIQ_HOME) is made too.",
    .examples = "cliq init",
    .opts = opts,
    .run = run,
};
