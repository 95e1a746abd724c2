/* team trust - this user read it, and lets it run. */
#include "base/path.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "context/state_dir.h"
#include "team/trust.h"

#include <string.h>
#include <unistd.h>

static const struct opt opts[] = { { 0 } };

static bool
has(const char *dir, const char *name)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s/%s", dir, name);
    bool is_there = !buf_failed(&path) && access(path.p, F_OK) == 0;
    buf_release(&path);
    return is_there;
}

/* The state directory that `dir` is, or that it has: there must be something to trust in it. */
static enum status
open_given(struct state_dir *f, const char *dir, struct err *e)
{
    struct buf below = { 0 };
    int fd;

    buf_addf(&below, "%s/.cliq", dir);
    enum status s = buf_status(&below, "the path", e);
    if (!s && has(dir, "workflow.yml"))
        s = state_dir_open(f, dir, dir, e);
    else if (!s && has(below.p, "workflow.yml"))
        s = state_dir_open(f, below.p, dir, e);
    else if (!s && (s = path_open_dir(dir, false, &fd, e)) == ST_OK) {
        close(fd);
        if (has(dir, ".cliq") || has(dir, "cliq.id"))
            s = err_set(e, ST_NOT_FOUND,
                        "nothing is assembled in %s, so there is nothing to trust: cliq assemble "
                        "TEAM",
                        dir);
        else if (has(dir, "team.yml"))
            s = err_set(e, ST_INVALID,
                        "%s is a team, and trust is in what a project assembled from it: cliq "
                        "assemble %s%s trusts it",
                        dir, strchr(dir, '/') ? "" : "./", dir);
        else
            s = err_set(e, ST_INVALID,
                        "%s is no project: it has neither .cliq/workflow.yml nor workflow.yml",
                        dir);
    }
    buf_release(&below);
    return s;
}

static enum status
open_found(struct state_dir *f, struct err *e)
{
    enum status s = state_dir_find(f, e);

    if (s || has(f->state_dir, "workflow.yml"))
        return s;
    return err_set(e, ST_NOT_FOUND,
                   "nothing is assembled in %s, so there is nothing to trust: cliq assemble TEAM",
                   f->state_dir);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    char hash[TRUST_HASH_SIZE], told[PATH_MAX];
    struct buf out = { 0 };
    enum status s = a->n_words ? open_given(&f, a->words[0], e) : open_found(&f, e);

    if (!s)
        s = trust_hash(f.dir, hash, e);
    const char *path = s ? NULL : path_told(f.dir, NULL, told);
    if (!s)
        s = trust_add(hash, path, e);
    if (!s) {
        buf_adds(&out, "Trusted ");
        term_escape(&out, path, strlen(path), false);
        buf_addf(&out, " (%.16s...)\n", hash);
        s = cmd_print(&out, e);
    }
    state_dir_close(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_trust = {
    .name = "team trust",
    .words = "[DIR]",
    .max_words = 1,
    .brief = "let the workflow and agents of a project run",
    .about =
        "Commands and agents are programs. Those that you assembled from a directory you named\n"
        "are trusted; a .cliq/ that came with a cloned repository is not, until you say so. Trust\n"
        "is in the content: when it changes, it must be given again.\n"
        "\n"
        "DIR is a project, or its .cliq/; without it, the project here or above.",
    .examples = "cliq team trust\n"
                "cliq team trust ~/src/their-project",
    .opts = opts,
    .run = run,
};
