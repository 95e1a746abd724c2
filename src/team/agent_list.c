#include "team/agent_list.h"

#include "team/installed_agents.h"

#include <stdint.h>
#include <string.h>

static size_t
count(const struct json *object)
{
    return json_is(object, JSON_OBJECT) ? object->kids.count : 0;
}

static void
add(struct agent_list *r, const struct agent_list_agent *one)
{
    if (!one->name)
        return;
    name_index_add(&r->names, one->name, r->n);
    r->v[r->n++] = *one;
}

/* Adds an agent that `cliq agent acp` drives. */
static void
add_acp(struct agent_list *r, struct arena *a, const char *name, enum agent_list_from from)
{
    const char *brief = "an agent that speaks the Agent Client Protocol";

    add(r, &(struct agent_list_agent){ .name = name,
                                       .from = from,
                                       .kind = AGENT_ACP,
                                       .brief = brief,
                                       .manifest = builtin_manifest(a, builtin_find("acp")) });
}

/* Adds the agents of an object NAME: {entry: …}, from the settings or from agents.json. */
static void
add_json(struct agent_list *r, struct arena *a, const struct json *agents,
         enum agent_list_from from)
{
    json_each (v, json_is(agents, JSON_OBJECT) ? agents : NULL) {
        const struct json *entry = json_get(v, "entry"), *acp = json_get(v, "acp");
        if (!json_is(entry, JSON_STRING) && (json_is(acp, JSON_STRING) || json_is(acp, JSON_ARRAY)))
            add_acp(r, a, arena_dup(a, v->key, v->key_len), from);
        if (json_is(entry, JSON_STRING))
            add(r, &(struct agent_list_agent){ .name = arena_dup(a, v->key, v->key_len),
                                               .from = from,
                                               .kind = AGENT_CUSTOM,
                                               .entry =
                                                   arena_dup(a, entry->text.p, entry->text.len) });
    }
}

static void
add_team(struct agent_list *r, struct arena *a, const struct team *t)
{
    for (size_t i = 0; t && i < t->n_agents; i++) {
        if (t->agents[i].n_acp) {
            add_acp(r, a, t->agents[i].name, AGENT_LIST_TEAM);
            continue;
        }
        add(r, &(struct agent_list_agent){ .name = t->agents[i].name,
                                           .from = AGENT_LIST_TEAM,
                                           .kind = AGENT_CUSTOM,
                                           .entry = t->agents[i].entry,
                                           .mine = &t->agents[i] });
    }
}

static void
add_installed(struct agent_list *r, const struct installed *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(r, &(struct agent_list_agent){ .name = v[i].name,
                                           .from = AGENT_LIST_INSTALLED,
                                           .kind = AGENT_CUSTOM,
                                           .entry = v[i].entry,
                                           .dir = v[i].dir,
                                           .manifest = v[i].manifest,
                                           .fault = v[i].fault });
}

static size_t
add_builtins(struct agent_list *r, struct arena *a)
{
    size_t n = 0;

    for (const struct builtin *b = builtins; b->name; b++, n++)
        if (r)
            add(r, &(struct agent_list_agent){ .name = b->name,
                                               .from = AGENT_LIST_BUILTIN,
                                               .kind = b->kind,
                                               .brief = b->brief,
                                               .manifest = builtin_manifest(a, b),
                                               .is_planned = !b->is_here });
    return n;
}

enum status
agent_list_make(struct agent_list *r, struct arena *a, const struct agent_list_places *in,
                struct err *e)
{
    const struct json *set = in->settings ? json_get(in->settings->merged, "agents") : NULL;
    struct installed *installed = NULL;
    size_t n_installed = 0;
    enum status s = in->is_blind ? ST_OK : installed_list(a, &installed, &n_installed, e);
    size_t most = count(set) + count(in->agents_json) + (in->team ? in->team->n_agents : 0) +
                  (s ? 0 : n_installed) + add_builtins(NULL, NULL);

    *r = (struct agent_list){ .v = arena_alloc(a, most * sizeof *r->v) };
    if (!r->v || !name_index_init(&r->names, a, most)) {
        r->v = NULL;
        return err_nomem(e);
    }
    add_json(r, a, set, AGENT_LIST_SETTINGS);
    add_team(r, a, in->team);
    add_json(r, a, in->agents_json, AGENT_LIST_TEAM);
    add_installed(r, installed, s ? 0 : n_installed);
    add_builtins(r, a);
    name_index_sort(&r->names);
    return s;
}

const struct agent_list_agent *
agent_list_find(const struct agent_list *r, const char *name)
{
    size_t at = name_index_find(&r->names, name);

    return at == SIZE_MAX ? NULL : &r->v[at];
}

bool
agent_list_is_hidden(const struct agent_list *r, const struct agent_list_agent *one)
{
    return agent_list_find(r, one->name) != one;
}

bool
agent_list_is_there(const struct agent_list_agent *one)
{
    return !one->is_planned && !one->fault;
}

void
agent_list_suggest(const struct agent_list *r, struct suggest *n)
{
    for (size_t i = 0; i < r->n; i++)
        suggest_try(n, r->v[i].name);
}

const char *
agent_list_from_name(enum agent_list_from from)
{
    static const char *const names[] = {
        [AGENT_LIST_SETTINGS] = "settings",
        [AGENT_LIST_TEAM] = "team",
        [AGENT_LIST_INSTALLED] = "installed",
        [AGENT_LIST_BUILTIN] = "built in",
    };

    return names[from];
}
