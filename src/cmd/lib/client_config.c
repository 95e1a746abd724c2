#define _GNU_SOURCE
#include "cmd/lib/client_config.h"

#include "base/json_edit.h"
#include "base/line_diff.h"
#include "base/path.h"
#include "base/toml_edit.h"
#include "cmd/lib/team_file.h"
#include "context/checkout.h"
#include "team/agent.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_MAX = 64 << 20, HOOKS_MAX = 8 };

/* ---- what is where ---- */

enum config_kind { CONFIG_JSON, CONFIG_TOML };

/* $env/in_env, else ~/in_home. */
struct config_path {
    const char *env, *in_env, *in_home, *in_project;
};

struct hook_row {
    const char *event;
    const char *matcher; /* NULL: every tool, or an event without tools */
};

struct config_row {
    const char *id;
    enum config_kind kind;
    struct config_path servers, hooks;
    const char *const *at; /* the path of the entry */
    const char *entry;     /* %s: the command, in quotes */
    const char *timeout;   /* of a hook, in the client's unit */
    struct hook_row events[HOOKS_MAX];
};

static const char *const at_mcp_servers[] = { "mcpServers", "cliq", NULL };
static const char *const at_mcp_servers_toml[] = { "mcp_servers", "cliq", NULL };
static const char *const at_mcp[] = { "mcp", "cliq", NULL };

/* Codex gives a server only the variables that it names. */
#define CODEX_VARIABLES                                                                            \
    "\"CLIQ_HOME\", \"CLIQ_URL\", \"CLIQ_KEY\", \"CLIQ_IDENTITY\", \"CLIQ_PHASE\", "               \
    "\"CLIQ_STATE_DIR\", \"CLIQ_PROJECT_DIR\", \"WARROOMS_DIR\""

static const struct config_row rows[] = {
    { .id = "claude",
      .servers = { "CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json", ".mcp.json" },
      .hooks = { "CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json",
                 ".claude/settings.json" },
      .at = at_mcp_servers,
      .entry = "{\"type\":\"stdio\",\"command\":%s,\"args\":[\"mcp\"]}",
      .timeout = "5",
      .events = { { "SessionStart", NULL },
                  { "UserPromptSubmit", NULL },
                  { "PreToolUse", "Write|Edit|MultiEdit|NotebookEdit" },
                  { "PostToolUse", NULL },
                  { "Stop", NULL },
                  { "SessionEnd", NULL } } },
    { .id = "codex",
      .kind = CONFIG_TOML,
      .servers = { "CODEX_HOME", "config.toml", ".codex/config.toml", ".codex/config.toml" },
      .hooks = { "CODEX_HOME", "hooks.json", ".codex/hooks.json", ".codex/hooks.json" },
      .at = at_mcp_servers_toml,
      .entry =
          "[mcp_servers.cliq]\ncommand = %s\nargs = [\"mcp\"]\nenv_vars = [" CODEX_VARIABLES "]\n",
      .timeout = "5",
      .events = { { "SessionStart", NULL },
                  { "UserPromptSubmit", NULL },
                  { "PreToolUse", NULL },
                  { "PostToolUse", NULL },
                  { "Stop", NULL },
                  { "SessionEnd", NULL } } },
    { .id = "gemini",
      .servers = { "GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json",
                   ".gemini/settings.json" },
      .hooks = { "GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json",
                 ".gemini/settings.json" },
      .at = at_mcp_servers,
      /* Gemini keeps back variables that look like secrets, unless they are named. */
      .entry = "{\"command\":%s,\"args\":[\"mcp\"],\"env\":{\"CLIQ_KEY\":\"$CLIQ_KEY\"}}",
      .timeout = "5000",
      .events = { { "SessionStart", NULL },
                  { "BeforeAgent", NULL },
                  { "BeforeTool", "write_file|replace" },
                  { "AfterTool", NULL },
                  { "AfterAgent", NULL },
                  { "SessionEnd", NULL } } },
    { .id = "cursor",
      .servers = { NULL, NULL, ".cursor/mcp.json", ".cursor/mcp.json" },
      .at = at_mcp_servers,
      .entry = "{\"command\":%s,\"args\":[\"mcp\"]}" },
    { .id = "opencode",
      .servers = { "XDG_CONFIG_HOME", "opencode/opencode.json", ".config/opencode/opencode.json",
                   "opencode.json" },
      .at = at_mcp,
      .entry = "{\"type\":\"local\",\"command\":[%s,\"mcp\"],\"enabled\":true}" },
};

