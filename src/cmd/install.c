/* install - registers cliq with the programs that agents work in: its MCP server, and its hooks. */
#include "base/json.h"
#include "base/suggest.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/client_config.h"
#include "team/runner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "client", OPT_TEXT, "CLIENT", "claude, codex, gemini, cursor or opencode" },
    { "scope", OPT_TEXT, "SCOPE",
      "user: in all projects of this user (default); project: in this one" },
    { "print", OPT_FLAG, NULL, "show what would change, and change nothing" },
    { "uninstall", OPT_FLAG, NULL, "take it out again" },
    { "json", OPT_FLAG, NULL, "print JSON: of the list, or of what changed" },
    { 0 },
};

/* ---- one client ---- */

static void
tell_file(struct buf *out, const struct client_file *f, bool is_off)
{
    if (!f->steps.len)
        buf_addf(out, "%s: %s\n", f->path, is_off ? "has nothing of cliq" : "is as it should be");
    else
        buf_addf(out, "%s: %s %s\n", f->path, is_off ? "removed" : "added", f->steps.p);
    if (f->steps.len && !f->is_new)
        buf_addf(out, "  as it was before: %s.before-cliq\n", f->real);
}

static void
tell_diff(struct buf *out, const struct client_file *f)
{
    if (f->diff.len)
        buf_addf(out, "%s\n%s", f->path, f->diff.p);
}

/* What else a person should know of a client that has cliq now. */
static void
tell_client(struct buf *out, const struct client_change *c, bool is_off)
{
    buf_addf(out, "%s takes it over when it starts the next time.\n", c->client->says);
    if (!is_off && strcmp(c->client->id, "codex") == 0)
        buf_adds(out,
                 "Codex runs new hooks after you have trusted them: /hooks in its own terminal.\n");
    if (!is_off && !c->has_hooks)
        buf_addf(out,
                 "%s has no hooks for cliq: its agents have to ask for messages, and are not kept "
                 "from files that others lease (cliq lease guard --install checks commits).\n",
                 c->client->says);
}

static void
write_change(struct buf *out, const struct client_change *c, bool is_print)
{
    json_open(out, '{');
    json_key_str(out, "client", c->client->id);
    json_key_bool(out, "is_written", !is_print && c->n_changed);
    json_key(out, "files");
    json_open(out, '[');
    for (size_t i = 0; i < c->n_files; i++) {
        const struct client_file *f = &c->files[i];
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "path", f->path);
        json_key_bool(out, "is_new", f->is_new);
        json_key_str(out, "diff", f->diff.len ? f->diff.p : "");
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    buf_addc(out, '\n');
}

static enum status
change(const struct agent_client *client, bool is_project, const struct args *a, struct err *e)
{
    bool is_off = args_has(a, "uninstall"), is_print = args_has(a, "print");
    struct client_change c;
    struct buf out = { 0 };
    enum status s =
        client_change_plan(&c, client, is_project, is_off ? CLIENT_REMOVE : CLIENT_ADD, e);

    if (!s && !is_print)
        s = client_change_write(&c, e);
    if (!s && args_has(a, "json")) {
        write_change(&out, &c, is_print);
    } else if (!s) {
        for (size_t i = 0; i < c.n_files; i++)
            if (is_print)
                tell_diff(&out, &c.files[i]);
            else
                tell_file(&out, &c.files[i], is_off);
        if (!is_print && c.n_changed)
            tell_client(&out, &c, is_off);
    }
    if (!s && out.len)
        s = cmd_print(&out, e);
    buf_release(&out);
    client_change_release(&c);
    return s;
}

/* ---- all of them ---- */

static void
cell(struct table *t, const char *text)
{
    table_cell(t, text, strlen(text));
}

/* Below the home directory as people write it. */
static void
add_path(struct buf *to, const char *path)
{
    const char *home = getenv("HOME");
    size_t n = home ? strlen(home) : 0;

    buf_adds(to, to->len ? ", " : "");
    if (n > 1 && strncmp(path, home, n) == 0 && path[n] == '/')
        buf_addf(to, "~%s", path + n);
    else
        buf_adds(to, path);
}

/* A client in one scope: what a change would do, or why it cannot. */
struct client_row {
    struct client_change change;
    bool is_project, has_program;
    const char *state;
    struct err why;
};

static void
look(struct client_row *r, const struct agent_client *client, bool is_project)
{
    *r =
        (struct client_row){ .is_project = is_project, .has_program = runner_has(client->program) };
    enum status s = client_change_plan(&r->change, client, is_project, CLIENT_ADD, &r->why);
    if (!s)
        r->why.text[0] = '\0'; /* a file that is not there yet is no failure */
    r->state = s ? "?" : !r->change.n_changed ? "yes" : r->change.n_ours ? "partly" : "no";
}

static void
add_row(struct table *t, const struct client_row *r)
{
    const struct client_change *c = &r->change;
    struct buf would = { 0 };

    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i].steps.len)
            add_path(&would, c->files[i].path);
    cell(t, c->client->id);
    cell(t, r->has_program ? "yes" : "no");
    cell(t, r->is_project ? "project" : "user");
    cell(t, r->state);
    cell(t, *r->why.text ? r->why.text : would.p ? would.p : "nothing");
    buf_release(&would);
}

