#include "team/runner.h"

#include "proc/child.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ANSWER_MS = 5000, /* deadline of `node --version`, which usually takes 0.1 s */
    BAD_OPTION = 9,   /* node's exit code for an unknown flag */
};

static const struct {
    const char *ending;
    struct runner runner;
} runners[] = {
    { ".js", { "node", NULL } },
    { ".mjs", { "node", NULL } },
    { ".py", { "python3", NULL } },
    { ".sh", { "sh", NULL } },
    { ".ts", { "node", "--experimental-strip-types" } },
};

/* access(2) says X_OK for directories too, so stat it. */
static bool
is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool
runner_has(const char *program)
{
    const char *path = getenv("PATH");
    char full[PATH_MAX];

    if (strchr(program, '/'))
        return is_program(program);
    for (; path; path = *path ? path + 1 : NULL) {
        size_t n = strcspn(path, ":");
        /* an empty element is the working directory */
        snprintf(full, sizeof full, "%.*s/%s", n ? (int)n : 1, n ? path : ".", program);
        if (is_program(full))
            return true;
        path += n;
    }
    return false;
}

/* ---- can this node run TypeScript? ---- */

/* Does node refuse the flag? An old node ends with "bad option". A node that cannot be started,
 * or fails in another way, does not count: the run will report that. */
static bool
refuses(const char *program, const char *flag)
{
    const char *const argv[] = { program, flag, "--version", NULL };
    struct child_spec spec = { .proc = { .argv = argv, .out = "/dev/null" },
                               .limit_ms = ANSWER_MS,
                               .kill_ms = ANSWER_MS };
    struct child c;
    bool is_refused =
        child_run(&c, &spec, NULL) == ST_OK && !c.is_timeout && child_exit_code(&c) == BAD_OPTION;

    child_release(&c);
    return is_refused;
}

/* The answer is cached: node starts slowly, and every phase with a .ts agent asks. */
static bool
node_refuses(const struct runner *node)
{
    static enum { UNASKED, TAKES, REFUSES } answer;

    if (answer == UNASKED)
        answer = refuses(node->program, node->flag) ? REFUSES : TAKES;
    return answer == REFUSES;
}

/* ---- the search ---- */

enum status
runner_find(const char *entry, struct runner *out, struct err *e)
{
    const char *dot = strrchr(entry, '.');
    size_t i = 0, n = sizeof runners / sizeof *runners;

    *out = (struct runner){ 0 };
    while (dot && i < n && strcmp(dot, runners[i].ending) != 0)
        i++;
    if (!dot || i == n)
        return ST_OK;
    *out = runners[i].runner;
    bool is_there = runner_has(out->program);
    if (out->flag && (!is_there || node_refuses(out))) {
        *out = (struct runner){ "tsx", NULL };
        if (!runner_has(out->program))
            return err_set(e, ST_NOT_FOUND,
                           "%s needs node 22.6 or newer, or tsx (npm install -g tsx): %s", entry,
                           is_there ? "the node on PATH is older and cannot run TypeScript"
                                    : "neither is on PATH");
        return ST_OK;
    }
    if (!is_there)
        return err_set(e, ST_NOT_FOUND, "%s needs the program %s, which is not on PATH", entry,
                       out->program);
    return ST_OK;
}