static const struct config_row *
row_of(const struct agent_client *client)
{
    const struct config_row *row = rows;

    while (strcmp(row->id, client->id) != 0) {
        row++;
        assert(row < rows + sizeof rows / sizeof *rows); /* each client has one */
    }
    return row;
}

/* ---- the command ---- */

/* Is the first "cliq" on PATH this program? */
static bool
is_on_path(const char *self)
{
    const char *path = getenv("PATH");
    char full[PATH_MAX], real[PATH_MAX], own[PATH_MAX];

    if (!realpath(self, own))
        return false;
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        if (!n || snprintf(full, sizeof full, "%.*s/cliq", (int)n, path) >= (int)sizeof full ||
            access(full, X_OK) != 0)
            continue;
        return realpath(full, real) && strcmp(real, own) == 0;
    }
    return false;
}

/* "cliq", else the absolute path of this program: a client may be started with another PATH. A
 * project's file is for everyone who works on it. */
static const char *
command_of(struct arena *a, bool is_project)
{
    const char *self = agent_self(a);

    return is_project || !self || is_on_path(self) ? "cliq" : self;
}

/* The command line of a hook. An exit code would be an answer to the client, so it has none. */
static void
write_hook_line(struct buf *to, const char *command, const char *client)
{
    if (strcspn(command, " '\"\\$`&|;<>()*?[]#~!") == strlen(command)) {
        buf_adds(to, command);
    } else {
        buf_addc(to, '\'');
        for (const char *p = command; *p; p++)
            if (*p == '\'')
                buf_adds(to, "'\\''");
            else
                buf_addc(to, *p);
        buf_addc(to, '\'');
    }
    buf_addf(to, " hook --client %s || true", client);
}

/* ---- what changed, for people ---- */

static void
add_step(struct client_file *f, const char *const *path)
{
    buf_adds(&f->steps, f->steps.len ? ", " : "");
    for (size_t i = 0; path[i]; i++)
        if (*path[i] != '#')
            buf_addf(&f->steps, "%s%s", i ? "." : "", path[i]);
}

/* Ends a change of f->text. */
static enum status
note_change(struct client_file *f, const char *const *path, enum status s)
{
    if (!s)
        add_step(f, path);
    return s;
}

/* ---- the entry of the server ---- */

static bool
is_cliq(const char *p, size_t len)
{
    return (len == 4 || (len > 4 && p[len - 5] == '/')) && memcmp(p + len - 4, "cliq", 4) == 0;
}

/* Does the entry run cliq? Its command is a text, or a list that begins with it. */
static bool
runs_cliq(const struct json *entry)
{
    const struct json *command = json_get(entry, "command");

    if (json_is(command, JSON_ARRAY))
        command = json_first(command);
    return json_is(command, JSON_STRING) && command->text.len >= 4 &&
           is_cliq(command->text.p, command->text.len);
}

static enum status
refuse_taken(const struct client_file *f, const char *const *path, struct err *e)
{
    return err_set(e, ST_CONFLICT,
                   "%s: %s.%s is there already and does not run cliq; rename or remove that entry",
                   f->path, path[0], path[1]);
}

static enum status
change_json_entry(struct client_change *c, struct client_file *f, const struct config_row *row,
                  const char *entry, enum client_what what, struct err *e)
{
    struct json *doc = NULL;
    enum status s = json_edit_read(&c->arena, f->path, &f->text, &doc, e);
    const struct json *is = s ? NULL : json_get(json_get(doc, row->at[0]), row->at[1]);

    if (s)
        return s;
    if (is && !runs_cliq(is))
        return what == CLIENT_ADD ? refuse_taken(f, row->at, e) : ST_OK;
    c->n_ours += is != NULL;
    if ((what == CLIENT_ADD) == (is != NULL))
        return ST_OK;
    s = what == CLIENT_ADD ? json_edit_add(&f->text, row->at, entry, e)
                           : json_edit_remove(&f->text, row->at, e);
    return note_change(f, row->at, s);
}

