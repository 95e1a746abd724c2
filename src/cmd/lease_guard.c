/*
 * lease guard - a git pre-commit hook: no staged file may be leased by another identity.
 *
 * --install adds one line to the hook "pre-commit" of the repository. A hook that is there stays as
 * it is but for that line, which goes behind its first one; so it must be a shell script.
 */
#include "base/path.h"
#include "base/path_glob.h"
#include "base/text.h"
#include "cmd/lib/hub_call.h"
#include "cmd/lib/team_file.h"
#include "context/checkout.h"
#include "hubclient/file_lease.h"
#include "proc/child.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GIT_LIMIT_MS = 30000, LIST_MAX = 16 << 20, HOOK_MAX = 1 << 20, SHOWN_MAX = 4 };

/* Only a lease stops the commit: without cliq, or without its store, it goes on. */
static const char HOOK_LINE[] = "! command -v cliq >/dev/null || cliq lease guard || [ $? -ne 5 ] "
                                "|| exit 1 # cliq lease guard --install\n";

static const struct opt opts[] = {
    { "install", OPT_FLAG, NULL, "make it the pre-commit hook of this repository" },
    { "uninstall", OPT_FLAG, NULL, "take it out of the pre-commit hook" },
    HUB_OPTS,
    { 0 },
};

/* ---- git ---- */

static enum status
find_repository(struct checkout *here, struct arena *a, struct err *e)
{
    enum status s = checkout_find(here, ".", a, e);

    if (!s && strncmp(here->project, "git:", 4) != 0)
        s = err_set(e, ST_NOT_FOUND, "there is no git repository here");
    return s;
}

/* What git prints is in child.output. */
static enum status
run_git(struct child *c, const char *const *argv, struct err *e)
{
    struct child_spec spec = {
        .proc = { .argv = argv }, .keep = LIST_MAX, .is_err_apart = true, .limit_ms = GIT_LIMIT_MS
    };
    enum status s = child_run(c, &spec, e);

    if (s)
        return s;
    if (c->is_timeout)
        return err_set(e, ST_TIMEOUT, "git %s did not end in %d s", argv[1], GIT_LIMIT_MS / 1000);
    if (child_exit_code(c) != 0)
        return err_set(e, ST_FAILED, "git %s failed", argv[1]);
    return c->is_cut ? err_set(e, ST_INVALID, "git %s lists more than %d MiB of names", argv[1],
                               LIST_MAX >> 20)
                     : ST_OK;
}

/* ---- the check ---- */

/* names: each ended by NUL. Says which of them are leased; *n: how many. */
static enum status
compare(const char *names, size_t len, const struct json *others, struct buf *says, size_t *n,
        struct err *e)
{
    struct buf path = { 0 };

    for (size_t at = 0; at < len; at += strlen(names + at) + 1) {
        buf_reset(&path);
        path_glob_escape(&path, names + at);
        const struct json *lease = buf_failed(&path) ? NULL : file_lease_over(others, path.p);
        if (!lease || ++*n > SHOWN_MAX)
            continue;
        buf_adds(says, *n > 1 ? "; " : "");
        file_lease_says(says, names + at, lease);
    }
    if (*n > SHOWN_MAX)
        buf_addf(says, "; and %zu more files", *n - SHOWN_MAX);
    enum status s = buf_status(&path, "a name", e);
    buf_release(&path);
    return s ? s : buf_status(says, "the leases", e);
}

static enum status
check(const struct args *a, struct err *e)
{
    static const char *const list[] = { "git",          "diff", "--cached", "--name-only",
                                        "--no-renames", "-z",   NULL };
    const struct json *others = NULL;
    struct child git = { 0 };
    struct checkout here;
    struct hub_call c;
    struct buf says = { 0 };
    size_t n = 0;
    enum status s = hub_call_begin(&c, a, e);

    if (!s)
        s = find_repository(&here, &c.hub.arena, e);
    if (!s)
        s = run_git(&git, list, e);
    if (!s && git.output.len)
        s = file_lease_others(&c.hub, &c.hub.arena, here.project, &others, e);
    if (!s && json_first(others))
        s = compare(git.output.p, git.output.len, others, &says, &n, e);
    if (!s && n)
        s = err_set(e, ST_CONFLICT, "%s", says.p);
    buf_release(&says);
    child_release(&git);
    hub_call_end(&c);
    return s;
}

/* ---- the hook ---- */

/* "#!/bin/sh", "#!/usr/bin/env bash -e" */
static bool
is_shell(const char *text)
{
    static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh" };
    size_t len = strcspn(text, "\n");

    if (strncmp(text, "#!", 2) != 0)
        return false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        size_t n = strlen(shells[i]);
        for (size_t k = 2; k + n <= len; k++)
            if (strncmp(text + k, shells[i], n) == 0 && strchr("/ ", text[k - 1]) &&
                (k + n == len || text[k + n] == ' '))
                return true;
    }
    return false;
}

