/* team info - what a team is made of; which agents there are. */
#include "base/path.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_find.h"
#include "cmd/lib/team_hub.h"
#include "run/dag.h"
#include "team/agent_list.h"
#include "team/manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_MAX = 1 << 20 };

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { "agents", OPT_FLAG, NULL, "list the agents instead: of DIR, installed, built in" },
    { 0 },
};

static void
cell(struct table *t, const char *text)
{
    table_cell(t, text ? text : "", text ? strlen(text) : 0);
}

static void
head(struct table *t, const char *const *names)
{
    for (size_t i = 0; i < t->columns; i++)
        cell(t, names[i]);
}

static void
write_table(const struct table *t, struct buf *out)
{
    table_write(t, out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0,
                term_has_color(STDOUT_FILENO));
}

/* ---- agents ---- */

/* The manifest beside the entry of a team's own agent; NULL: none, or it cannot be read, which
 * team validate and the run tell. */
static const struct json *
manifest_of(struct arena *a, int dir, const struct team_agent *own)
{
    struct buf path = { 0 }, text = BUF_MAX(MANIFEST_MAX);
    struct json *doc = NULL;
    const char *slash = own->entry ? strrchr(own->entry, '/') : NULL;

    if (slash && own->entry[0] != '/') {
        buf_addf(&path, "%.*s/manifest.json", (int)(slash - own->entry), own->entry);
        if (!buf_failed(&path) && path_read_file(dir, path.p, &text, NULL) == ST_OK) {
            const char *kept = arena_dup(a, text.p ? text.p : "", text.len);
            if (!kept || !json_parse(a, kept, text.len, &doc, NULL))
                doc = NULL;
        }
    }
    buf_release(&path);
    buf_release(&text);
    return json_is(doc, JSON_OBJECT) ? doc : NULL;
}

/* One agent, with all that is known of it. */
struct info_shown {
    const struct agent_list_agent *one;
    const struct json *manifest; /* NULL: none */
    const char *lacks;           /* a program that it needs and that is not on PATH; NULL: none */
    bool is_hidden;
};

static struct info_shown
show_one(struct arena *a, const struct agent_list *r, size_t i, const struct found_team *f)
{
    const struct agent_list_agent *one = &r->v[i];
    const struct json *manifest = one->mine ? manifest_of(a, f->dir, one->mine) : one->manifest;

    return (struct info_shown){ one, manifest, manifest_lacks(a, manifest),
                                agent_list_is_hidden(r, one) };
}

/* In one cell: what it does, and why it is not what a phase gets. */
static void
about(struct buf *out, const struct info_shown *w)
{
    const struct agent_list_agent *one = w->one;
    const struct json *says = json_get(w->manifest, "description");

    buf_reset(out);
    if (json_is(says, JSON_STRING))
        buf_add(out, says->text.p, says->text.len);
    else
        buf_adds(out, one->brief ? one->brief : one->entry ? one->entry : "");
    if (one->fault)
        buf_addf(out, "%scannot be started: %s", out->len ? "; " : "", one->fault);
    else if (!agent_list_is_there(one))
        buf_adds(out, " (not in this version)");
    else if (w->lacks)
        buf_addf(out, " (no program %s on PATH)", w->lacks);
    if (w->is_hidden)
        buf_adds(out, " (hidden by the one above)");
}

static void
agents_text(struct buf *out, const struct agent_list *r, const struct found_team *f)
{
    struct table t = { .columns = 4 };
    struct buf what = { 0 };

    head(&t, (const char *const[]){ "AGENT", "KIND", "FROM", "WHAT IT DOES" });
    for (size_t i = 0; i < r->n; i++) {
        struct arena a = { 0 };
        struct info_shown w = show_one(&a, r, i, f);
        about(&what, &w);
        cell(&t, w.one->name);
        cell(&t, agent_kind_name(w.one->kind));
        cell(&t, agent_list_from_name(w.one->from));
        table_cell(&t, what.p ? what.p : "", what.len);
        arena_release(&a);
    }
    write_table(&t, out);
    table_release(&t);
    buf_release(&what);
}