static enum status
change_toml_entry(struct client_change *c, struct client_file *f, const struct config_row *row,
                  const char *entry, enum client_what what, struct err *e)
{
    static const char *const at_command[] = { "mcp_servers", "cliq", "command", NULL };
    struct toml_doc doc;
    enum status s = toml_edit_read(&c->arena, f->path, &f->text, &doc, e);

    if (s)
        return s;
    const struct toml_item *is = toml_edit_find(&doc, row->at);
    const struct toml_item *command = toml_edit_find(&doc, at_command);
    /* mcp_servers = { … }, or [[mcp_servers]]: tables that nothing can be added to */
    for (const struct toml_item *i = doc.first; i; i = i->next)
        if (i->n_keys == 1 && strcmp(i->keys[0], row->at[0]) == 0 && (!i->is_header || i->is_list))
            return err_set(
                e, ST_CONFLICT,
                "%s:%u: mcp_servers is written in one line; write its servers as tables, "
                "[mcp_servers.NAME]",
                f->path, i->line);
    bool is_ours = false;
    if (command && command->over >= command->value + 2) { /* between quotes */
        const char *p = f->text.p + command->value + 1;
        is_ours = is_cliq(p, command->over - command->value - 2);
    }
    if (is && !is_ours)
        return what == CLIENT_ADD ? refuse_taken(f, row->at, e) : ST_OK;
    if (is && !is->is_header)
        return what == CLIENT_ADD
                   ? ST_OK
                   : err_set(e, ST_CONFLICT,
                             "%s:%u: mcp_servers.cliq is no table; remove it by hand", f->path,
                             is->line);
    c->n_ours += is != NULL;
    if ((what == CLIENT_ADD) == (is != NULL))
        return ST_OK;
    s = what == CLIENT_ADD ? toml_edit_add(&f->text, entry, e)
                           : toml_edit_remove(&f->text, &doc, row->at, e);
    return note_change(f, row->at, s);
}

/* ---- hooks ---- */

/* Is it a command of ours: "… hook --client claude …"? */
static bool
is_our_hook(const struct json *hook, const char *client, struct arena *a)
{
    const char *line = json_dup_text(a, json_get(hook, "command"));
    char mark[64];

    snprintf(mark, sizeof mark, " hook --client %s", client);
    return line && strstr(line, mark) && strstr(line, "cliq");
}

static void
write_hook(struct buf *to, const struct config_row *row, const struct hook_row *event,
           const char *line)
{
    json_open(to, '{');
    json_key_str(to, "matcher", event->matcher);
    json_key(to, "hooks");
    json_open(to, '[');
    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "type", "command");
    json_key_str(to, "command", line);
    json_key_raw(to, "timeout", row->timeout, strlen(row->timeout));
    json_close(to, '}');
    json_close(to, ']');
    json_close(to, '}');
}

/* Removes our commands from an event's groups, one at a time: each changes the places of others. */
static enum status
remove_hooks(struct client_change *c, struct client_file *f, const struct config_row *row,
             const char *event, struct err *e)
{
    for (;;) {
        struct json *doc = NULL;
        size_t group = 0, nth = 0;
        bool is_found = false;
        enum status s = json_edit_read(&c->arena, f->path, &f->text, &doc, e);
        if (s)
            return s;
        json_each (g, json_get(json_get(doc, "hooks"), event)) {
            nth = 0;
            json_each (h, json_get(g, "hooks")) {
                if ((is_found = is_our_hook(h, row->id, &c->arena)))
                    break;
                nth++;
            }
            if (is_found) {
                char at[24];
                const char *path[] = { "hooks", event, NULL, NULL, NULL };
                if (json_get(g, "hooks")->kids.count == 1) {
                    s = json_edit_remove_nth(&f->text, path, group, e);
                } else {
                    snprintf(at, sizeof at, "#%zu", group);
                    path[2] = at;
                    path[3] = "hooks";
                    s = json_edit_remove_nth(&f->text, path, nth, e);
                }
                c->n_ours++;
                path[2] = NULL;
                s = note_change(f, path, s);
                break;
            }
            group++;
        }
        if (s || !is_found)
            return s;
    }
}