/* The path of the hook, as git knows it: core.hooksPath moves it. */
static enum status
find_hook(struct buf *path, struct err *e)
{
    static const char *const ask[] = { "git", "rev-parse", "--git-path", "hooks/pre-commit", NULL };
    struct child git = { 0 };
    enum status s = run_git(&git, ask, e);

    if (!s) {
        struct text t =
            text_trim((struct text){ git.output.p ? git.output.p : "", git.output.len });
        buf_add(path, t.p, t.len);
        s = path->len ? buf_status(path, "the hook's path", e)
                      : err_set(e, ST_NOT_FOUND, "git names no directory of hooks");
    }
    child_release(&git);
    return s;
}

/* The hook with our line, or without it. NULL in to->p: nothing changes. */
static enum status
edit_hook(const struct buf *old, bool is_new, bool wants_it, const char *path, struct buf *to,
          struct err *e)
{
    const char *text = old->p ? old->p : "", *ours = strstr(text, HOOK_LINE);

    if ((ours != NULL) == wants_it)
        return ST_OK;
    if (ours) {
        buf_add(to, text, (size_t)(ours - text));
        buf_adds(to, ours + strlen(HOOK_LINE));
    } else if (is_new || !old->len) {
        buf_addf(to, "#!/bin/sh\n%s", HOOK_LINE);
    } else if (is_shell(text)) {
        size_t first = strcspn(text, "\n");
        buf_add(to, text, first);
        buf_addf(to, "\n%s%s", HOOK_LINE, text[first] ? text + first + 1 : "");
    } else {
        return err_set(e, ST_CONFLICT,
                       "%s is no shell script: let it call cliq lease guard, and end when that "
                       "exits with 5",
                       path);
    }
    return buf_status(to, "the hook", e);
}

static enum status
change_hook(bool wants_it, struct err *e)
{
    struct buf path = { 0 }, old = BUF_MAX(HOOK_MAX), text = { 0 }, out = { 0 };
    struct arena arena = { 0 };
    struct checkout here;
    struct stat st;
    enum status s = find_repository(&here, &arena, e);

    if (!s)
        s = find_hook(&path, e);
    bool is_new = !s && lstat(path.p, &st) != 0;

    if (!s && !is_new && !S_ISREG(st.st_mode))
        s = err_set(e, ST_CONFLICT, "%s is no plain file: let it call cliq lease guard", path.p);
    if (!s && !is_new)
        s = path_read_file(AT_FDCWD, path.p, &old, e);
    buf_addc(&old, '\0');
    if (!s)
        s = edit_hook(&old, is_new, wants_it, path.p, &text, e);
    if (!s && text.p) {
        bool is_empty = !wants_it && strcmp(text.p, "#!/bin/sh\n") == 0;
        char *slash = strrchr(path.p, '/');
        if (is_new && slash) {
            *slash = '\0';
            mkdir(path.p, 0777); /* a repository may have no hooks yet */
            *slash = '/';
        }
        if (is_empty)
            s = unlink(path.p) == 0 ? ST_OK : err_sys(e, "remove %s", path.p);
        else
            s = team_file_write(AT_FDCWD, path.p, &text, is_new, e);
        if (!s && !is_empty && is_new && chmod(path.p, 0755) != 0)
            s = err_sys(e, "make %s executable", path.p);
    }
    if (!s) {
        buf_addf(&out, "%s: %s\n", path.p,
                 !text.p    ? wants_it ? "checks leases already" : "checks no leases"
                 : wants_it ? "checks the leases of staged files now"
                            : "checks leases no more");
        s = cmd_print(&out, e);
    }
    arena_release(&arena);
    buf_release(&path);
    buf_release(&old);
    buf_release(&text);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    bool wants_it = args_has(a, "install");

    if (wants_it && args_has(a, "uninstall"))
        return err_set(e, ST_INVALID, "either --install or --uninstall");
    return wants_it || args_has(a, "uninstall") ? change_hook(wants_it, e) : check(a, e);
}

const struct cmd cmd_lease_guard = {
    .name = "lease guard",
    .brief = "refuse a commit of files that others have leased",
    .about =
        "Compares the staged files of this git repository with the leases of other identities:\n"
        "exit code 5, with the holder and until when, if one is leased. It is a pre-commit hook\n"
        "for people and for agents without hooks of their own; --install adds it to the hooks of\n"
        "the repository, and leaves a hook that is there as it is otherwise.\n"
        "\n"
        "The hook lets a commit pass when cliq is missing or the hub does not answer.",
    .examples = "cliq lease guard --install\n"
                "cliq lease guard --as ruby",
    .opts = opts,
    .run = run,
};
