/*
 * agent_health - can each agent work here? Its entry, the version in its manifest, its programs,
 * its settings, the channels that it is to tell people in, its variables, and its own connection
 * test.
 *
 * In a project these are the agents of the workflow, of its reviewers (slack:elan) and of its
 * notifications; elsewhere the default agent and those of this machine: installed ones, those that
 * have settings, and those whose program is on PATH. Nothing of a project that is not trusted is
 * started.
 */
#include "doctor/doctor.h"

#include "doctor/connection_test.h"
#include "doctor/version_probe.h"
#include "team/agent_list.h"
#include "team/manifest.h"
#include "team/runner.h"
#include "team/team_subs.h"
#include "team/trust.h"
#include "team/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGENTS_MAX = 64, BINARIES_MAX = 8, CHANNELS_MAX = 64 };

struct checked_agent {
    const char *name;
    const struct agent_list_agent *one; /* NULL: there is none of that name */
    const struct json *manifest;        /* NULL: none */
    struct agent agent;
    enum status resolved;
    struct err why;                     /* it is not */
    const char *binaries[BINARIES_MAX]; /* found on PATH, in the order of the manifest; or NULL */
    struct version_probe versions[BINARIES_MAX];
    struct connection_test test;
    bool is_tested;
    bool is_held_back; /* it would be tested, but the project is not trusted */
};

/* "slack:ops" */
struct used_channel {
    const char *agent, *name;
};

struct doctor_agents {
    struct checked_agent v[AGENTS_MAX];
    size_t n;
    struct used_channel channels[CHANNELS_MAX];
    size_t n_channels;
    struct team team;      /* the project's; n_phases 0: none */
    struct team_subs subs; /* the teams of its team phases */
    const struct json *agents_json;
    struct agent_list list;
    bool is_foreign; /* the project is not trusted: nothing of it is started */
};

/* ---- which agents ---- */

static void
take(struct doctor_agents *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->v[i].name, name) == 0)
            return;
    if (name && x->n < AGENTS_MAX)
        x->v[x->n++] = (struct checked_agent){ .name = name };
}

static const char *
default_agent(struct doctor *d)
{
    const char *name = d->settings.merged ? settings_text(&d->settings, "default_agent") : NULL;

    return name ? name : "cursor";
}

static void
take_channel(struct doctor_agents *x, const char *agent, const char *name)
{
    for (size_t i = 0; i < x->n_channels; i++)
        if (strcmp(x->channels[i].agent, agent) == 0 && strcmp(x->channels[i].name, name) == 0)
            return;
    if (x->n_channels < CHANNELS_MAX)
        x->channels[x->n_channels++] = (struct used_channel){ agent, name };
}

/* "slack:ops", {"agent":"slack"}, or a list of them. A reviewer may also be a name alone, which is
 * no agent; what an input decides is known when it runs. */
static void
take_receivers(struct doctor *d, struct doctor_agents *x, const struct json *to, bool is_reviewer)
{
    if (!json_is(to, JSON_OBJECT))
        json_each (one, to)
            take_receivers(d, x, one, is_reviewer);
    const char *ref =
        json_dup_text(&d->arena, json_is(to, JSON_OBJECT) ? json_get(to, "agent") : to);
    const char *colon = ref ? strchr(ref, ':') : NULL;
    if (!ref || !*ref || *ref == ':' || strstr(ref, "$(") || (is_reviewer && !colon))
        return;
    const char *agent = doctor_text(d, "%.*s", (int)strcspn(ref, ":"), ref);
    take(x, agent);
    if (colon && colon[1])
        take_channel(x, agent, colon + 1);
}

static bool
is_own(const struct team *t, const char *agent)
{
    for (size_t i = 0; i < t->n_agents; i++)
        if (t->agents[i].name && strcmp(t->agents[i].name, agent) == 0)
            return true;
    return false;
}

