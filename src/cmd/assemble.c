/* assemble - a team's workflow, roles and agents into .cliq/. */
#include "run/assemble.h"
#include "base/path.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_source.h"
#include "context/frames.h"
#include "run/assembled.h"
#include "run/lockfile.h"
#include "run/replay.h"
#include "team/agent.h"
#include "team/installed_teams.h"
#include "team/trust.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "trust", OPT_FLAG, NULL, "trust the programs of a team that is not a directory you named" },
    { 0 },
};

/* The team that a word names: a directory, an installed team, or a package, which is unpacked in
 * `place` until that is closed. */
struct chosen {
    struct team_ref ref;
    struct package_place place;
    struct buf dir;
};

/* An installed team has one version. */
static enum status
check_version(const struct chosen *c, struct err *e)
{
    struct team t = { 0 };
    struct problems ignored = { 0 };
    int dir;

    if (!c->ref.version.len)
        return ST_OK;
    enum status s = path_open_dir(c->dir.p, false, &dir, e);
    if (s)
        return s;
    (void)team_load_file(&t, dir, "team.yml", &ignored, NULL);
    if (!team_ref_fits(&c->ref, t.version))
        s = err_set(e, ST_NOT_FOUND,
                    "%s is installed in the version %s, not %s: cliq team install hub://%s@%s "
                    "installs that from the hub",
                    c->ref.at.p, t.version ? t.version : "(none)", c->ref.version.p, c->ref.at.p,
                    c->ref.version.p);
    team_release(&t);
    problems_release(&ignored);
    close(dir);
    return s;
}

static enum status
find_installed(struct chosen *c, const char *text, struct err *e)
{
    enum status s = installed_team_dir(c->ref.at.p, &c->dir, e);

    if (s == ST_NOT_FOUND) {
        struct err why = e ? *e : (struct err){ "" };
        if (text[0] == '@')
            err_say(e, "%s. cliq assemble hub://%s takes it from the hub", why.text, text);
        else
            err_say(e, "%s. A directory is named by a path, like ./%s", why.text, text);
    }
    return s ? s : check_version(c, e);
}

static enum status
find_team(const char *text, struct chosen *c, struct err *e)
{
    enum status s = team_ref_parse(&c->ref, text, e);

    if (s)
        return s;
    if (c->ref.kind == TEAM_REF_NAME)
        return find_installed(c, text, e);
    if (c->ref.kind == TEAM_REF_DIR)
        buf_adds(&c->dir, c->ref.at.p);
    else if ((s = team_source_open(&c->ref, &c->place, e)) == ST_OK)
        buf_adds(&c->dir, c->place.path.p);
    return s ? s : buf_status(&c->dir, "the team's path", e);
}