static void
agent_json(struct buf *out, const struct info_shown *w)
{
    const struct agent_list_agent *one = w->one;

    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "name", one->name);
    json_key_str(out, "kind", agent_kind_name(one->kind));
    json_key_str(out, "from", agent_list_from_name(one->from));
    if (one->brief)
        json_key_str(out, "description", one->brief);
    if (one->dir)
        json_key_str(out, "dir", one->dir);
    if (one->entry)
        json_key_str(out, "entry", one->entry);
    json_key_bool(out, "available", agent_list_is_there(one));
    json_key_str(out, "lacks", w->lacks);
    json_key_bool(out, "hidden", w->is_hidden);
    if (one->fault)
        json_key_str(out, "fault", one->fault);
    json_key_json(out, "manifest", w->manifest);
    json_close(out, '}');
}

static void
agents_json(struct buf *out, const struct agent_list *r, const struct found_team *f)
{
    json_open(out, '[');
    for (size_t i = 0; i < r->n; i++) {
        struct arena a = { 0 };
        struct info_shown w = show_one(&a, r, i, f);
        agent_json(out, &w);
        arena_release(&a);
    }
    json_close(out, ']');
    buf_addc(out, '\n');
}

/* The words of a list of texts, or of objects with a key. */
static void
agent_line(struct buf *out, const char *name, const struct json *list, const char *behind)
{
    bool is_first = true;

    json_each (v, list) {
        const struct json *text = json_is(v, JSON_OBJECT) ? json_get(v, "key") : v;
        if (!json_is(text, JSON_STRING))
            continue;
        if (is_first)
            buf_addf(out, "%-12s ", name);
        buf_adds(out, is_first ? "" : ", ");
        term_escape(out, text->text.p, text->text.len, false);
        is_first = false;
    }
    buf_adds(out, is_first ? "" : behind);
    if (!is_first)
        buf_addc(out, '\n');
}

/* The fields that its phases may have: "mode (read, edit), args (list)". */
static void
fields_line(struct buf *out, const struct json *schema)
{
    json_each (f, schema) {
        const struct json *type = json_get(f, "type"), *says = json_get(f, "description");
        buf_addf(out, "%-12s ", f == json_first(schema) ? "fields" : "");
        term_escape(out, f->key, f->key_len, false);
        buf_adds(out, json_is(json_get(f, "required"), JSON_TRUE) ? " (required)" : "");
        if (json_is(type, JSON_STRING)) {
            buf_adds(out, ": ");
            term_escape(out, type->text.p, type->text.len, false);
        }
        json_each (v, json_get(f, "enum")) {
            buf_adds(out, v == json_first(json_get(f, "enum")) ? ", one of " : ", ");
            json_write(out, v);
        }
        if (json_get(f, "default")) {
            buf_adds(out, ", default ");
            json_write(out, json_get(f, "default"));
        }
        if (json_is(says, JSON_STRING)) {
            buf_adds(out, ": ");
            term_escape(out, says->text.p, says->text.len, false);
        }
        buf_addc(out, '\n');
    }
}

