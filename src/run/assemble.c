#define _GNU_SOURCE
#include "run/assemble.h"

#include "base/path.h"
#include "base/sys.h"
#include "team/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { COPY_DEPTH_MAX = 16, COPY_FILE_MAX = 50 << 20, TEAM_FILE_MAX = 1 << 20 };

/* ---- init ---- */

static enum status
write_new(int dir, const char *name, const char *text, struct err *e)
{
    int fd = SYS_RETRY(
        sys->openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd < 0)
        return errno == EEXIST ? ST_OK : err_sys(e, "create %s", name);
    enum status s = SYS_RETRY(sys->write(fd, text, strlen(text))) == (ssize_t)strlen(text)
                        ? ST_OK
                        : err_sys(e, "write %s", name);
    close(fd);
    return s;
}

static enum status
make_config(struct err *e)
{
    struct buf path = { 0 };
    int dir = -1;
    enum status s = path_config(&path, e);

    if (!s)
        s = path_open_dir(path.p, true, &dir, e);
    if (!s)
        s = write_new(dir, "settings.json", "{}\n", e);
    if (dir >= 0)
        close(dir);
    buf_release(&path);
    return s;
}

enum status
assemble_init(const char *at, bool *is_new, struct err *e)
{
    static const char ignore[] = "# secrets, and the state of runs\n"
                                 "settings.json\nrun/\nsignals/\nchannels/*/handoff.json\nfiles/\n"
                                 "frames/\ngates/\nreviews/\norchestrator.log\n";
    static const char *const dirs[] = { "roles", "channels", "signals", "files", "design" };
    char id[24], told[PATH_MAX];
    unsigned char random[3];
    int parent = -1, dir = -1, sub = -1;
    enum status s = path_open_dir(at, false, &parent, e);

    if (!s)
        s = state_dir_check_path(path_told(parent, NULL, told), e);
    if (!s)
        s = path_open_dir_at(parent, ".cliq", true, &dir, e);
    struct stat st;
    if (!s)
        s = sys->fstat(dir, &st) == 0 ? state_dir_check_owner(&st, path_told(dir, NULL, told), e)
                                      : err_sys(e, "look at .cliq");
    if (!s) {
        *is_new = sys->fstatat(dir, "cliq.id", &st, AT_SYMLINK_NOFOLLOW) != 0;
        if (sys->getrandom(random, sizeof random, 0) != sizeof random)
            s = err_sys(e, "make an id");
        snprintf(id, sizeof id, "cliq-%02x%02x%02x\n", random[0], random[1], random[2]);
    }
    for (size_t i = 0; !s && i < sizeof dirs / sizeof *dirs; i++) {
        s = path_open_dir_at(dir, dirs[i], true, &sub, e);
        if (!s)
            close(sub);
    }
    if (!s)
        s = write_new(dir, ".gitignore", ignore, e);
    if (!s)
        s = write_new(dir, "settings.json", "{}\n", e);
    if (!s)
        s = write_new(dir, "cliq.id", id, e); /* last: an id means that the rest is there */
    if (!s)
        s = make_config(e);
    if (dir >= 0)
        close(dir);
    if (parent >= 0)
        close(parent);
    return s;
}

/* ---- assemble ---- */

static enum status
copy_file(int from, const char *name, const struct state_dir *f, const char *to, bool is_program,
          struct err *e)
{
    struct buf text = BUF_MAX(COPY_FILE_MAX);
    enum status s = path_read_file(from, name, &text, e);

    if (!s)
        s = state_dir_replace(f, to, text.p ? text.p : "", text.len, e);
    if (!s && is_program && fchmodat(f->dir, to, 0700, 0) != 0)
        s = err_sys(e, "make %s executable", to);
    buf_release(&text);
    return s;
}