static enum status
add_hook(struct client_change *c, struct client_file *f, const struct config_row *row,
         const struct hook_row *event, const char *line, struct err *e)
{
    const char *path[] = { "hooks", event->event, NULL };
    struct json *doc = NULL;
    enum status s = json_edit_read(&c->arena, f->path, &f->text, &doc, e);

    if (s)
        return s;
    json_each (g, json_get(json_get(doc, "hooks"), event->event))
        json_each (h, json_get(g, "hooks"))
            if (is_our_hook(h, row->id, &c->arena)) {
                c->n_ours++;
                return ST_OK;
            }
    struct buf value = { 0 };
    write_hook(&value, row, event, line);
    s = buf_status(&value, "the hook", e);
    if (!s)
        s = json_edit_append(&f->text, path, value.p, e);
    if (s == ST_CONFLICT) {
        struct err why = *e;
        s = err_set(e, ST_CONFLICT, "%s: %s", f->path, why.text);
    }
    buf_release(&value);
    return note_change(f, path, s);
}

static enum status
change_hooks(struct client_change *c, struct client_file *f, const struct config_row *row,
             const char *command, enum client_what what, struct err *e)
{
    struct buf line = { 0 };
    enum status s = ST_OK;

    write_hook_line(&line, command, row->id);
    s = buf_status(&line, "the command", e);
    for (const struct hook_row *h = row->events; !s && h->event; h++)
        s = what == CLIENT_ADD ? add_hook(c, f, row, h, line.p, e)
                               : remove_hooks(c, f, row, h->event, e);
    buf_release(&line);
    return s;
}

/* ---- files ---- */

static enum status
find_path(struct arena *a, const struct config_path *at, bool is_project, const char **out,
          struct err *e)
{
    struct buf path = { 0 };
    struct checkout here;
    const char *env = at->env ? getenv(at->env) : NULL, *home = getenv("HOME");
    enum status s = ST_OK;

    if (is_project)
        s = checkout_find(&here, ".", a, e);
    else if (!(env && *env) && !(home && *home))
        s = err_set(e, ST_INVALID, "$HOME is not set: where is the configuration of this user?");
    if (!s && is_project)
        buf_addf(&path, "%s/%s", here.root, at->in_project);
    else if (!s && env && *env)
        buf_addf(&path, "%s/%s", env, at->in_env);
    else if (!s)
        buf_addf(&path, "%s/%s", home, at->in_home);
    if (!s)
        s = buf_status(&path, "the path", e);
    /* opencode reads both; an existing one is used */
    if (!s && access(path.p, F_OK) != 0 && path.len > 13 &&
        strcmp(path.p + path.len - 13, "opencode.json") == 0) {
        buf_addc(&path, 'c');
        if (!buf_failed(&path) && access(path.p, F_OK) != 0)
            buf_cut(&path, path.len - 1);
    }
    if (!s && !(*out = arena_dup(a, path.p, path.len)))
        s = err_nomem(e);
    buf_release(&path);
    return s;
}

static enum status
open_file(struct client_change *c, const char *path, struct client_file **out, struct err *e)
{
    struct client_file *f = c->n_files ? &c->files[c->n_files - 1] : NULL;
    char real[PATH_MAX];

    if (f && strcmp(f->path, path) == 0) {
        *out = f;
        return ST_OK;
    }
    f = *out = &c->files[c->n_files++];
    *f = (struct client_file){ .path = path,
                               .real = path,
                               .old = BUF_MAX(CONFIG_MAX),
                               .text = BUF_MAX(CONFIG_MAX + (1 << 20)) };
    if (realpath(path, real) && !(f->real = arena_dup(&c->arena, real, strlen(real))))
        return err_nomem(e);
    enum status s = path_read_file(AT_FDCWD, f->real, &f->old, e);
    f->is_new = s == ST_NOT_FOUND;
    if (s && !f->is_new)
        return s;
    if (f->old.len)
        buf_add(&f->text, f->old.p, f->old.len);
    return buf_status(&f->text, path, e);
}