static void
release_chosen(struct chosen *c)
{
    package_place_close(&c->place);
    team_ref_release(&c->ref);
    buf_release(&c->dir);
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

/* Says which agents cannot be started yet: `above` is "" or "phase/", the way to a team phase. The
 * settings are those of the project. */
static void
report_agents(const struct state_dir *project, const struct state_dir *f, const char *above);

struct reporting {
    const struct state_dir *project;
    const char *above;
};

static enum status
report_frame(void *ctx, const struct state_dir *f, const char *phase, struct err *e)
{
    const struct reporting *r = ctx;
    struct buf path = { 0 };

    (void)e;
    buf_addf(&path, "%s%s/", r->above, phase);
    report_agents(r->project, f, buf_failed(&path) ? "" : path.p);
    buf_release(&path);
    return ST_OK;
}

static void
report_agents(const struct state_dir *project, const struct state_dir *f, const char *above)
{
    struct team t = { 0 };
    struct problems p = { 0 };
    struct settings settings = { 0 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *agents = NULL;
    struct err e;

    if (team_load_file(&t, f->dir, "workflow.yml", &p, &e) == ST_OK &&
        settings_load(&settings, project->state_dir, &e) == ST_OK) {
        if (state_dir_read(f, "agents.json", &text, NULL) == ST_OK)
            json_parse(&a, text.p, text.len, &agents, NULL);
        struct agent_scope scope = { f->state_dir, &settings, agents };
        for (size_t i = 0; i < t.n_phases; i++) {
            struct agent agent;
            const char *name = t.phases[i].agent;
            if (!name && t.phases[i].type == PHASE_TEAM)
                name = "team";
            if (!name)
                name = settings_text(&settings, "default_agent");
            if (agent_resolve(&a, &scope, name ? name : "cursor", &agent, &e) != ST_OK) {
                cmd_warn("phase %s%s: %s", above, t.phases[i].name, e.text);
                continue;
            }
            json_each (key, json_path(agent.manifest, "settings.required"))
                if (json_is(key, JSON_STRING) &&
                    !json_getn(agent.settings, key->text.p, key->text.len))
                    cmd_warn(
                        "phase %s%s: agent %s needs the setting agents.%s.%.*s; set it with cliq "
                        "settings",
                        above, t.phases[i].name, agent.name, agent.name, (int)key->text.len,
                        key->text.p);
        }
    }
    frames_each(f, report_frame, &(struct reporting){ project, above }, NULL);
    settings_release(&settings);
    team_release(&t);
    problems_release(&p);
    arena_release(&a);
    buf_release(&text);
}

static void
show_text(const char *label, const char *text)
{
    struct buf out = { 0 };

    term_escape(&out, text, strlen(text), false);
    fprintf(stderr, "%s%s\n", label, out.p && !buf_failed(&out) ? out.p : "");
    buf_release(&out);
}

static enum status
show_frame(void *ctx, const struct state_dir *f, const char *phase, struct err *e);

/* The programs that a run of the team would execute. */
static void
show_programs(const struct state_dir *f)
{
    struct team t = { 0 };
    struct problems p = { 0 };

    if (team_load_file(&t, f->dir, "workflow.yml", &p, NULL) == ST_OK) {
        for (size_t i = 0; i < t.n_agents; i++)
            show_text("  agent    ", t.agents[i].entry ? t.agents[i].entry : t.agents[i].name);
        for (size_t i = 0; i < t.n_phases; i++)
            for (size_t k = 0; k < t.phases[i].n_commands; k++)
                show_text("  command  ", t.phases[i].commands[k].run);
    }
    frames_each(f, show_frame, NULL, NULL);
    team_release(&t);
    problems_release(&p);
}

static enum status
show_frame(void *ctx, const struct state_dir *f, const char *phase, struct err *e)
{
    (void)ctx, (void)e;
    show_text(" the team of phase ", phase);
    show_programs(f);
    return ST_OK;
}

/* A person is asked once; a script is told how to say it. */
static enum status
ask_trust(const struct state_dir *f, struct err *e)
{
    char hash[TRUST_HASH_SIZE], line[16] = "";
    bool is_known = false;
    enum status s = trust_hash(f->dir, hash, e);

    if (!s)
        s = trust_is_known(hash, &is_known, e);
    if (s || is_known)
        return s;
    if (!term_is_tty(STDIN_FILENO) || !term_is_tty(STDERR_FILENO)) {
        cmd_note("nothing of this team will run until you trust it: read .cliq/, then cliq team "
                 "trust");
        return ST_OK;
    }
    fputs("This team would run:\n", stderr);
    show_programs(f);
    fputs("Trust it? [y/N] ", stderr);
    if (fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y'))
        return trust_add(hash, f->state_dir, e);
    cmd_note("not trusted: cliq team trust does it later");
    return ST_OK;
}

static enum status
tell(const struct state_dir *f, const char *dir, struct err *e)
{
    struct buf out = { 0 };

    buf_adds(&out, "Assembled ");
    term_escape(&out, dir, strlen(dir), false);
    buf_adds(&out, " into ");
    term_escape(&out, f->state_dir, strlen(f->state_dir), false);
    buf_adds(&out, ". Next: cliq req -m TEXT, then cliq run\n");
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
assemble(const struct args *a, const struct chosen *c, struct state_dir *f, struct err *e)
{
    enum assemble_trust trust = args_has(a, "trust")          ? ASSEMBLE_TRUST_ALL
                                : c->ref.kind == TEAM_REF_DIR ? ASSEMBLE_TRUST_OWN
                                                              : ASSEMBLE_TRUST_NOTHING;
    bool is_trusted = false;
    bool is_kept = c->ref.kind == TEAM_REF_DIR || c->ref.kind == TEAM_REF_NAME;
    struct problems p = { .dir = c->dir.p };
    struct buf out = { 0 };
    int64_t newest_ms = is_kept ? assembled_newest(c->dir.p) : 0;
    enum status s = assemble_team(f, c->dir.p, trust, &is_trusted, &p, e);

    problems_write(&out, &p);
    if (out.len)
        fputs(out.p, stderr);
    if (!s)
        s = assembled_write(f, is_kept ? c->dir.p : NULL, newest_ms, e);
    if (!s) {
        report_agents(f, f, "");
        s = tell(f, is_kept ? c->dir.p : a->words[0], e);
    }
    if (!s && !is_trusted)
        s = ask_trust(f, e);
    problems_release(&p);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct chosen c = { .place = { .teams = -1, .lock = -1, .dir = -1 } };
    int lock = -1;
    enum status s = find_team(a->words[0], &c, e);

    if (!s)
        s = check_team(c.dir.p, e);
    if (!s)
        s = open_state_dir(&f, e);
    if (!s)
        s = check_idle(&f, &lock, e);
    if (!s)
        s = assemble(a, &c, &f, e);
    if (lock >= 0)
        close(lock);
    state_dir_close(&f);
    release_chosen(&c);
    return s;
}

const struct cmd cmd_assemble = {
    .name = "assemble",
    .words = "TEAM",
    .min_words = 1,
    .max_words = 1,
    .brief = "copy a team into .cliq/ so that it can be run",
    .about =
        "TEAM is a directory with a team.yml (a path such as ./my-team), an installed team\n"
        "(@scope/name, with @1.2 or @1.2.3 behind it if it must have that version), a .tgz of\n"
        "team pack, hub://@scope/name[@1.2] of the hub, or the URL of a git repository. It is\n"
        "validated first; with errors nothing is changed.\n"
        "\n"
        "A directory that you name is trusted by that act: its commands and agents may be run.\n"
        "About any other team you are asked once on a terminal; in scripts, --trust says yes.",
    .examples = "cliq assemble ./my-team\n"
                "cliq assemble @local/research\n"
                "cliq assemble @acme/review@1.2 --trust\n"
                "cliq assemble acme-review-1.2.0.tgz",
    .opts = opts,
    .run = run,
};