/* One agent with all that its manifest says. */
static enum status
show_agent(struct buf *out, const struct args *a, const struct agent_list *r,
           const struct found_team *f, struct err *e)
{
    const struct agent_list_agent *one = agent_list_find(r, a->words[0]);
    struct suggest near = { .word = a->words[0] };
    struct arena arena = { 0 };

    if (!one) {
        agent_list_suggest(r, &near);
        return err_set(e, ST_NOT_FOUND,
                       "there is no agent %s%s%s%s: cliq team info --agents lists them",
                       a->words[0], near.best ? " (did you mean " : "", near.best ? near.best : "",
                       near.best ? "?)" : "");
    }
    struct info_shown w = show_one(&arena, r, (size_t)(one - r->v), f);
    if (args_has(a, "json")) {
        agent_json(out, &w);
    } else {
        struct buf what = { 0 };
        about(&what, &w);
        buf_addf(out, "%-12s %s (%s, %s)\n%-12s ", "agent", one->name, agent_kind_name(one->kind),
                 agent_list_from_name(one->from), "what it does");
        term_escape(out, what.p ? what.p : "", what.len, false);
        buf_addc(out, '\n');
        buf_release(&what);
        agent_line(out, "handles", json_get(w.manifest, "capabilities"), "");
        agent_line(out, "programs", json_get(w.manifest, "binaries"), "");
        agent_line(out, "settings", json_path(w.manifest, "settings.required"), " (required)");
        agent_line(out, "settings", json_path(w.manifest, "settings.optional"), "");
        agent_line(out, "variables", json_get(w.manifest, "env"), "");
        fields_line(out, json_get(w.manifest, "schema"));
    }
    if (args_has(a, "json"))
        buf_addc(out, '\n');
    arena_release(&arena);
    return ST_OK;
}

/* ---- a team ---- */

static const char *
agent_of(const struct phase *p)
{
    return p->agent ? p->agent : p->type == PHASE_TEAM ? "team" : NULL;
}

/* The i-th phase as the graph goes; as the file goes when there is no graph (d NULL). */
static const struct phase *
phase_at(const struct team *t, const struct dag *d, size_t i)
{
    return &t->phases[d ? d->order[i] : i];
}

static void
line(struct buf *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    buf_addf(out, "%-12s ", name);
    term_escape(out, text, strlen(text), false);
    buf_addc(out, '\n');
}

static void
inputs_text(struct buf *out, const struct team *t)
{
    struct table table = { .columns = 4 };

    if (t->n_inputs == 0)
        return;
    head(&table, (const char *const[]){ "INPUT", "REQUIRED", "DEFAULT", "DESCRIPTION" });
    for (size_t i = 0; i < t->n_inputs; i++) {
        cell(&table, t->inputs[i].name);
        cell(&table, t->inputs[i].is_required ? "yes" : "no");
        cell(&table, t->inputs[i].fallback);
        cell(&table, t->inputs[i].description);
    }
    buf_addc(out, '\n');
    write_table(&table, out);
    table_release(&table);
}

static void
phases_text(struct buf *out, const struct team *t, const struct dag *d)
{
    struct table table = { .columns = 4 };
    struct buf list = { 0 };

    for (size_t i = 0; i < t->n_phases; i++)
        table.columns = t->phases[i].team ? 5 : table.columns;
    head(&table, (const char *const[]){ "PHASE", "TYPE", "AGENT", "DEPENDS ON", "TEAM" });
    for (size_t pass = 0; pass < 2; pass++) { /* the graph, then support */
        for (size_t i = 0; i < t->n_phases; i++) {
            const struct phase *p = phase_at(t, d, i);
            if (p->is_support != (pass == 1))
                continue;
            buf_reset(&list);
            buf_adds(&list, p->is_support ? "(support)" : "");
            for (size_t k = 0; k < p->n_depends_on; k++)
                buf_addf(&list, "%s%s", k ? ", " : "", p->depends_on[k]);
            cell(&table, p->name);
            cell(&table, phase_type_name(p->type));
            cell(&table, agent_of(p) ? agent_of(p) : "(default)");
            cell(&table, list.p);
            if (table.columns == 5)
                cell(&table, p->team);
        }
    }
    buf_addc(out, '\n');
    write_table(&table, out);
    buf_release(&list);
    table_release(&table);
}

static void
team_text(struct buf *out, const struct team *t, const struct dag *d)
{
    line(out, "name", t->name);
    line(out, "version", t->version);
    line(out, "description", t->description);
    for (size_t i = 0; i < t->n_agents; i++)
        line(out, i ? "" : "own agents", t->agents[i].name);
    inputs_text(out, t);
    phases_text(out, t, d);
}

