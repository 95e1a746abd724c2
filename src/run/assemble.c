#define _GNU_SOURCE
#include "run/assemble.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "context/frames.h"
#include "team/agent_files.h"
#include "team/team_subs.h"
#include "team/trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { COPY_FILE_MAX = 50 << 20 };

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

enum status
assemble_config(struct err *e)
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
    static const char ignore[] =
        "# secrets, and the state of runs\n"
        "settings.json\nrun/\nruns/\nsignals/\nchannels/*/handoff.json\nfiles/\n"
        "gates/\nreviews/\nwebhooks-off/\norchestrator.log\ntask_board.md\n"
        "frames/**/channels/*/handoff.json\nframes/**/inputs.json\nframes/**/req_spec.md\n"
        "frames/**/task_board.md\n";
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
        s = assemble_config(e);
    if (dir >= 0)
        close(dir);
    if (parent >= 0)
        close(parent);
    return s;
}

/* ---- assemble ---- */

static enum status
copy_file(int from, const char *name, const struct state_dir *f, const char *to, struct err *e)
{
    struct buf text = BUF_MAX(COPY_FILE_MAX);
    enum status s = path_read_file(from, name, &text, e);

    if (!s)
        s = state_dir_replace(f, to, text.p ? text.p : "", text.len, e);
    buf_release(&text);
    return s;
}

/* Makes the link `path` of the state directory, which has none there yet. */
static enum status
copy_link(const struct state_dir *f, const struct agent_file *file, struct err *e)
{
    const char *name = strrchr(file->path, '/');
    struct buf parent = { 0 };
    int dir = -1;

    buf_add(&parent, file->path, (size_t)(name - file->path));
    enum status s = buf_status(&parent, "the path", e);
    if (!s)
        s = state_dir_open_dir(f, parent.p, true, &dir, e);
    if (!s && symlinkat(file->target, dir, name + 1) != 0)
        s = err_sys(e, "make the link %s", file->path);
    if (dir >= 0)
        close(dir);
    buf_release(&parent);
    return s;
}

/* Copies one entry of agents/. A file keeps the time of its last change: Python compares it with
 * the compiled file beside it, and would write that one anew. */
static enum status
copy_agent_file(void *ctx, const struct agent_file *file, struct err *e)
{
    const struct state_dir *f = ctx;
    struct stat st; /* with the times, which sys->fstat leaves out */
    struct buf text = BUF_MAX(COPY_FILE_MAX);

    if (file->kind == AGENT_FILE_DIR)
        return state_dir_mkdir(f, file->path, e);
    if (file->kind == AGENT_FILE_LINK)
        return copy_link(f, file, e);
    enum status s = path_read_fd(file->fd, file->path, &text, e);
    if (!s)
        s = state_dir_create(f, file->path, text.p ? text.p : "", text.len, e);
    if (!s && (file->st.st_mode & 0100) && fchmodat(f->dir, file->path, 0700, 0) != 0)
        s = err_sys(e, "make %s executable", file->path);
    if (!s &&
        (fstat(file->fd, &st) != 0 ||
         utimensat(f->dir, file->path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0) != 0))
        s = err_sys(e, "set the time of %s", file->path);
    buf_release(&text);
    return s;
}

/* What a team that was assembled before put there; none is fine. */
static enum status
empty_dir(const struct state_dir *f, const char *path, struct err *e)
{
    int fd;

    if (state_dir_open_dir(f, path, false, &fd, NULL) != ST_OK)
        return ST_OK;
    enum status s = tree_empty(fd, path, e);
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
        if (a->n_acp == 1)
            json_key_str(&text, "acp", a->acp[0]);
        else if (a->n_acp)
            json_key_strs(&text, "acp", a->acp, a->n_acp);
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
        s = copy_file(from, src.p, f, to.p, e);
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

/* Agents that cannot be copied are refused before anything is changed. */
static enum status
check_agents(int from, const struct team_subs *subs, struct err *e)
{
    enum status s = agent_files_walk(from, NULL, NULL, e);

    for (size_t i = 0; !s && i < subs->n; i++)
        if (subs->of[i])
            s = check_agents(subs->of[i]->dir, &subs->of[i]->subs, e);
    return s;
}

/* Takes a team away that was assembled there before; what its runs left stays for the history. */
static enum status
strip(void *ctx, const struct state_dir *f, const char *phase, struct err *e)
{
    enum status s = frames_each(f, strip, ctx, e);

    (void)phase;
    if (!s)
        s = state_dir_remove(f, "workflow.yml", e);
    if (!s)
        s = state_dir_remove(f, "agents.json", e);
    if (!s)
        s = empty_dir(f, "roles", e);
    return s ? s : empty_dir(f, "agents", e);
}

static enum status fill(const struct state_dir *f, int from, const struct team *t,
                        const struct team_subs *subs, struct err *e);

/* The teams of team phases, each into its frame. */
static enum status
fill_frames(const struct state_dir *f, const struct team *t, const struct team_subs *subs,
            struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < subs->n; i++) {
        const struct team_sub *sub = subs->of[i];
        struct state_dir frame = { .dir = -1 };
        if (!sub)
            continue;
        s = frame_open(&frame, f, t->phases[i].name, true, e);
        if (!s)
            s = fill(&frame, sub->dir, &sub->team, &sub->subs, e);
        state_dir_close(&frame);
    }
    return s;
}

static enum status
fill(const struct state_dir *f, int from, const struct team *t, const struct team_subs *subs,
     struct err *e)
{
    struct buf board = { 0 };
    enum status s = empty_dir(f, "roles", e);

    if (!s)
        s = empty_dir(f, "agents", e);
    if (!s)
        s = frames_each(f, strip, NULL, e);
    if (!s)
        s = fill_frames(f, t, subs, e);
    if (!s)
        s = copy_roles(from, f, t, e);
    if (!s)
        s = agent_files_walk(from, copy_agent_file, (void *)f, e);
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
        s = copy_file(from, "team.yml", f, "workflow.yml", e);
    buf_release(&board);
    return s;
}

enum status
assemble_team(const struct state_dir *f, const char *from_path, enum assemble_trust trust,
              bool *is_trusted, struct problems *p, struct err *e)
{
    struct team t = { 0 };
    struct team_subs subs = { 0 };
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
            team_validate(&t, from, f->state_dir, p);
        if (!s)
            s = team_subs_load(&subs, &t, from, f->state_dir, p, e);
        if (p->errors && s != ST_IO)
            s = err_set(e, ST_FAILED, "the team has %zu error%s; nothing was assembled", p->errors,
                        p->errors == 1 ? "" : "s");
    }
    if (!s)
        s = check_agents(from, &subs, e);
    if (!s)
        s = fill(f, from, &t, &subs, e);
    *is_trusted = trust == ASSEMBLE_TRUST_ALL ||
                  (trust == ASSEMBLE_TRUST_OWN && !team_subs_have_installed(&subs));
    if (!s && *is_trusted)
        s = trust_hash(f->dir, hash, e);
    if (!s && *is_trusted)
        s = trust_add(hash, f->state_dir, e);
    team_subs_release(&subs);
    team_release(&t);
    if (from >= 0)
        close(from);
    return s;
}
