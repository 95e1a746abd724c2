/* sdk path - where the SDK of a language is. */
#include "cmd/cmd.h"
#include "cmd/lib/sdk_package.h"

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    const struct sdk_package *p;
    struct buf out = { 0 };
    enum status s = sdk_package_find(a->words[0], &p, e);

    if (!s)
        s = sdk_share_path(p->search, &out, e);
    if (!s) {
        buf_addc(&out, '\n');
        s = cmd_print(&out, e);
    }
    buf_release(&out);
    return s;
}

const struct cmd cmd_sdk_path = {
    .name = "sdk path",
    .words = "js|python",
    .min_words = 1,
    .max_words = 1,
    .brief = "where the SDK for JavaScript or Python is",
    .about =
        "Prints a directory: the package @cliqhub/cliq-sdk for js; for python the one that holds\n"
        "the package cliq_sdk, for PYTHONPATH.\n"
        "\n"
        "The SDKs are in PREFIX/share/cliq for PREFIX/bin/cliq, else in the source tree of a\n"
        "program that was built there. CLIQ_SHARE names another directory.\n"
        "\n"
        "A team takes no links out of its agents/, and npm install DIR makes one:\n"
        "--install-links copies.",
    .examples = "PYTHONPATH=$(cliq sdk path python) python3 agent.py < message.json\n"
                "npm install --install-links \"$(cliq sdk path js)\"",
    .opts = opts,
    .run = run,
};