static int
is_entry(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

/* Regular files and directories only; a link or a device in a team is refused. Without a
 * frame nothing is copied, only looked at. */
static enum status
copy_tree(int from, const struct state_dir *f, const char *to, int depth, struct err *e)
{
    struct dirent **found = NULL;
    int n = scandirat(from, ".", &found, is_entry, alphasort);
    enum status s = n < 0 ? err_sys(e, "list %s", to) : ST_OK;

    if (depth > COPY_DEPTH_MAX)
        s = err_set(e, ST_INVALID, "%s is nested too deeply", to);
    for (int i = 0; i < n; i++) {
        struct buf path = { 0 };
        struct stat st;
        const char *name = found[i]->d_name;
        int fd;
        buf_addf(&path, "%s/%s", to, name);
        if (!s && sys->fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            s = err_sys(e, "look at %s", path.p);
        else if (!s && S_ISDIR(st.st_mode)) {
            s = path_open_dir_at(from, name, false, &fd, e);
            if (!s) {
                s = copy_tree(fd, f, path.p, depth + 1, e);
                close(fd);
            }
        } else if (!s && S_ISREG(st.st_mode)) {
            s = !f ? ST_OK : copy_file(from, name, f, path.p, st.st_mode & 0100, e);
        } else if (!s) {
            s = err_set(e, ST_REFUSED, "%s is neither a file nor a directory", path.p);
        }
        buf_release(&path);
        free(found[i]);
    }
    free(found);
    return s;
}

/* Removes what is in the directory, not the directory; links are removed, not followed. */
static enum status
empty_tree(int dir, const char *path, int depth, struct err *e)
{
    struct dirent **found = NULL;
    int n = scandirat(dir, ".", &found, is_entry, alphasort);
    enum status s = n < 0 ? err_sys(e, "list %s", path) : ST_OK;

    if (depth > COPY_DEPTH_MAX)
        s = err_set(e, ST_INVALID, "%s is nested too deeply", path);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        int fd;
        if (!s && unlinkat(dir, name, 0) != 0 && errno != EISDIR && errno != EPERM)
            s = err_sys(e, "remove %s/%s", path, name);
        else if (!s && path_open_dir_at(dir, name, false, &fd, NULL) == ST_OK) {
            s = empty_tree(fd, path, depth + 1, e);
            close(fd);
            if (!s && unlinkat(dir, name, AT_REMOVEDIR) != 0)
                s = err_sys(e, "remove %s/%s", path, name);
        }
        free(found[i]);
    }
    free(found);
    return s;
}

/* What a team that was assembled before put there; none is fine. */
static enum status
empty_dir(const struct state_dir *f, const char *path, struct err *e)
{
    int fd;

    if (state_dir_open_dir(f, path, false, &fd, NULL) != ST_OK)
        return ST_OK;
    enum status s = empty_tree(fd, path, 0, e);
    close(fd);
    return s;
}

static enum status
write_agents(const struct state_dir *f, const struct team *t, struct err *e)
{
    struct buf text = { 0 };
    enum status s;

    json_open(&text, '{');
    for (size_t i = 0; i < t->n_agents; i++) {
        const struct team_agent *a = &t->agents[i];
        json_key(&text, a->name);
        json_open(&text, '{');
        json_key_str(&text, "entry", a->entry);
        json_key_strs(&text, "env", a->env, a->n_env);
        json_close(&text, '}');
    }
    json_close(&text, '}');
    buf_addc(&text, '\n');
    s = buf_status(&text, "agents.json", e);
    if (!s)
        s = state_dir_replace(f, "agents.json", text.p, text.len, e);
    buf_release(&text);
    return s;
}

/* roles/<stem>.md of the team becomes roles/<phase>.md of the project. */
static enum status
copy_roles(int from, const struct state_dir *f, const struct team *t, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        struct buf src = { 0 }, to = { 0 };
        buf_addf(&src, "roles/%s.md", ph->role ? ph->role : ph->name);
        buf_addf(&to, "roles/%s.md", ph->name);
        s = copy_file(from, src.p, f, to.p, false, e);
        if (s == ST_NOT_FOUND)
            s = ST_OK;
        buf_release(&src);
        buf_release(&to);
    }
    return s;
}

/* Where people put a channel's instructions.md, and runs its handoff. */
static enum status
make_channels(const struct state_dir *f, const struct team *t, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        for (size_t k = 0; !s && k < ph->n_depends_on; k++) {
            char path[2 * TEAM_PHASE_NAME_MAX + 16];
            snprintf(path, sizeof path, "channels/%s--%s", ph->depends_on[k], ph->name);
            s = state_dir_mkdir(f, path, e);
        }
    }
    return s;
}

void
assemble_board(const struct team *t, struct buf *to)
{
    buf_adds(to, "# Task Board\n\n");
    for (size_t i = 0; i < t->n_phases; i++)
        buf_addf(to, "- [ ] %s\n", t->phases[i].name);
}

static enum status
copy_agents(int from, const struct state_dir *f, struct err *e)
{
    int agents;

    if (path_open_dir_at(from, "agents", false, &agents, NULL) != ST_OK)
        return ST_OK;
    enum status s = copy_tree(agents, f, "agents", 0, e);
    close(agents);
    return s;
}

static enum status
fill(const struct state_dir *f, int from, const struct team *t, struct err *e)
{
    struct buf board = { 0 };
    enum status s = copy_agents(from, NULL, e); /* refused before anything is changed */

    if (!s)
        s = empty_dir(f, "roles", e);
    if (!s)
        s = empty_dir(f, "agents", e);
    if (!s)
        s = copy_roles(from, f, t, e);
    if (!s)
        s = copy_agents(from, f, e);
    if (!s)
        s = write_agents(f, t, e);
    if (!s)
        s = make_channels(f, t, e);
    if (!s) {
        assemble_board(t, &board);
        s = buf_status(&board, "the task board", e);
    }
    if (!s)
        s = state_dir_replace(f, "task_board.md", board.p, board.len, e);
    if (!s) /* last: a workflow means that the rest is there */
        s = copy_file(from, "team.yml", f, "workflow.yml", false, e);
    buf_release(&board);
    return s;
}

enum status
assemble_team(const struct state_dir *f, const char *from_path, bool is_trusted, struct problems *p,
              struct err *e)
{
    struct team t = { 0 };
    char hash[TRUST_HASH_SIZE];
    int from = -1;
    enum status s = state_dir_check_path(f->state_dir, e);

    if (!s)
        s = path_open_dir(from_path, false, &from, e);

    if (!s) {
        s = team_load_file(&t, from, "team.yml", p, e);
        if (s == ST_NOT_FOUND)
            err_say(e, "there is no team.yml in %s", from_path);
        if (!s || s == ST_INVALID)
            team_validate(&t, from, p);
        if (p->errors)
            s = err_set(e, ST_FAILED, "the team has %zu error%s; nothing was assembled", p->errors,
                        p->errors == 1 ? "" : "s");
    }
    if (!s)
        s = fill(f, from, &t, e);
    if (!s && is_trusted)
        s = trust_hash(f->dir, hash, e);
    if (!s && is_trusted)
        s = trust_add(hash, f->state_dir, e);
    team_release(&t);
    if (from >= 0)
        close(from);
    return s;
}
