/* team add-role - a role file for a phase of a team. */
#include "base/path.h"
#include "base/suggest.h"
#include "base/term.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_file.h"
#include "cmd/lib/team_find.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROLE_MAX = 1 << 20 };

static const struct opt opts[] = {
    { "from", OPT_TEXT, "FILE", "the role's text; - is standard input" },
    { 0 },
};

/* The outline of a role, for its author to fill in. */
static void
add_template(struct buf *to, const char *role)
{
    buf_addf(to,
             "# %s\n"
             "\n"
             "You are the agent of this phase. Say here:\n"
             "\n"
             "* what to do, and with which files or tools\n"
             "* what must be true when it is done\n"
             "* what to hand on to the next phase\n"
             "\n"
             "`cliq help templates` lists the variables that a role may use, like $(phase).\n",
             role);
}

static enum status
read_text(const char *from, struct buf *to, struct err *e)
{
    enum status s = strcmp(from, "-") == 0 ? path_read_fd(STDIN_FILENO, "standard input", to, e)
                                           : path_read_file(AT_FDCWD, from, to, e);

    if (!s && (utf8_valid_len(to->p ? to->p : "", to->len) < to->len ||
               memchr(to->p ? to->p : "", '\0', to->len)))
        s = err_set(e, ST_INVALID, "%s is not plain UTF-8 text", from);
    if (!s && !to->len)
        s = err_set(e, ST_INVALID, "%s is empty: a role says what to do", from);
    return s;
}

/* A role that no phase has is probably misspelt. */
static void
note_unused(const struct team *t, const char *role)
{
    struct suggest near = { .word = role };

    for (size_t i = 0; i < t->n_phases; i++) {
        const char *name = t->phases[i].role ? t->phases[i].role : t->phases[i].name;
        if (name && strcmp(name, role) == 0)
            return;
        if (name)
            suggest_try(&near, name);
    }
    cmd_note("no phase has the role %s yet%s%s%s: name a phase so, or write role: %s", role,
             near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "",
             role);
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *role = a->words[1], *from = args_text(a, "from");
    struct found_team f = { .dir = -1 };
    struct buf text = BUF_MAX(ROLE_MAX), path = { 0 }, out = { 0 };
    int roles = -1;
    enum status s = path_check_name("role", role, e);

    if (!s)
        s = team_find_own(&f, a->words[0], e);
    if (!s && from)
        s = read_text(from, &text, e);
    else if (!s)
        add_template(&text, role);
    buf_addf(&path, "%s.md", role);
    if (!s)
        s = buf_status(&text, "the role", e);
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = path_open_dir_at(f.dir, "roles", true, &roles, e);
    if (!s && (s = team_file_write(roles, path.p, &text, true, e)) == ST_CONFLICT)
        err_say(e, "roles/%s.md exists already: edit it, or remove it first", role);
    if (!s) {
        note_unused(&f.team, role);
        buf_adds(&out, "made ");
        term_escape(&out, f.file.p, f.file.len - strlen("team.yml"), false);
        buf_addf(&out, "roles/%s\n", path.p);
        s = cmd_print(&out, e);
    }
    if (roles >= 0)
        close(roles);
    team_find_release(&f);
    buf_release(&text);
    buf_release(&path);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_add_role = {
    .name = "team add-role",
    .words = "TEAM ROLE",
    .min_words = 2,
    .max_words = 2,
    .brief = "give a team the text of a role",
    .about =
        "Makes roles/ROLE.md in the team's directory: a copy of FILE, or a text to fill in. The\n"
        "role of a phase is its role:, else its name. A role that exists is not touched: exit\n"
        "code 5.\n"
        "\n"
        "TEAM is a directory with a team.yml, or the name of an installed team.",
    .examples = "cliq team add-role ./my-team review\n"
                "cliq team add-role ./my-team review --from review.md\n"
                "echo 'Check the facts.' | cliq team add-role ./my-team check --from -",
    .opts = opts,
    .run = run,
};