static enum status
write_entry(struct buf *to, const struct config_row *row, const char *command, struct err *e)
{
    struct buf quoted = { 0 };
    const char *hole = strstr(row->entry, "%s");

    json_write_str(&quoted, command, strlen(command));
    buf_add(to, row->entry, (size_t)(hole - row->entry));
    buf_add(to, quoted.p, quoted.len);
    buf_adds(to, hole + 2);
    to->is_starved = to->is_starved || buf_failed(&quoted);
    buf_release(&quoted);
    return buf_status(to, "the entry", e);
}

static bool
is_changed(const struct client_file *f)
{
    return f->text.len != f->old.len ||
           (f->text.len && memcmp(f->text.p, f->old.p, f->text.len) != 0);
}

enum status
client_change_plan(struct client_change *c, const struct agent_client *client, bool is_project,
                   enum client_what what, struct err *e)
{
    const struct config_row *row = row_of(client);
    const char *path = NULL;
    struct client_file *f = NULL;
    struct buf entry = { 0 };

    *c = (struct client_change){ .client = client, .has_hooks = row->events[0].event };
    const char *command = command_of(&c->arena, is_project);
    enum status s = write_entry(&entry, row, command, e);
    if (!s)
        s = find_path(&c->arena, &row->servers, is_project, &path, e);
    if (!s)
        s = open_file(c, path, &f, e);
    if (!s)
        s = row->kind == CONFIG_TOML ? change_toml_entry(c, f, row, entry.p, what, e)
                                     : change_json_entry(c, f, row, entry.p, what, e);
    if (!s && c->has_hooks)
        s = find_path(&c->arena, &row->hooks, is_project, &path, e);
    if (!s && c->has_hooks)
        s = open_file(c, path, &f, e);
    if (!s && c->has_hooks)
        s = change_hooks(c, f, row, command, what, e);
    for (size_t i = 0; i < c->n_files; i++) {
        f = &c->files[i];
        c->n_changed += is_changed(f);
        if (!s && is_changed(f))
            s = line_diff(&f->diff, &f->old, &f->text, e);
    }
    buf_release(&entry);
    return s;
}

static enum status
write_file(const struct client_file *f, struct err *e)
{
    struct buf name = { 0 };
    char *slash;
    int dir = -1;

    buf_addf(&name, "%s.before-cliq", f->real);
    enum status s = buf_status(&name, "the path", e);
    if (!s && !f->is_new)
        s = team_file_write(AT_FDCWD, name.p, &f->old, false, e);
    if (!s && !f->is_new) { /* as private as the file */
        struct stat st;
        if (stat(f->real, &st) == 0 && chmod(name.p, st.st_mode & 0777) != 0)
            s = err_sys(e, "set the permissions of %s", name.p);
    }
    if (!s && f->is_new) {
        buf_reset(&name);
        buf_adds(&name, f->real);
        slash = buf_failed(&name) ? NULL : strrchr(name.p, '/');
        if (slash && slash != name.p) {
            *slash = '\0';
            s = path_open_dir(name.p, true, &dir, e);
        }
    }
    /* Nothing is left but what a new file would begin with. */
    bool is_empty =
        !f->is_new && (f->text.len == 0 || (f->text.len == 3 && memcmp(f->text.p, "{}\n", 3) == 0));
    if (!s && is_empty && strcmp(f->real, f->path) == 0)
        s = unlink(f->real) == 0 ? ST_OK : err_sys(e, "remove %s", f->real);
    else if (!s)
        s = team_file_write(AT_FDCWD, f->real, &f->text, f->is_new, e);
    if (dir >= 0)
        close(dir);
    buf_release(&name);
    return s;
}

enum status
client_change_write(const struct client_change *c, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < c->n_files; i++)
        if (is_changed(&c->files[i]))
            s = write_file(&c->files[i], e);
    return s;
}

void
client_change_release(struct client_change *c)
{
    for (size_t i = 0; i < c->n_files; i++) {
        buf_release(&c->files[i].old);
        buf_release(&c->files[i].text);
        buf_release(&c->files[i].steps);
        buf_release(&c->files[i].diff);
    }
    arena_release(&c->arena);
}