static void
input_json(struct buf *out, const struct team_input *in)
{
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "name", in->name);
    json_key_str(out, "description", in->description);
    json_key_str(out, "type", in->type ? in->type : "text");
    json_key_bool(out, "required", in->is_required);
    json_key_str(out, "default", in->fallback);
    if (in->n_choices)
        json_key_strs(out, "choices", in->choices, in->n_choices);
    json_close(out, '}');
}

static void
phase_json(struct buf *out, const struct phase *p, const uint32_t *step)
{
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "name", p->name);
    json_key_str(out, "type", phase_type_name(p->type));
    json_key_str(out, "agent", agent_of(p));
    if (p->team)
        json_key_str(out, "team", p->team);
    json_key_bool(out, "support", p->is_support);
    if (step && !p->is_support)
        json_key_int(out, "step", *step);
    json_key_strs(out, "depends_on", p->depends_on, p->n_depends_on);
    json_close(out, '}');
}

static void
team_json(struct buf *out, const struct found_team *f, const struct dag *d)
{
    const struct team *t = &f->team;

    json_open(out, '{');
    json_key_str(out, "file", f->file.p);
    json_key_str(out, "name", t->name);
    json_key_str(out, "version", t->version);
    json_key_str(out, "description", t->description);
    json_key_bool(out, "valid", f->problems.errors == 0);
    json_key_strs(out, "tools", t->tools, t->n_tools);
    json_key_strs(out, "tags", t->tags, t->n_tags);
    json_key(out, "inputs");
    json_open(out, '[');
    for (size_t i = 0; i < t->n_inputs; i++)
        input_json(out, &t->inputs[i]);
    json_close(out, ']');
    json_key(out, "agents");
    json_open(out, '[');
    for (size_t i = 0; i < t->n_agents; i++) {
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "name", t->agents[i].name);
        json_key_str(out, "entry", t->agents[i].entry);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_key(out, "phases");
    json_open(out, '[');
    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *p = phase_at(t, d, i);
        phase_json(out, p, d ? &d->step[p - t->phases] : NULL);
    }
    json_close(out, ']');
    json_close(out, '}');
    buf_addc(out, '\n');
}

/* The project's settings count where the team is a project's. */
static enum status
load_settings(struct settings *to, const struct found_team *f, struct err *e)
{
    static const char project[] = ".cliq/workflow.yml";
    size_t n = f->file.len, k = sizeof project - 1;

    if (n < k || strcmp(f->file.p + n - k, project) != 0 || (n > k && f->file.p[n - k - 1] != '/'))
        return settings_load(to, NULL, e);
    struct buf state = { 0 };
    buf_add(&state, f->file.p, n - (k - 5));
    enum status s = buf_status(&state, "the path", e);
    if (!s)
        s = settings_load(to, state.p, e);
    buf_release(&state);
    return s;
}

static enum status
show_agents(struct buf *out, const struct args *a, struct err *e)
{
    struct found_team f = { .dir = -1 };
    struct settings settings = { 0 };
    struct arena arena = { 0 };
    struct agent_list r;
    struct stat st;
    /* The word is a directory, or else an agent's name. */
    bool is_name = a->n_words && !strchr(a->words[0], '/') && stat(a->words[0], &st) != 0;
    enum status s = a->n_words && !is_name ? team_find(&f, a, e) : ST_OK;

    if (!s)
        s = load_settings(&settings, &f, e);
    if (!s)
        s = agent_list_make(
            &r, &arena, &(struct agent_list_places){ .settings = &settings, .team = &f.team }, e);
    if (!s && is_name)
        s = show_agent(out, a, &r, &f, e);
    else if (!s)
        (args_has(a, "json") ? agents_json : agents_text)(out, &r, &f);
    settings_release(&settings);
    arena_release(&arena);
    team_find_release(&f);
    return s;
}

