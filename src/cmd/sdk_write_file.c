/* sdk write-file - a file for later phases: files/<phase>/<name>. */
#include "cmd/lib/sdk_session.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf content = { 0 };
    enum status s = sdk_open(&k, e);

    if (!s)
        s = sdk_file_arg(a->n_words > 1 ? a->words[1] : "-", &content, e);
    if (!s)
        s = context_write_file(&k.c, a->words[0], content.p ? content.p : "", content.len, e);
    buf_release(&content);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_write_file = {
    .name = "sdk write-file",
    .words = "NAME [FILE|-]",
    .min_words = 1,
    .max_words = 2,
    .brief = "keep a file for later phases in files/<phase>/",
    .about =
        "Writes what it reads, standard input without FILE, to .cliq/files/<phase>/NAME. NAME\n"
        "may hold directories, but no .. parts.",
    .examples = "cliq sdk write-file report.csv out/report.csv\n"
                "curl -s https://example.com/config.json | cliq sdk write-file config.json",
    .opts = opts,
    .run = run,
};
