#include "cliq.h"
#include "cmd/cmd.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct buf out = { 0 };

    (void)a;
    buf_addf(&out, "cliq %s\n", CLIQ_VERSION);
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

const struct cmd cmd_version = {
    .name = "version",
    .brief = "print the version",
    .about = "Also spelt cliq --version.",
    .opts = opts,
    .run = run,
};
