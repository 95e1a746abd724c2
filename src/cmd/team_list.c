/* team list - the installed teams. */
#include "base/path.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_hub.h"
#include "team/installed_teams.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "hub", OPT_FLAG, NULL, "list what the hub of the setting hub.url has; QUERY: only those" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

static void
cell(struct table *t, const char *text)
{
    table_cell(t, text ? text : "", text ? strlen(text) : 0);
}

static void
write_text(const struct installed_team *v, size_t n, struct buf *out)
{
    struct table t = { .columns = 4 };
    char phases[32];

    cell(&t, "TEAM");
    cell(&t, "VERSION");
    cell(&t, "PHASES");
    cell(&t, "DESCRIPTION");
    for (size_t i = 0; i < n; i++) {
        snprintf(phases, sizeof phases, "%zu", v[i].n_phases);
        cell(&t, v[i].ref);
        cell(&t, v[i].version);
        cell(&t, v[i].fault ? "" : phases);
        cell(&t, v[i].fault ? v[i].fault : v[i].description);
    }
    table_write(&t, out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                term_has_color(STDOUT_FILENO));
    table_release(&t);
}

static void
write_json(const struct installed_team *v, size_t n, struct buf *out)
{
    json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "name", v[i].ref);
        json_key_str(out, "version", v[i].version);
        json_key_str(out, "description", v[i].description);
        if (!v[i].fault)
            json_key_int(out, "phases", (int64_t)v[i].n_phases);
        json_key_str(out, "error", v[i].fault);
        json_key_str(out, "dir", v[i].dir);
        json_close(out, '}');
    }
    json_close(out, ']');
    buf_addc(out, '\n');
}

/* A text of the hub, which may be anybody's. */
static void
text_cell(struct table *t, const struct json *team, const char *key)
{
    const struct json *v = json_get(team, key);

    if (json_is(v, JSON_STRING))
        table_cell(t, v->text.p, v->text.len);
    else
        cell(t, "");
}

static void
write_hub(const struct json *teams, struct buf *out)
{
    static const char *const columns[] = { "name", "version", "owner", "description" };
    struct table t = { .columns = 4 };

    cell(&t, "TEAM");
    cell(&t, "VERSION");
    cell(&t, "OWNER");
    cell(&t, "DESCRIPTION");
    json_each (team, teams)
        for (size_t i = 0; i < t.columns; i++)
            text_cell(&t, team, columns[i]);
    table_write(&t, out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                term_has_color(STDOUT_FILENO));
    table_release(&t);
}

static enum status
list_hub(const struct args *a, struct err *e)
{
    struct arena arena = { 0 };
    const struct json *teams = NULL;
    struct buf out = { 0 };
    enum status s = team_hub_list(&arena, a->n_words ? a->words[0] : NULL, &teams, e);

    if (!s && args_has(a, "json")) {
        json_write(&out, teams);
        buf_addc(&out, '\n');
    } else if (!s && json_first(teams)) {
        write_hub(teams, &out);
    } else if (!s) {
        cmd_note("the hub has no such team");
    }
    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    arena_release(&arena);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct arena arena = { 0 };
    struct installed_team *v;
    struct buf out = { 0 };
    size_t n;

    if (args_has(a, "hub"))
        return list_hub(a, e);
    if (a->n_words)
        return err_set(e, ST_INVALID, "only --hub takes words to search for");
    enum status s = installed_teams_list(&arena, &v, &n, e);

    if (!s && args_has(a, "json"))
        write_json(v, n, &out);
    else if (!s && n)
        write_text(v, n, &out);
    else if (!s)
        cmd_note("no team is installed; a directory with a team.yml needs no installing: cliq "
                 "assemble ./DIR");
    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    arena_release(&arena);
    return s;
}

const struct cmd cmd_team_list = {
    .name = "team list",
    .words = "[QUERY]",
    .max_words = 1,
    .brief = "list the installed teams, or those of the hub",
    .about =
        "Lists the teams in ~/.cliqrc/teams, with version, number of phases and description. A\n"
        "team whose file cannot be loaded is listed with the reason.\n"
        "\n"
        "With --hub it lists the newest version of each team on the hub, and with QUERY those "
        "whose\n"
        "name or description has that text.",
    .examples = "cliq team list\n"
                "cliq team list --hub review\n"
                "cliq team list --json | jq -r '.[].name'",
    .opts = opts,
    .run = run,
};
