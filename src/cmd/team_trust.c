/* team trust - this user read it, and lets it run. */
#include "cmd/cmd.h"
#include "context/state_dir.h"
#include "team/trust.h"

#include <stdlib.h>

static const struct opt opts[] = { { 0 } };

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    char hash[TRUST_HASH_SIZE];
    struct buf out = { 0 };
    enum status s =
        a->n_words ? state_dir_open(&f, a->words[0], a->words[0], e) : state_dir_find(&f, e);

    if (!s)
        s = trust_hash(f.dir, hash, e);
    if (!s)
        s = trust_add(hash, f.state_dir, e);
    if (!s) {
        buf_addf(&out, "Trusted %s (%.16s...)\n", f.state_dir, hash);
        s = cmd_print(&out, e);
    }
    state_dir_close(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_trust = {
    .name = "team trust",
    .words = "[STATE_DIR]",
    .max_words = 1,
    .brief = "let the workflow and agents of a project run",
    .about =
        "Commands and agents are programs. Those that you assembled from a directory you named\n"
        "are trusted; a .cliq/ that came with a cloned repository is not, until you say so. Trust\n"
        "is in the content: when it changes, it must be given again.",
    .examples = "cliq team trust",
    .opts = opts,
    .run = run,
};
