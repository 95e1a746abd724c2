/* assemble - a team's workflow, roles and agents into .cliq/. */
#include "run/assemble.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "run/lockfile.h"
#include "run/replay.h"
#include "team/agent.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "trust", OPT_FLAG, NULL, "trust the programs of a team that is not a directory you named" },
    { 0 },
};

/* A path is what looks like one; anything else is the name of an installed team. */
static bool
is_path(const char *ref)
{
    return ref[0] == '.' || ref[0] == '/' || (strchr(ref, '/') && ref[0] != '@');
}

static enum status
find_team(const char *ref, struct buf *to, bool *is_named, struct err *e)
{
    *is_named = is_path(ref);
    if (*is_named || access(ref, R_OK) == 0) {
        *is_named = true;
        buf_adds(to, ref);
        return buf_status(to, "the team's path", e);
    }
    enum status s = path_config(to, e);
    if (s)
        return s;
    buf_addf(to, ref[0] == '@' ? "/teams/%s" : "/teams/@local/%s", ref);
    if (!buf_failed(to) && access(to->p, R_OK) != 0)
        return err_set(e, ST_NOT_FOUND,
                       "no team %s: neither a directory here nor installed as %s. A directory is "
                       "named by a path, like ./%s",
                       ref, to->p, ref);
    return buf_status(to, "the team's path", e);
}

/* The project around us, or a new one here. */
static enum status
open_state_dir(struct state_dir *f, struct err *e)
{
    bool is_new;
    enum status s = state_dir_find(f, e);

    if (s != ST_NOT_FOUND && s != ST_REFUSED) /* one of another user, above, is not ours */
        return s;
    s = assemble_init(".", &is_new, e);
    return s ? s : state_dir_find(f, e);
}

/* Before anything is made for it. */
static enum status
check_team(const char *dir, struct err *e)
{
    struct buf file = { 0 };

    buf_addf(&file, "%s/team.yml", dir);
    enum status s = buf_status(&file, "the path", e);
    if (!s && access(file.p, R_OK) != 0)
        s = errno == ENOENT || errno == ENOTDIR
                ? err_set(e, ST_NOT_FOUND, "there is no team.yml in %s", dir)
                : err_sys(e, "open %s", file.p);
    buf_release(&file);
    return s;
}

/* A run that goes on, or could be gone on with, needs the workflow it began with. *lock is
 * held until the new one is in place. */
static enum status
check_idle(const struct state_dir *f, int *lock, struct err *e)
{
    struct team t = { 0 };
    struct problems p = { 0 };
    struct replay past = { 0 };
    struct lock_holder holder;
    int dir = -1;

    if (path_open_dir_at(f->dir, "run", false, &dir, NULL) != ST_OK)
        return ST_OK; /* nothing has run here */
    enum status s = lockfile_take(f, "assemble", lock, &holder, e);
    if (!s && team_load_file(&t, f->dir, "workflow.yml", &p, NULL) == ST_OK &&
        replay_load(&past, dir, &t, NULL) == ST_OK && !past.head.has_end)
        s = err_set(e, ST_CONFLICT,
                    "an unfinished run exists here: finish it with cliq run "
                    "--resume or end it with cliq cancel first");
    replay_release(&past);
    team_release(&t);
    problems_release(&p);
    if (dir >= 0)
        close(dir);
    return s;
}

/* Says which agents cannot be started yet. */
static void
report_agents(const struct state_dir *f)
{
    struct team t = { 0 };
    struct problems p = { 0 };
    struct settings settings = { 0 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *agents = NULL;
    struct err e;

    if (team_load_file(&t, f->dir, "workflow.yml", &p, &e) == ST_OK &&
        settings_load(&settings, f->state_dir, &e) == ST_OK) {
        if (state_dir_read(f, "agents.json", &text, NULL) == ST_OK)
            json_parse(&a, text.p, text.len, &agents, NULL);
        struct agent_scope scope = { f->state_dir, &settings, agents };
        for (size_t i = 0; i < t.n_phases; i++) {
            struct agent agent;
            const char *name = t.phases[i].agent;
            if (!name)
                name = settings_text(&settings, "default_agent");
            if (agent_resolve(&a, &scope, name ? name : "cursor", &agent, &e) != ST_OK) {
                cmd_warn("phase %s: %s", t.phases[i].name, e.text);
                continue;
            }
            json_each (key, json_path(agent.manifest, "settings.required"))
                if (json_is(key, JSON_STRING) &&
                    !json_getn(agent.settings, key->text.p, key->text.len))
                    cmd_warn(
                        "phase %s: agent %s needs the setting agents.%s.%.*s; set it with cliq "
                        "settings",
                        t.phases[i].name, agent.name, agent.name, (int)key->text.len, key->text.p);
        }
    }
    settings_release(&settings);
    team_release(&t);
    problems_release(&p);
    arena_release(&a);
    buf_release(&text);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct problems p = { 0 };
    struct buf path = { 0 }, out = { 0 };
    bool is_named;
    int lock = -1;
    enum status s = find_team(a->words[0], &path, &is_named, e);

    if (!s)
        s = check_team(path.p, e);
    if (!s)
        s = open_state_dir(&f, e);
    if (!s)
        s = check_idle(&f, &lock, e);
    if (!s)
        s = assemble_team(&f, path.p, is_named || args_has(a, "trust"), &p, e);
    problems_write(&out, &p);
    if (out.len)
        fputs(out.p, stderr);
    buf_reset(&out);
    if (!s) {
        report_agents(&f);
        buf_addf(&out, "Assembled %s into %s. Next: cliq req -m TEXT, then cliq run\n", path.p,
                 f.state_dir);
        s = cmd_print(&out, e);
    }
    if (lock >= 0)
        close(lock);
    state_dir_close(&f);
    problems_release(&p);
    buf_release(&path);
    buf_release(&out);
    return s;
}

const struct cmd cmd_assemble = {
    .name = "assemble",
    .words = "TEAM",
    .min_words = 1,
    .max_words = 1,
    .brief = "copy a team into .cliq/ so that it can be run",
    .about = "TEAM is a directory with a team.yml (a path such as ./my-team) or the name of an\n"
             "installed team. It is validated first; with errors nothing is changed. A directory\n"
             "that you name is trusted by that act: its commands and agents may be run.",
    .examples = "cliq assemble ./my-team\n"
                "cliq assemble @local/research",
    .opts = opts,
    .run = run,
};