/* What the teams in it need of this machine; an agent that such a team brings is its own. */
static void
take_subs(struct doctor *d, struct doctor_agents *x, const struct team_subs *subs)
{
    for (size_t i = 0; i < subs->n; i++) {
        const struct team_sub *sub = subs->of[i];
        for (size_t k = 0; sub && k < sub->team.n_phases; k++) {
            const struct phase *p = &sub->team.phases[k];
            const char *name = p->agent                ? p->agent
                               : p->type == PHASE_TEAM ? "team"
                                                       : default_agent(d);
            if (!is_own(&sub->team, name))
                take(x, name);
            take_receivers(d, x, json_get(p->review, "reviewer"), true);
        }
        if (sub)
            take_subs(d, x, &sub->subs);
    }
}

static void
take_team(struct doctor *d, struct doctor_agents *x)
{
    for (size_t i = 0; i < x->team.n_phases; i++) {
        const struct phase *p = &x->team.phases[i];
        take(x, p->agent ? p->agent : p->type == PHASE_TEAM ? "team" : default_agent(d));
        take_receivers(d, x, json_get(p->review, "reviewer"), true);
    }
    take_subs(d, x, &x->subs);
    json_each (event, d->settings.merged ? settings_get(&d->settings, "notifications") : NULL)
        if (json_is(event, JSON_ARRAY) || json_is(event, JSON_STRING))
            take_receivers(d, x, event, false);
}

/* Is one of "agent|cursor-agent" on PATH? That one, in the arena; else NULL. */
static const char *
find_binary(struct doctor *d, const char *names)
{
    for (size_t n; *names; names += n + (names[n] == '|')) {
        n = strcspn(names, "|");
        const char *one = doctor_text(d, "%.*s", (int)n, names);
        if (*one && runner_has(one))
            return one;
    }
    return NULL;
}

/* Is the agent used on this machine, as far as files tell? */
static bool
is_used_here(struct doctor *d, const struct agent_list_agent *one)
{
    const struct json *set = d->settings.merged ? settings_get(&d->settings, "agents") : NULL;
    const struct builtin *b = builtin_find(one->name);

    if (one->from != AGENT_LIST_BUILTIN || json_first(json_get(set, one->name)))
        return true;
    return b && one->kind == AGENT_CLI && b->binaries && find_binary(d, b->binaries);
}

static void
take_machine(struct doctor *d, struct doctor_agents *x)
{
    take(x, default_agent(d));
    for (size_t i = 0; i < x->list.n; i++)
        if (!agent_list_is_hidden(&x->list, &x->list.v[i]) && is_used_here(d, &x->list.v[i]))
            take(x, x->list.v[i].name);
}

static void
load_project(struct doctor *d, struct doctor_agents *x)
{
    struct problems ignored = { 0 }; /* project_health.c tells them */
    struct buf text = { 0 };
    struct json *doc = NULL;

    if (d->project.dir < 0)
        return;
    team_load_file(&x->team, d->project.dir, "workflow.yml", &ignored, NULL);
    team_subs_load(&x->subs, &x->team, d->project.dir, d->project.state_dir, &ignored, NULL);
    if (state_dir_read(&d->project, "agents.json", &text, NULL) == ST_OK) {
        const char *kept = doctor_text(d, "%.*s", (int)text.len, text.p ? text.p : "");
        json_parse(&d->arena, kept, strlen(kept), &doc, NULL);
    }
    x->agents_json = json_is(doc, JSON_OBJECT) ? doc : NULL;
    x->is_foreign = trust_check(d->project.dir, d->project.state_dir, NULL) != ST_OK;
    problems_release(&ignored);
    buf_release(&text);
}

/* ---- begin ---- */

