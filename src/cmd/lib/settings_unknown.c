/* settings_unknown - see settings_unknown.h. */
#include "cmd/lib/settings_unknown.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "team/agent_list.h"
#include "team/settings_check.h"

#include <stdio.h>
#include <string.h>

/* The agents that could be meant, with what they are made from. */
struct agents_here {
    struct arena arena;
    struct settings settings;
    struct buf text;
    struct agent_list list; /* v NULL: they cannot be told */
};

static void
find_agents(struct agents_here *h, const struct state_dir *f)
{
    struct json *own = NULL;
    struct err why;
    enum status s = settings_load(&h->settings, f->dir >= 0 ? f->state_dir : NULL, &why);

    if (!s && f->dir >= 0 && state_dir_read(f, "agents.json", &h->text, &why) == ST_OK)
        s = json_parse_named(&h->arena, "agents.json", h->text.p ? h->text.p : "", h->text.len,
                             &own, &why);
    if (!s)
        (void)agent_list_make(
            &h->list, &h->arena,
            &(struct agent_list_places){ .settings = &h->settings, .agents_json = own }, &why);
}

static void
release_agents(struct agents_here *h)
{
    settings_release(&h->settings);
    buf_release(&h->text);
    arena_release(&h->arena);
}

static void
warn_agent(const struct agents_here *h, const char *name)
{
    struct suggest near = { .word = name };

    if (h->list.v && !agent_list_find(&h->list, name))
        agent_list_suggest(&h->list, &near);
    if (near.best)
        cmd_warn("there is no agent \"%s\" here (did you mean %s?)", name, near.best);
}

void
settings_unknown_agent(const struct state_dir *f, const char *name)
{
    struct agents_here h = { 0 };

    find_agents(&h, f);
    warn_agent(&h, name);
    release_agents(&h);
}

/* Is it the first name of a key of settings.required or .optional? */
static bool
takes(const struct json *keys, const char *word, struct arena *a, struct suggest *near)
{
    if (!json_is(keys, JSON_ARRAY))
        return false;
    json_each (k, keys) {
        const struct json *name = json_is(k, JSON_OBJECT) ? json_get(k, "key") : k;
        char *first =
            json_is(name, JSON_STRING) ? arena_dup(a, name->text.p, name->text.len) : NULL;
        if (!first)
            continue;
        first[strcspn(first, ".")] = '\0';
        if (strcmp(first, word) == 0)
            return true;
        suggest_try(near, first);
    }
    return false;
}

/* "agents.codex.modle": an agent's manifest declares what it gets. */
static void
warn_key_of_agent(const struct state_dir *f, const char *name, const char *word)
{
    struct agents_here h = { 0 };
    char first[64];
    struct suggest near = { .word = first };

    snprintf(first, sizeof first, "%.*s", (int)strcspn(word, "."), word);
    find_agents(&h, f);
    const struct agent_list_agent *agent = h.list.v ? agent_list_find(&h.list, name) : NULL;
    const struct json *declared = agent ? json_get(agent->manifest, "settings") : NULL;
    if (!agent)
        warn_agent(&h, name);
    else if (declared && !takes(json_get(declared, "required"), first, &h.arena, &near) &&
             !takes(json_get(declared, "optional"), first, &h.arena, &near))
        cmd_warn("the agent %s knows no setting \"%s\"%s%s%s", name, first,
                 near.best ? " (did you mean " : "", near.best ? near.best : "",
                 near.best ? "?)" : "");
    release_agents(&h);
}

/* The key of a row with the names that the user gave in place of its *: "roles.qa.command". */
static void
name_row(char *to, size_t size, const char *row, const char *key)
{
    size_t at = 0;

    while (*row && at + 1 < size) {
        size_t n = strcspn(row, "."), mine = strcspn(key, ".");
        bool is_any = n == 1 && *row == '*' && mine;
        int len = snprintf(to + at, size - at, "%.*s%s", (int)(is_any ? mine : n),
                           is_any ? key : row, row[n] ? "." : "");
        at += len > 0 ? (size_t)len : 0;
        row += n + (row[n] == '.');
        key += mine + (key[mine] == '.');
    }
}

static void
warn_key_of_cliq(const char *key)
{
    enum { KEY_MAX = 200 };
    struct arena arena = { 0 };
    char section[64] = "";
    struct suggest near = { .word = key }, near_section = { .word = section };

    snprintf(section, sizeof section, "%.*s", (int)strcspn(key, "."), key);
    for (const struct setting *s = settings_known; s->key; s++) {
        char name[KEY_MAX] = "";
        name_row(name, sizeof name, s->key, key);
        const char *copy = arena_dup(&arena, name, strlen(name));
        const char *first = arena_dup(&arena, name, strcspn(name, "."));
        if (copy)
            suggest_try(&near, copy);
        if (first && strcmp(first, section) != 0)
            suggest_try(&near_section, first);
    }
    const char *best = near.best ? near.best : near_section.best;
    cmd_warn("cliq itself knows no setting \"%s\"%s%s%s", key, best ? " (did you mean " : "",
             best ? best : "", best ? "?)" : "");
    arena_release(&arena);
}

void
settings_unknown_key(const struct state_dir *f, const char *key)
{
    char agent[64];
    int at = 0;

    if (sscanf(key, "agents.%63[^.].%n", agent, &at) == 1 && at)
        if (setting_find(key))
            settings_unknown_agent(f, agent);
        else
            warn_key_of_agent(f, agent, key + at);
    else if (!setting_is_read(key))
        warn_key_of_cliq(key);
}