static enum status
show_team(struct buf *out, const struct args *a, struct err *e)
{
    struct found_team f;
    enum status s = team_find(&f, a, e);

    if (!s && !f.team.node) {
        struct buf why = { 0 };
        problems_write(&why, &f.problems);
        s = err_set(e, ST_INVALID, "%s", why.p ? why.p : "not a team");
        e->text[strcspn(e->text, "\n")] = '\0';
        buf_release(&why);
    }
    if (!s) {
        struct dag *d = dag_new(&f.team);
        if (args_has(a, "json"))
            team_json(out, &f, d);
        else
            team_text(out, &f.team, d);
        dag_free(d);
        if (f.problems.errors)
            cmd_warn("%s has %zu error%s: see `cliq team validate`", f.file.p, f.problems.errors,
                     f.problems.errors == 1 ? "" : "s");
    }
    team_find_release(&f);
    return s;
}

/* ---- a team of the hub ---- */

static void
json_cell(struct table *t, const struct json *v)
{
    table_cell(t, json_is(v, JSON_STRING) ? v->text.p : "",
               json_is(v, JSON_STRING) ? v->text.len : 0);
}

static void
versions_text(struct buf *out, const struct json *versions)
{
    static const char *const facts[] = { "name", "description", "owner" };
    static const char *const columns[] = { "version", "published_at", "published_by", "sha256" };
    struct table t = { .columns = 4 };

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const struct json *text = json_get(json_first(versions), facts[i]);
        buf_addf(out, "%-12s ", facts[i]);
        if (json_is(text, JSON_STRING))
            term_escape(out, text->text.p, text->text.len, false);
        buf_addc(out, '\n');
    }
    buf_addc(out, '\n');
    head(&t, (const char *const[]){ "VERSION", "PUBLISHED", "BY", "SHA-256" });
    json_each (v, versions)
        for (size_t i = 0; i < t.columns; i++)
            json_cell(&t, json_get(v, columns[i]));
    write_table(&t, out);
    table_release(&t);
}

static enum status
show_published(struct buf *out, const struct args *a, struct err *e)
{
    struct arena arena = { 0 };
    struct team_ref ref;
    const struct json *versions = NULL;
    enum status s = team_ref_parse(&ref, a->words[0], e);

    if (!s)
        s = team_hub_versions(&arena, &ref, &versions, e);
    if (!s && args_has(a, "json")) {
        json_write(out, versions);
        buf_addc(out, '\n');
    } else if (!s) {
        versions_text(out, versions);
    }
    team_ref_release(&ref);
    arena_release(&arena);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf out = { 0 };
    bool is_published = a->n_words && strncmp(a->words[0], "hub://", 6) == 0;
    enum status s = (args_has(a, "agents") ? show_agents
                     : is_published        ? show_published
                                           : show_team)(&out, a, e);

    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_info = {
    .name = "team info",
    .words = "[DIR|FILE.tgz|hub://TEAM|AGENT]",
    .max_words = 1,
    .brief = "show a team's inputs and phases, or the agents there are",
    .about =
        "Prints the name, version and inputs of the team in DIR (this directory unless given;\n"
        "also .cliq/workflow.yml), or in the package FILE.tgz, and its phases in the order in\n"
        "which they can start. Of hub://@scope/name it prints the versions that the hub has.\n"
        "\n"
        "With --agents it lists the agents that a phase can name, in the order in which they are\n"
        "looked for: those that the settings name (agents.NAME.entry), with DIR the team's own,\n"
        "those installed in <config>/agents/NAME/ and those that are part of cliq, with their\n"
        "kind, where they come from and what their manifests say (--json: all of it). With "
        "--agents\n"
        "and the name of an agent it shows that one: what it handles, the settings it takes and\n"
        "the fields that its phases may have.",
    .examples = "cliq team info my-team\n"
                "cliq team info acme-review-1.2.0.tgz\n"
                "cliq team info hub://@acme/review\n"
                "cliq team info --json | jq -r '.phases[].name'\n"
                "cliq team info --agents\n"
                "cliq team info --agents claude-code\n"
                "cliq team info --agents my-team",
    .opts = opts,
    .run = run,
};