static void
read_manifest(struct doctor *d, struct checked_agent *c)
{
    const char *slash = c->one && c->one->entry ? strrchr(c->one->entry, '/') : NULL;

    c->manifest = !c->resolved ? c->agent.manifest : c->one ? c->one->manifest : NULL;
    if (c->manifest || !slash || c->one->dir)
        return;
    const char *base = c->one->entry[0] == '/' ? "" : d->project.state_dir;
    if (base)
        manifest_read(&d->arena,
                      doctor_text(d, "%s%s%.*s", base, *base ? "/" : "",
                                  (int)(slash - c->one->entry), c->one->entry),
                      &c->manifest, NULL);
}

static const char *
setting_name(struct doctor *d, const struct json *v)
{
    const char *name = json_dup_text(&d->arena, json_is(v, JSON_OBJECT) ? json_get(v, "key") : v);

    return name ? name : "";
}

static bool
is_set(struct doctor *d, const char *agent, const char *key)
{
    const struct json *all = d->settings.merged ? settings_get(&d->settings, "agents") : NULL;
    const struct json *v = json_get(json_get(all, agent), key);

    return v && !json_is(v, JSON_NULL) && !(json_is(v, JSON_STRING) && !v->text.len);
}

static bool
lacks_settings(struct doctor *d, const struct checked_agent *c)
{
    json_each (v, json_path(c->manifest, "settings.required"))
        if (!is_set(d, c->name, setting_name(d, v)))
            return true;
    return false;
}

static void
begin_one(struct doctor *d, struct doctor_agents *x, struct checked_agent *c)
{
    struct agent_scope scope = { d->project.state_dir, &d->settings, x->agents_json };
    size_t i = 0;

    c->one = agent_list_find(&x->list, c->name);
    c->resolved = d->settings.merged ? agent_resolve(&d->arena, &scope, c->name, &c->agent, &c->why)
                                     : err_set(&c->why, ST_INVALID, "the settings cannot be read");
    read_manifest(d, c);
    json_each (v, json_get(c->manifest, "binaries")) {
        const char *names = json_dup_text(&d->arena, v);
        if (i == BINARIES_MAX)
            break;
        c->binaries[i] = names ? find_binary(d, names) : NULL;
        if (c->binaries[i] && !d->o.is_offline && !x->is_foreign)
            version_probe_start(&c->versions[i], c->binaries[i], "--version");
        i++;
    }
    bool is_ready = !c->resolved && !d->o.is_offline && !lacks_settings(d, c);
    c->is_tested = is_ready && !x->is_foreign;
    c->is_held_back = is_ready && x->is_foreign;
    if (c->is_tested)
        connection_test_start(&c->test, d, &c->agent);
}

void
agent_health_begin(struct doctor *d)
{
    struct doctor_agents *x = d->agents = calloc(1, sizeof *x);

    if (!x)
        return;
    load_project(d, x);
    if (agent_list_make(
            &x->list, &d->arena,
            &(struct agent_list_places){ .settings = &d->settings, .agents_json = x->agents_json },
            NULL) &&
        !x->list.v)
        return;
    if (d->o.agent)
        take(x, d->o.agent);
    else if (x->team.n_phases)
        take_team(d, x);
    else
        take_machine(d, x);
    for (size_t i = 0; i < x->n; i++)
        begin_one(d, x, &x->v[i]);
}

/* ---- look ---- */

/* The command that installs the program of a built-in agent; NULL: not known. */
static const char *
install_command(const char *binaries)
{
    for (const struct builtin *b = builtins; b->name; b++)
        if (b->install && b->binaries && strcmp(b->binaries, binaries) == 0)
            return b->install;
    return NULL;
}

static bool
lacks_binary(struct doctor *d, const struct checked_agent *c)
{
    return manifest_lacks(&d->arena, c->manifest) != NULL;
}

