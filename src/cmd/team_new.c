/*
 * team new - a small team to begin with.
 *
 * It validates clean and runs at once, without any model: a script, an exec phase and
 * a gate that decides by checks. So the first `cliq run` shows how a pipeline goes,
 * and each phase can then be given to an agent that thinks. With --lang the team has an
 * agent of its own, in a language that has an SDK.
 *
 * Tests: test/cli/team.bats test/scenario/sdk_install.bats
 */
#include "base/path.h"
#include "base/sys.h"
#include "base/tree.h"
#include "cmd/cmd.h"
#include "cmd/lib/sdk_package.h"
#include "proc/child.h"
#include "team/team.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "dir", OPT_TEXT, "DIR", "the directory to make (NAME unless given)" },
    { "lang", OPT_TEXT, "LANG", "with an agent of your own in sh, c, js, ts or python" },
    { 0 },
};

/* %NAME% stands for the team's full name, %DIR% for its directory, with a slash so that
 * it is taken for one. */
static const char team_yml[] =
    "# What runs, in which order, and who decides. `cliq team validate` checks it.\n"
    "name: \"%NAME%\"\n"
    "description: Writes a greeting, measures it and checks it\n"
    "version: 0.1.0\n"
    "\n"
    "inputs:\n"
    "  - name: who\n"
    "    description: Whom to greet\n"
    "    default: world\n"
    "\n"
    "phases:\n"
    "  # A script of your own. $(inputs.who) reaches it as one word, whatever is in it.\n"
    "  - name: draft\n"
    "    agent: script\n"
    "    commands:\n"
    "      - name: write\n"
    "        run: mkdir -p out && echo Hello, $(inputs.who) > out/greeting.txt\n"
    "\n"
    "  # exec runs commands and hands on which of them passed.\n"
    "  - name: measure\n"
    "    agent: exec\n"
    "    depends_on: [draft]\n"
    "    commands:\n"
    "      - name: count\n"
    "        run: wc -c out/greeting.txt\n"
    "\n"
    "  # A gate decides. This one passes when all of its commands do; otherwise it sends the\n"
    "  # work back, and looks at it at most twice.\n"
    "  - name: verify\n"
    "    type: gate\n"
    "    agent: checks\n"
    "    depends_on: [measure]\n"
    "    max_iterations: 2\n"
    "    commands:\n"
    "      - name: greeting-is-there\n"
    "        run: test -s out/greeting.txt\n"
    "      - name: greets-whom-it-should\n"
    "        run: grep -qF -- $(inputs.who) out/greeting.txt\n";

static const char readme_md[] =
    "# %NAME%\n"
    "\n"
    "Writes a greeting to `out/greeting.txt`, measures it and checks it. No model is asked.\n"
    "\n"
    "    cliq team validate %DIR%\n"
    "    cliq init\n"
    "    cliq assemble %DIR%\n"
    "    cliq req -m \"Greet somebody\" --input who=world\n"
    "    cliq run\n"
    "\n"
    "## Make it yours\n"
    "\n"
    "* Phases run as soon as those in their `depends_on` are done.\n"
    "* To let an agent of your own do a phase, put it in `agents/NAME/`, name it and say what to\n"
    "  do in `roles/PHASE.md`. `cliq team info --agents` lists the agents there are.\n"
    "* An agent can be any program: `cliq sdk --help` and cliq-sdk(3) tell how.\n";

/* ---- a team with an agent of its own ---- */

static const char agent_team_yml[] =
    "# What runs, in which order, and who decides. `cliq team validate` checks it.\n"
    "name: \"%NAME%\"\n"
    "description: An agent of your own writes a greeting; a gate checks it\n"
    "version: 0.1.0\n"
    "\n"
    "inputs:\n"
    "  - name: who\n"
    "    description: Whom to greet\n"
    "    default: world\n"
    "\n"
    "agents:\n"
    "  greeter:\n"
    "    entry: agents/greeter/%ENTRY%\n"
    "\n"
    "phases:\n"
    "  - name: greet\n"
    "    agent: greeter\n"
    "\n"
    "  # This gate passes when its command does; otherwise it sends the work back.\n"
    "  - name: verify\n"
    "    type: gate\n"
    "    agent: checks\n"
    "    depends_on: [greet]\n"
    "    max_iterations: 2\n"
    "    commands:\n"
    "      - name: greets-whom-it-should\n"
    "        run: grep -qF -- $(inputs.who) $(dirs.state)/files/greet/greeting.txt\n";

static const char agent_readme_md[] =
    "# %NAME%\n"
    "\n"
    "The agent `greeter` writes a greeting to `.cliq/files/greet/greeting.txt`; a gate checks it.\n"
    "\n"
    "    cliq team validate %DIR%\n"
    "    cliq init\n"
    "    cliq assemble %DIR%\n"
    "    cliq req -m \"Greet somebody\" --input who=world\n"
    "    cliq run\n"
    "\n"
    "The agent is `agents/greeter/%ENTRY%`; after a change assemble the team again.%BUILD%\n";