static void
write_row(struct buf *out, const struct client_row *r)
{
    const struct client_change *c = &r->change;
    const char *paths[CLIENT_FILES_MAX];
    size_t n = 0;

    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i].steps.len)
            paths[n++] = c->files[i].path;
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "client", c->client->id);
    json_key_bool(out, "has_program", r->has_program);
    json_key_str(out, "scope", r->is_project ? "project" : "user");
    json_key_str(out, "cliq", *r->why.text ? NULL : r->state);
    json_key_strs(out, "would_change", paths, *r->why.text ? 0 : n);
    json_key_str(out, "error", *r->why.text ? r->why.text : NULL);
    json_close(out, '}');
}

static enum status
show_all(const char *scope, bool is_json, struct err *e)
{
    static const char *const head[] = { "CLIENT", "PROGRAM", "SCOPE", "CLIQ", "WOULD CHANGE" };
    struct table t = { .columns = 5 };
    struct buf out = { 0 };

    for (size_t i = 0; i < 5; i++)
        cell(&t, head[i]);
    if (is_json)
        json_open(&out, '[');
    for (const struct agent_client *c = agent_clients; c->id; c++)
        for (int is_project = 0; is_project < 2; is_project++) {
            struct client_row r;
            if (scope && (strcmp(scope, "project") == 0) != is_project)
                continue;
            look(&r, c, is_project);
            if (is_json)
                write_row(&out, &r);
            else
                add_row(&t, &r);
            client_change_release(&r.change);
        }
    if (is_json) {
        json_close(&out, ']');
        buf_addc(&out, '\n');
    } else {
        table_write(&t, &out, 0, term_has_color(STDOUT_FILENO));
        buf_adds(&out, "\ncliq install --client CLIENT adds it; --print shows the lines.\n");
    }
    table_release(&t);
    enum status s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *id = args_text(a, "client"), *scope = args_text(a, "scope");
    const struct agent_client *client = agent_client_find(id);
    struct suggest near = { .word = id };

    if (scope && strcmp(scope, "user") != 0 && strcmp(scope, "project") != 0)
        return err_set(e, ST_INVALID, "--scope is user or project, not \"%s\"", scope);
    if (!id && (args_has(a, "print") || args_has(a, "uninstall")))
        return err_set(e, ST_INVALID,
                       "--client is missing: claude, codex, gemini, cursor or opencode");
    if (!id)
        return show_all(scope, args_has(a, "json"), e);
    if (!client) {
        for (const struct agent_client *c = agent_clients; c->id; c++)
            suggest_try(&near, c->id);
        return err_set(e, ST_INVALID,
                       "--client is claude, codex, gemini, cursor or opencode, not \"%s\"%s%s%s",
                       id, near.best ? "; did you mean " : "", near.best ? near.best : "",
                       near.best ? "?" : "");
    }
    return change(client, scope && strcmp(scope, "project") == 0, a, e);
}

const struct cmd cmd_install = {
    .name = "install",
    .brief = "give agents in Claude Code, Codex, Gemini, … cliq's tools and hooks",
    .about =
        "Adds cliq to the client's configuration: its MCP server (cliq help mcp), and, for\n"
        "Claude Code, Codex and Gemini CLI, its hooks (cliq help hook): the agent is told of\n"
        "messages when it stops and when it is asked something, it is kept from files that\n"
        "others have leased, and others see when it starts and ends. Without --client: which\n"
        "clients are there, and what would change.\n"
        "\n"
        "Files are changed in place: other servers, other hooks, comments and order stay. A\n"
        "file that changes is kept as FILE.before-cliq. Doing it again changes nothing. A\n"
        "file that is broken is refused with line and column, and then no file is changed; so\n"
        "is an entry \"cliq\" that runs something else. The files of this user, and those of a\n"
        "project:\n"
        "  claude    ~/.claude.json, ~/.claude/settings.json; .mcp.json, .claude/settings.json;\n"
        "  codex     ~/.codex/config.toml, hooks.json; .codex/config.toml, hooks.json;\n"
        "  gemini    ~/.gemini/settings.json; .gemini/settings.json;\n"
        "  cursor    ~/.cursor/mcp.json; .cursor/mcp.json;\n"
        "  opencode  ~/.config/opencode/opencode.json; opencode.json.\n"
        "\n"
        "CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME and XDG_CONFIG_HOME count as they do\n"
        "for the clients. With --scope project the files stand in the project's root, for all\n"
        "who work on it, and the command in them is plain cliq; else it is the path of this\n"
        "program when cliq on PATH is another one, or none.",
    .examples = "cliq install\n"
                "cliq install --client claude\n"
                "cliq install --client codex --print\n"
                "cliq install --client gemini --scope project\n"
                "cliq install --client claude --uninstall",
    .opts = opts,
    .run = run,
};