static void
look_at_entry(struct doctor *d, const struct checked_agent *c)
{
    const char *from = c->one ? agent_list_from_name(c->one->from) : NULL;

    if (c->one && c->one->from != AGENT_LIST_BUILTIN && c->one->entry)
        from = doctor_text(d, "%s: %s", from, c->one->entry);
    if (!c->one || (c->resolved && !lacks_binary(d, c)))
        doctor_add(d, DOCTOR_ERROR, c->name, c->one ? NULL : "cliq team info --agents", "%s",
                   c->why.text);
    else /* a program that it lacks is told below */
        doctor_add(d, DOCTOR_OK, c->name, NULL, "%s", from);
}

/* A manifest tells its version: teams and people compare it. */
static void
look_at_version(struct doctor *d, const struct checked_agent *c)
{
    const struct json *v = json_get(c->manifest, "version");
    const char *text = json_dup_text(&d->arena, v);
    struct version version;

    if (!c->one || c->one->from == AGENT_LIST_BUILTIN || !c->manifest)
        return;
    if (!v)
        doctor_add(d, DOCTOR_WARNING, "version", NULL,
                   "its manifest.json has no version: add \"version\": \"1.0.0\"");
    else if (!text || !version_parse(text, &version))
        doctor_add(d, DOCTOR_ERROR, "version", NULL,
                   "the version in its manifest.json is not like 1.2.3");
    else
        doctor_add(d, DOCTOR_OK, "version", NULL, "%s", text);
}

/* names: "agent|cursor-agent". */
static void
tell_missing(struct doctor *d, const struct checked_agent *c, const char *names)
{
    size_t n = strcspn(names, "|");
    bool is_default = d->project.dir < 0 && !d->o.agent && strcmp(c->name, default_agent(d)) == 0;

    doctor_add(d, DOCTOR_ERROR, doctor_text(d, "%.*s", (int)n, names), install_command(names),
               "not on PATH%s%s%s", names[n] ? ", nor " : "", names[n] ? names + n + 1 : "",
               is_default ? "; or choose another default agent: cliq setup" : "");
}

static void
look_at_binaries(struct doctor *d, struct doctor_agents *x, struct checked_agent *c)
{
    size_t i = 0;

    json_each (v, json_get(c->manifest, "binaries")) {
        const char *names = json_dup_text(&d->arena, v);
        struct buf says = { 0 };
        if (!names || i == BINARIES_MAX)
            break;
        if (!c->binaries[i])
            tell_missing(d, c, names);
        else if (d->o.is_offline || x->is_foreign || !version_probe_end(&c->versions[i], &says) ||
                 buf_failed(&says))
            doctor_add(d, DOCTOR_OK, c->binaries[i], NULL, "on PATH");
        else
            doctor_add(d, DOCTOR_OK, c->binaries[i], NULL, "%.*s", (int)says.len, says.p);
        buf_release(&says);
        i++;
    }
}

static void
look_at_settings(struct doctor *d, const struct checked_agent *c)
{
    json_each (v, json_path(c->manifest, "settings.required")) {
        const char *key = setting_name(d, v);
        bool is_secret = settings_is_secret(doctor_text(d, "agents.%s.%s", c->name, key));
        if (is_set(d, c->name, key))
            doctor_add(d, DOCTOR_OK, key, NULL, "%s", "");
        else
            doctor_add(d, DOCTOR_ERROR, key,
                       doctor_text(d, "cliq settings agents.%s.%s %s --global", c->name, key,
                                   is_secret ? "-" : "VALUE"),
                       "the setting agents.%s.%s is missing", c->name, key);
    }
    json_each (v, json_path(c->manifest, "settings.optional")) {
        const char *key = setting_name(d, v);
        if (settings_is_secret(doctor_text(d, "agents.%s.%s", c->name, key)) &&
            is_set(d, c->name, key))
            doctor_add(d, DOCTOR_OK, key, NULL, "%s", "");
    }
}

/* What a channel of a built-in notifier cannot be without: the setting, and its value on a command
 * line, where a secret does not belong. NULL: another agent, which knows its channels itself. */