/* Makes of the C agent a program, with the library of the cliq that made the team. */
static const char makefile[] = "agent: agent.c\n"
                               "\t$(CC) -O2 -o $@ agent.c -I%INCLUDE% %LIBRARY% -lpthread\n";
static const char package_json[] = "{ \"private\": true, \"type\": \"module\" }\n";

static const struct lang {
    const char *name, *entry;
    const char *starter;      /* of the share directory: copied to `source` */
    const char *source;       /* in agents/greeter/ */
    const char *package;      /* of sdk_package, or NULL */
    const char *extra, *text; /* one more file, or NULL */
    const char *build;        /* how to build the agent, for people */
} langs[] = {
    { "sh", "agent.sh", "examples/starter/agent.sh", "agent.sh", NULL, NULL, NULL, "" },
    { "c", "agent", "examples/starter/agent.c", "agent.c", NULL, "Makefile", makefile,
      " `make -C agents/greeter` builds it." },
    { "js", "agent.js", "sdk-js/starter.js", "agent.js", "js", "package.json", package_json, "" },
    { "ts", "agent.ts", "sdk-js/starter.ts", "agent.ts", "js", "package.json", package_json,
      " node 22.6 or newer runs it, else tsx." },
    { "python", "agent.py", "sdk-python/cliq_sdk/starter.py", "agent.py", "python", NULL, NULL,
      "" },
};

static enum status
find_lang(const char *name, const struct lang **out, struct err *e)
{
    for (size_t i = 0; i < sizeof langs / sizeof *langs; i++) {
        *out = &langs[i];
        if (strcmp(langs[i].name, name) == 0)
            return ST_OK;
    }
    return err_set(e, ST_INVALID, "bad language \"%.80s\": it must be sh, c, js, ts or python",
                   name);
}

/* ---- files ---- */

struct fill {
    const char *name, *dir;
    const struct lang *lang;       /* NULL: a team without an agent of its own */
    const char *include, *library; /* for the Makefile; may be NULL */
};

static void
add_filled(struct buf *to, const char *text, const struct fill *f)
{
    const struct {
        const char *mark, *value;
    } marks[] = {
        { "%NAME%", f->name },
        { "%DIR%", f->dir },
        { "%ENTRY%", f->lang ? f->lang->entry : "" },
        { "%BUILD%", f->lang ? f->lang->build : "" },
        { "%INCLUDE%", f->include ? f->include : "" },
        { "%LIBRARY%", f->library ? f->library : "" },
    };
    const size_t n_marks = sizeof marks / sizeof *marks;

    while (*text) {
        size_t i = 0, n = strcspn(text, "%");
        buf_add(to, text, n);
        text += n;
        while (*text && i < n_marks && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        if (*text && i < n_marks) {
            buf_adds(to, marks[i].value);
            text += strlen(marks[i].mark);
        } else if (*text) {
            buf_addc(to, *text++);
        }
    }
}

static enum status
make_file(int dir, const char *name, const char *text, const struct fill *f, struct err *e)
{
    struct buf b = { 0 };

    add_filled(&b, text, f);
    enum status s = buf_status(&b, name, e);
    int fd =
        s ? -1 : SYS_RETRY(sys->openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!s && fd < 0)
        s = err_sys(e, "create %s", name);
    for (size_t at = 0; !s && at < b.len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, b.p + at, b.len - at));
        if (n < 0)
            s = err_sys(e, "write %s", name);
        else
            at += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    buf_release(&b);
    return s;
}

/* ---- the agent ---- */

/* Appends the first of the two paths in the share directory that exists: installed, in the tree. */
static enum status
find_part(const char *installed, const char *in_tree, struct buf *to, struct err *e)
{
    enum status s = sdk_share_path(installed, to, e);

    if (!s && access(to->p, R_OK) != 0) {
        buf_reset(to);
        s = sdk_share_path(in_tree, to, e);
    }
    if (!s && access(to->p, R_OK) != 0)
        s = err_set(e, ST_NOT_FOUND, "%s is missing: run make install", to->p);
    return s;
}

static enum status
build_agent(const char *path, struct err *e)
{
    const char *const argv[] = { "make", "-s", "-C", path, NULL };
    struct child_spec spec = { .proc = { .argv = argv, .out = "/dev/null" },
                               .keep = 4096,
                               .limit_ms = 60000,
                               .kill_ms = 5000 };
    struct child c;
    enum status s = child_run(&c, &spec, e);

    if (!s && child_exit_code(&c) != 0)
        s = err_set(e, ST_FAILED, "the agent does not compile; make in %s says: %.600s", path,
                    c.output.p ? c.output.p : "nothing");
    child_release(&c);
    return s;
}

