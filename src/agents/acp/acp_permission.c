#include "agents/acp/acp_permission.h"

#include "base/hash.h"

#include <string.h>

static const char *const policies[] = {
    [ACP_READ] = "read", [ACP_EDIT] = "edit", [ACP_ALL] = "all", [ACP_ASK] = "ask"
};
enum { POLICIES = sizeof policies / sizeof *policies };

enum status
acp_policy_read(const char *name, enum acp_policy *out, struct err *e)
{
    *out = ACP_EDIT;
    for (int i = 0; name && i < POLICIES; i++)
        if (strcmp(name, policies[i]) == 0) {
            *out = (enum acp_policy)i;
            return ST_OK;
        }
    return name ? err_set(e, ST_INVALID,
                          "permissions: \"%.40s\" is none of read, edit, all and ask", name)
                : ST_OK;
}

/* ---- tools ---- */

static void
take_text(struct arena *a, const char **to, const struct json *v)
{
    const char *text = json_is(v, JSON_STRING) && v->text.len ? json_dup_text(a, v) : NULL;

    if (text)
        *to = text;
}

static void
add_path(struct arena *a, struct acp_tool *tool, const struct json *v)
{
    const char *path = json_is(v, JSON_STRING) ? json_dup_text(a, v) : NULL;
    struct acp_path *one = path && *path ? arena_alloc(a, sizeof *one) : NULL;

    for (const struct acp_path *p = tool->paths; one && p; p = p->next)
        if (strcmp(p->path, path) == 0)
            return;
    if (one) {
        *one = (struct acp_path){ .path = path, .next = tool->paths };
        tool->paths = one;
    }
}

/* Agents name the file in their own words. */
static void
take_raw_input(struct arena *a, struct acp_tool *tool, const struct json *raw)
{
    static const char *const keys[] = { "file_path", "filePath", "filepath", "absolute_path",
                                        "path",      "filename", NULL };

    for (const char *const *k = keys; *k; k++)
        add_path(a, tool, json_get(raw, *k));
    take_text(a, &tool->command, json_get(raw, "cmd"));
    take_text(a, &tool->command, json_get(raw, "command"));
}

static struct acp_tool **
place_of(struct acp_tools *t, const struct json *id)
{
    return &t->by_id[hash_bytes(id->text.p, id->text.len) % ACP_TOOL_HASHES];
}

static struct acp_tool *
find(struct acp_tools *t, const struct json *id)
{
    for (struct acp_tool *tool = *place_of(t, id); tool; tool = tool->same)
        if (json_eq(id, tool->id))
            return tool;
    return NULL;
}

static struct acp_tool *
add(struct acp_tools *t, const struct json *id)
{
    struct acp_tool **at = place_of(t, id);
    const char *text = json_dup_text(t->arena, id);
    struct acp_tool *tool = text ? arena_alloc(t->arena, sizeof *tool) : NULL;

    if (!tool)
        return NULL;
    *tool = (struct acp_tool){
        .id = text, .title = "", .kind = "other", .status = "", .next = t->first, .same = *at
    };
    t->first = *at = tool;
    return tool;
}

struct acp_tool *
acp_tools_take(struct acp_tools *t, const struct json *call, bool *is_new)
{
    const struct json *id = json_get(call, "toolCallId");
    struct acp_tool *tool = json_is(id, JSON_STRING) ? find(t, id) : NULL;

    *is_new = !tool;
    if (!tool && json_is(id, JSON_STRING))
        tool = add(t, id);
    if (!tool)
        return NULL;
    take_text(t->arena, &tool->title, json_get(call, "title"));
    take_text(t->arena, &tool->kind, json_get(call, "kind"));
    take_text(t->arena, &tool->status, json_get(call, "status"));
    json_each (where, json_get(call, "locations"))
        add_path(t->arena, tool, json_get(where, "path"));
    json_each (part, json_get(call, "content"))
        if (json_eq(json_get(part, "type"), "diff"))
            add_path(t->arena, tool, json_get(part, "path"));
    take_raw_input(t->arena, tool, json_get(call, "rawInput"));
    return tool;
}

bool
acp_tools_grant(const struct acp_tools *t, const char *path)
{
    for (const struct acp_tool *tool = t->first; tool; tool = tool->next)
        for (const struct acp_path *p = tool->is_granted ? tool->paths : NULL; p; p = p->next)
            if (strcmp(p->path, path) == 0)
                return true;
    return false;
}

/* Agents put the command into the title: as it is, in `backticks`, or behind "Shell: ". */
static bool
titles(const char *title, const char *line)
{
    size_t n = strlen(line), len = strlen(title);

    if (len >= 2 && title[0] == '`' && title[len - 1] == '`')
        return len - 2 == n && memcmp(title + 1, line, n) == 0;
    const char *colon = strstr(title, ": ");
    return strcmp(title, line) == 0 || (colon && strcmp(colon + 2, line) == 0);
}

bool
acp_tools_grant_command(struct acp_tools *t, const char *line)
{
    for (struct acp_tool *tool = t->first; tool; tool = tool->next)
        if (tool->is_granted && strcmp(tool->kind, "execute") == 0 &&
            (tool->command ? strcmp(tool->command, line) == 0 : titles(tool->title, line))) {
            tool->is_granted = false;
            return true;
        }
    return false;
}

/* ---- the answer ---- */

static bool
is_harmless(const char *kind)
{
    static const char *const kinds[] = { "read", "search", "fetch", "think", NULL };

    for (const char *const *k = kinds; *k; k++)
        if (strcmp(kind, *k) == 0)
            return true;
    return false;
}

enum acp_answer
acp_permission(enum acp_policy policy, const struct acp_tool *tool, const struct work_dir *dir,
               const char **outside)
{
    *outside = NULL;
    if (policy == ACP_ALL)
        return ACP_ALLOW;
    for (const struct acp_path *p = tool->paths; p; p = p->next)
        if (!work_dir_holds(dir, p->path)) {
            *outside = p->path;
            return ACP_REJECT;
        }
    if (policy == ACP_EDIT || is_harmless(tool->kind))
        return ACP_ALLOW;
    return policy == ACP_ASK ? ACP_PERSON : ACP_REJECT;
}

enum acp_answer
acp_permission_command(enum acp_policy policy, const char *cwd, const struct work_dir *dir,
                       const char **outside)
{
    *outside = cwd && policy != ACP_ALL && !work_dir_holds(dir, cwd) ? cwd : NULL;
    if (*outside || policy == ACP_READ)
        return ACP_REJECT;
    return policy == ACP_ASK ? ACP_PERSON : ACP_ALLOW;
}

const char *
acp_option(struct arena *a, const struct json *options, bool is_allowed)
{
    const char *const kinds[] = { is_allowed ? "allow_once" : "reject_once",
                                  is_allowed ? "allow_always" : "reject_always" };

    for (int i = 0; i < 2; i++) {
        json_each (option, options) {
            const char *id = json_eq(json_get(option, "kind"), kinds[i])
                                 ? json_dup_text(a, json_get(option, "optionId"))
                                 : NULL;
            if (id)
                return id;
        }
    }
    return NULL;
}