static const char *
channel_setting(const char *agent)
{
    static const char *const of[][2] = { { "slack", "webhook_url -" },
                                         { "email", "to ADDRESS" },
                                         { "webhook", "url -" } };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(agent, of[i][0]) == 0)
            return of[i][1];
    return NULL;
}

static bool
has_channel(struct doctor *d, const struct used_channel *u)
{
    const struct json *all = d->settings.merged ? settings_get(&d->settings, "agents") : NULL;

    return json_is(json_get(json_get(json_get(all, u->agent), "channels"), u->name), JSON_OBJECT);
}

/* A channel without settings of its own has those of the agent, if there are any
 * (agents/notify/delivery.h). */
static void
look_at_channels(struct doctor *d, const struct doctor_agents *x, const struct checked_agent *c)
{
    static const char *const own[] = { "webhook_url", "bot_token", "to", "url" };
    const char *setting = channel_setting(c->name);

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_set(d, c->name, own[i]))
            return;
    for (size_t i = 0; setting && i < x->n_channels; i++) {
        const struct used_channel *u = &x->channels[i];
        if (strcmp(u->agent, c->name) == 0 && !has_channel(d, u))
            doctor_add(d, DOCTOR_WARNING, doctor_text(d, "channel %s", u->name),
                       doctor_text(d, "cliq settings agents.%s.channels.%s.%s", u->agent, u->name,
                                   setting),
                       "%s does not know where it is: people are not told there", u->agent);
    }
}

/* The built-in agents, and those that one of them drives, have names of variables that they do
 * without. */
static void
look_at_env(struct doctor *d, const struct checked_agent *c)
{
    if (!c->one || c->one->from == AGENT_LIST_BUILTIN || c->one->kind == AGENT_ACP)
        return;
    json_each (v, json_get(c->manifest, "env")) {
        const char *name = json_dup_text(&d->arena, v);
        if (name && *name && !getenv(name))
            doctor_add(d, DOCTOR_WARNING, name, doctor_text(d, "export %s=VALUE", name),
                       "this variable of the agent is not set");
    }
}

static void
look_at_connection(struct doctor *d, struct checked_agent *c)
{
    struct buf says = { 0 };

    if (c->is_held_back)
        doctor_add(d, DOCTOR_NOTE, "connection",
                   doctor_text(d, "cliq team trust %s", d->project.state_dir),
                   "not tested: you have not assembled or trusted this project, and its settings "
                   "say where your keys go");
    if (!c->is_tested)
        return;
    bool passed = connection_test_end(&c->test, d, &says);
    const char *help = !c->one                              ? NULL
                       : c->one->from == AGENT_LIST_BUILTIN ? c->name
                       : c->one->kind == AGENT_ACP          ? "acp"
                                                            : NULL;
    doctor_add(d, passed ? DOCTOR_OK : DOCTOR_ERROR, "connection",
               passed || !help ? NULL : doctor_text(d, "cliq agent %s --help", help), "%.*s",
               (int)says.len, says.p ? says.p : "");
    buf_release(&says);
}

void
agent_health_look(struct doctor *d)
{
    struct doctor_agents *x = d->agents;

    for (size_t i = 0; x && i < x->n; i++) {
        struct checked_agent *c = &x->v[i];
        d->agent = c->name;
        look_at_entry(d, c);
        look_at_version(d, c);
        look_at_binaries(d, x, c);
        look_at_settings(d, c);
        look_at_channels(d, x, c);
        look_at_env(d, c);
        look_at_connection(d, c);
    }
    d->agent = NULL;
}

void
agent_health_release(struct doctor *d)
{
    struct doctor_agents *x = d->agents;

    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++) {
        connection_test_release(&x->v[i].test);
        for (size_t k = 0; k < BINARIES_MAX; k++)
            version_probe_release(&x->v[i].versions[k]);
    }
    team_subs_release(&x->subs);
    team_release(&x->team);
    free(x);
    d->agents = NULL;
}