/* What stands in agents/greeter/, which is open as `dir`. */
static enum status
fill_agent(int dir, const char *path, struct fill *f, struct err *e)
{
    const struct lang *l = f->lang;
    struct buf from = { 0 }, text = { 0 }, include = { 0 }, library = { 0 };
    const struct sdk_package *p;
    bool is_c = strcmp(l->name, "c") == 0;
    enum status s = sdk_share_path(l->starter, &from, e);

    if (!s)
        s = path_read_file(AT_FDCWD, from.p, &text, e);
    if (!s)
        s = make_file(dir, l->source, text.p ? text.p : "", f, e);
    if (!s && is_c)
        s = find_part("../../include/cliq.h", "include/cliq.h", &include, e);
    if (!s && is_c)
        s = find_part("../../lib/libcliq.a", "build/libcliq.a", &library, e);
    if (!s && is_c)
        buf_cut(&include, include.len - strlen("/cliq.h"));
    f->include = include.p;
    f->library = library.p;
    if (!s && l->extra)
        s = make_file(dir, l->extra, l->text, f, e);
    if (!s && l->package && !(s = sdk_package_find(l->package, &p, e)))
        s = sdk_package_copy(p, path, e);
    if (!s && is_c)
        s = build_agent(path, e);
    buf_release(&from);
    buf_release(&text);
    buf_release(&include);
    buf_release(&library);
    return s;
}

static enum status
make_agent(int team, const char *path, struct fill *f, struct err *e)
{
    struct buf inner = { 0 };
    int dir = -1;

    buf_addf(&inner, "%s/agents/greeter", path);
    enum status s = buf_status(&inner, "the path", e);
    if (!s && (SYS_RETRY(sys->mkdirat(team, "agents", 0777)) != 0 ||
               SYS_RETRY(sys->mkdirat(team, "agents/greeter", 0777)) != 0))
        s = err_sys(e, "create directory %s", inner.p);
    if (!s)
        s = path_open_dir(inner.p, false, &dir, e);
    if (!s)
        s = fill_agent(dir, inner.p, f, e);
    if (dir >= 0)
        close(dir);
    buf_release(&inner);
    return s;
}

/* All of it or nothing: what was made is removed again when a later part fails. */
static enum status
make_team(const char *path, struct fill *f, struct err *e)
{
    if (SYS_RETRY(sys->mkdirat(AT_FDCWD, path, 0777)) != 0) {
        if (errno == EEXIST)
            return err_set(e, ST_CONFLICT, "%s exists already: choose another name or --dir", path);
        return errno == ENOENT ? err_set(e, ST_NOT_FOUND, "no directory to make %s in", path)
                               : err_sys(e, "create directory %s", path);
    }
    enum status s = ST_OK;
    int dir = SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (dir < 0)
        s = err_sys(e, "open directory %s", path);
    if (!s)
        s = make_file(dir, "team.yml", f->lang ? agent_team_yml : team_yml, f, e);
    if (!s)
        s = make_file(dir, "README.md", f->lang ? agent_readme_md : readme_md, f, e);
    if (!s && f->lang)
        s = make_agent(dir, path, f, e);
    if (dir >= 0)
        close(dir);
    if (s)
        (void)tree_remove(AT_FDCWD, path, NULL);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *given = a->words[0], *slash = strchr(given, '/');
    const char *stem = slash ? slash + 1 : given;
    const char *path = args_has(a, "dir") ? args_text(a, "dir") : stem;
    struct buf name = { 0 }, dir = { 0 }, out = { 0 };

    if (!team_is_name(given))
        return err_set(e, ST_INVALID,
                       "bad team name \"%s\": write NAME or @scope/NAME with a-z, 0-9 and -",
                       given);
    struct fill fill = { 0 };
    enum status s = args_has(a, "lang") ? find_lang(args_text(a, "lang"), &fill.lang, e) : ST_OK;
    if (s)
        return s;
    buf_addf(&name, "%s%s", slash ? "" : "@local/", given);
    buf_addf(&dir, "%s%s", strchr(path, '/') ? "" : "./", path);
    s = buf_status(&name, "the name", e);
    if (!s)
        s = buf_status(&dir, "the path", e);
    fill.name = name.p;
    fill.dir = dir.p;
    if (!s)
        s = make_team(path, &fill, e);
    if (!s) {
        buf_addf(
            &out,
            "made the team %s in %s\n"
            "next: cliq init && cliq assemble %s && cliq req -m \"Greet somebody\" && cliq run\n",
            name.p, path, dir.p);
        s = cmd_print(&out, e);
    }
    buf_release(&name);
    buf_release(&dir);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_new = {
    .name = "team new",
    .words = "NAME",
    .min_words = 1,
    .max_words = 1,
    .brief = "make a small team to begin with",
    .about =
        "Makes a directory with team.yml and README.md: a team of three phases that runs as it\n"
        "is and asks no model. A NAME without a scope becomes @local/NAME.\n"
        "\n"
        "With --lang the team has an agent of its own in that language, with the SDK beside it\n"
        "(cliq sdk install); an agent in C is compiled. It runs as it is, too.\n"
        "\n"
        "A directory that exists is not touched: exit code 5.",
    .examples = "cliq team new my-team\n"
                "cliq team new my-team --lang python\n"
                "cliq team new @acme/review --dir teams/review",
    .opts = opts,
    .run = run,
};
