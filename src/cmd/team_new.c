/*
 * team new - a small team to begin with.
 *
 * It validates clean and runs at once, without any model: a script, an exec phase and
 * a gate that decides by checks. So the first `cliq run` shows how a pipeline goes,
 * and each phase can then be given to an agent that thinks.
 */
#include "base/sys.h"
#include "cmd/cmd.h"
#include "team/team.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "dir", OPT_TEXT, "DIR", "the directory to make (NAME unless given)" },
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

/* ---- files ---- */

struct fill {
    const char *name, *dir;
};

static void
add_filled(struct buf *to, const char *text, const struct fill *f)
{
    const struct {
        const char *mark, *value;
    } marks[] = { { "%NAME%", f->name }, { "%DIR%", f->dir } };

    while (*text) {
        size_t i = 0, n = strcspn(text, "%");
        buf_add(to, text, n);
        text += n;
        while (*text && i < 2 && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        if (*text && i < 2) {
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

/* All of it or nothing: what was made is taken away again when a later part fails. */
static enum status
make_team(const char *path, const struct fill *f, struct err *e)
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
        s = make_file(dir, "team.yml", team_yml, f, e);
    if (!s)
        s = make_file(dir, "README.md", readme_md, f, e);
    if (s) {
        if (dir >= 0) {
            unlinkat(dir, "team.yml", 0);
            unlinkat(dir, "README.md", 0);
        }
        unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
    }
    if (dir >= 0)
        close(dir);
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
    buf_addf(&name, "%s%s", slash ? "" : "@local/", given);
    buf_addf(&dir, "%s%s", strchr(path, '/') ? "" : "./", path);
    enum status s = buf_status(&name, "the name", e);
    if (!s)
        s = buf_status(&dir, "the path", e);
    if (!s)
        s = make_team(path, &(struct fill){ name.p, dir.p }, e);
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
        "A directory that exists is not touched: exit code 5.",
    .examples = "cliq team new my-team\n"
                "cliq team new @acme/review --dir teams/review",
    .opts = opts,
    .run = run,
};
