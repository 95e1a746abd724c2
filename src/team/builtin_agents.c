#include "team/builtin_agents.h"

#include "cliq.h"

#include <stdio.h>
#include <string.h>

const struct builtin builtins[] = {
#define AGENT(id, ...)   { .is_here = true, ROW(__VA_ARGS__) },
#define PLANNED(id, ...) { .is_here = false, ROW(__VA_ARGS__) },
#define ACP(id, text, program, args, says, ...)                                                    \
    { .is_here = true,                                                                             \
      .name = text,                                                                                \
      .kind = AGENT_ACP,                                                                           \
      .brief = says,                                                                               \
      .binaries = program,                                                                         \
      .acp = program args,                                                                         \
      ACP_MEMBERS,                                                                                 \
      __VA_ARGS__ },
#define ROW(text, type, says, ...) .name = text, .kind = AGENT_##type, .brief = says, __VA_ARGS__
#include "agents/agents.def"
    { 0 },
};

const struct builtin *
builtin_find(const char *name)
{
    for (const struct builtin *b = builtins; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

const char *
agent_kind_name(enum agent_kind kind)
{
    static const char *const names[] = {
        [AGENT_SPECIAL] = "special",
        [AGENT_CLI] = "cli",
        [AGENT_LLM] = "llm",
        [AGENT_ACP] = "acp",
        [AGENT_CONNECTOR] = "connector",
        [AGENT_NOTIFIER] = "notifier",
        [AGENT_CUSTOM] = "custom",
    };

    return names[kind];
}

bool
agent_kind_asks_model(enum agent_kind kind)
{
    return kind == AGENT_CLI || kind == AGENT_LLM || kind == AGENT_ACP;
}

/* ---- the manifest ---- */

/* The next word of a text: its length, or 0 at the end. *at moves behind it. */
static size_t
next_word(const char **at, const char **word)
{
    if (!*at)
        return 0;
    *word = *at + strspn(*at, " ");
    size_t n = strcspn(*word, " ");
    *at = *word + n;
    return n;
}

bool
builtin_knows_action(const struct builtin *b, const char *action)
{
    const char *rest = b->actions, *word;
    size_t n;

    while ((n = next_word(&rest, &word)))
        if (strlen(action) == n && memcmp(word, action, n) == 0)
            return true;
    return !b->actions;
}

static void
write_words(struct buf *to, const char *key, const char *words)
{
    const char *word;
    size_t n;

    json_key(to, key);
    json_open(to, '[');
    while ((n = next_word(&words, &word))) {
        json_sep(to);
        json_write_str(to, word, n);
    }
    json_close(to, ']');
}

static void
write_capabilities(struct buf *to, const char *can)
{
    const char *word;
    size_t n;

    json_key(to, "capabilities");
    json_open(to, '[');
    while ((n = next_word(&can, &word))) {
        bool is_phase = strncmp(word, "notify", n) != 0;
        json_sep(to);
        buf_addf(to, "\"%s%.*s\"", is_phase ? "phase:" : "", (int)n, word);
    }
    json_sep(to);
    buf_adds(to, "\"test\"");
    json_close(to, ']');
}

static void
write_settings(struct buf *to, const char *key, const struct builtin *b, bool is_required)
{
    const char *settings = b->settings, *word;
    size_t n;

    json_key(to, key);
    json_open(to, '[');
    if (b->key_env && !is_required) {
        json_sep(to);
        buf_adds(to, "\"api_key\"");
    }
    while ((n = next_word(&settings, &word))) {
        if ((word[n - 1] == '!') != is_required)
            continue;
        json_sep(to);
        json_write_str(to, word, n - is_required);
    }
    json_close(to, ']');
}

/* "mode=read|edit" or "args:list" or "command!" */
static void
write_field(struct buf *to, const char *word, size_t n)
{
    size_t name = strcspn(word, ":=! ");
    bool is_enum = name < n && word[name] == '=', is_required = word[n - 1] == '!';
    size_t end = n - is_required;
    char key[64];

    snprintf(key, sizeof key, "%.*s", (int)name, word);
    json_key(to, key);
    json_open(to, '{');
    bool is_any = name < end && strncmp(word + name, ":any", 4) == 0;
    if (name < end && word[name] == ':' && !is_any)
        json_key_strn(to, "type", word + name + 1, end - name - 1);
    else if (!is_any)
        json_key_str(to, "type", "string");
    json_key_bool(to, "required", is_required);
    if (is_enum) {
        json_key(to, "enum");
        json_open(to, '[');
        for (size_t i = name + 1, k; i < end; i += k + 1) {
            k = strcspn(word + i, "|! ");
            json_sep(to);
            json_write_str(to, word + i, k);
        }
        json_close(to, ']');
    }
    json_close(to, '}');
}

static void
write_manifest(struct buf *to, const struct builtin *b)
{
    const char *fields = b->fields, *word;
    size_t n;

    json_open(to, '{');
    json_key_str(to, "name", b->name);
    json_key_str(to, "version", CLIQ_VERSION);
    json_key_str(to, "description", b->brief);
    write_capabilities(to, b->can);
    json_key_str(to, "role", agent_kind_asks_model(b->kind) ? "required" : "optional");
    write_words(to, "binaries", b->binaries);
    json_key(to, "settings");
    json_open(to, '{');
    write_settings(to, "required", b, true);
    write_settings(to, "optional", b, false);
    json_close(to, '}');
    write_words(to, "env", b->env);
    json_key(to, "schema");
    json_open(to, '{');
    while ((n = next_word(&fields, &word)))
        write_field(to, word, n);
    json_close(to, '}');
    json_key(to, "output");
    json_open(to, '{');
    json_key_str(to, "data", b->data);
    json_key_str(to, "text", b->text);
    json_close(to, '}');
    json_close(to, '}');
}

const struct json *
builtin_manifest(struct arena *a, const struct builtin *b)
{
    struct buf text = { 0 };
    struct json *doc = NULL;

    write_manifest(&text, b);
    const char *kept = buf_failed(&text) ? NULL : arena_dup(a, text.p, text.len);
    if (kept && !json_parse(a, kept, text.len, &doc, NULL))
        doc = NULL;
    buf_release(&text);
    return doc;
}
