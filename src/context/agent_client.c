#include "context/agent_client.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct agent_client agent_clients[] = {
    { "claude", "Claude Code", "claude", "claude-code|claude code", "CLAUDE_PROJECT_DIR" },
    { "codex", "Codex", "codex", "codex", NULL },
    { "gemini", "Gemini CLI", "gemini", "gemini", "GEMINI_PROJECT_DIR" },
    { "cursor", "Cursor", "cursor-agent", "cursor", NULL },
    { "opencode", "opencode", "opencode", "opencode", NULL },
    { 0 },
};

const struct agent_client *
agent_client_find(const char *id)
{
    for (const struct agent_client *c = agent_clients; id && c->id; c++)
        if (strcmp(c->id, id) == 0)
            return c;
    return NULL;
}

const struct agent_client *
agent_client_of_mcp(const char *name)
{
    for (const struct agent_client *c = agent_clients; name && c->id; c++)
        for (const char *w = c->mcp_names; *w;) {
            size_t n = strcspn(w, "|");
            if (strncasecmp(w, name, n) == 0)
                return c;
            w += n + (w[n] == '|');
        }
    return NULL;
}

const char *
agent_identity_set(void)
{
    static const char *const names[] = { "CLIQ_IDENTITY", "CLIQ_PHASE" };

    for (size_t i = 0; i < 2; i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            return v;
    }
    return NULL;
}

/* Appends the characters of a name; others become one '-'. */
static void
add_name(char *to, size_t *n, const char *text)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

    for (const char *p = text; *p && *n < AGENT_IDENTITY_SIZE - 1; p++)
        if (strchr(good, *p))
            to[(*n)++] = *p;
        else if (*n && to[*n - 1] != '-')
            to[(*n)++] = '-';
    while (*n && to[*n - 1] == '-')
        (*n)--;
}

void
agent_identity_make(char to[AGENT_IDENTITY_SIZE], const char *client, const char *dir)
{
    const char *base = strrchr(dir, '/');
    size_t n = 0;

    add_name(to, &n, client && *client ? client : "mcp");
    base = base ? base + 1 : dir;
    if (*base && n && n + 1 < AGENT_IDENTITY_SIZE - 1) {
        to[n++] = '-';
        add_name(to, &n, base);
    }
    if (!n)
        to[n++] = 'a';
    to[n] = '\0';
}
