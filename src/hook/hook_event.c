#define _GNU_SOURCE
#include "hook/hook_event.h"

#include <string.h>

/* ---- tables ---- */

static const struct {
    const char *name;
    enum hook_kind kind;
    bool is_geminis;
} events[] = {
    { "SessionStart", HOOK_START, false }, { "UserPromptSubmit", HOOK_PROMPT, false },
    { "PreToolUse", HOOK_BEFORE, false },  { "PostToolUse", HOOK_AFTER, false },
    { "Stop", HOOK_STOP, false },          { "SessionEnd", HOOK_END, false },
    { "BeforeAgent", HOOK_PROMPT, true },  { "BeforeTool", HOOK_BEFORE, true },
    { "AfterTool", HOOK_AFTER, true },     { "AfterAgent", HOOK_STOP, true },
    { "BeforeModel", HOOK_OTHER, true },   { "BeforeToolSelection", HOOK_OTHER, true },
    { "AfterModel", HOOK_OTHER, true },    { "PreCompress", HOOK_OTHER, true },
};

/* The members of a tool's input that name a file, or hold a patch. */
static const struct {
    const char *tool, *member;
    bool is_patch;
} writers[] = {
    { "Write", "file_path", false },
    { "Edit", "file_path", false },
    { "MultiEdit", "file_path", false },
    { "NotebookEdit", "notebook_path", false },
    { "write_file", "file_path", false },
    { "replace", "file_path", false },
    { "apply_patch", "command", true },
    { "apply_patch", "input", true },
    { "apply_patch", "patch", true },
    { "Bash", "command", true },
    { "shell", "command", true },
    { "exec_command", "cmd", true },
    { "run_shell_command", "command", true },
};

/* ---- the event ---- */

/* Codex and Claude Code have the same events; Codex tells of turns, and has another transcript. */
static const struct agent_client *
guess_client(const struct json *event, bool is_geminis)
{
    const struct json *log = json_get(event, "transcript_path");

    if (is_geminis)
        return agent_client_find("gemini");
    if (json_get(event, "turn_id"))
        return agent_client_find("codex");
    if (json_is(log, JSON_STRING)) {
        if (memmem(log->text.p, log->text.len, "/rollout-", 9))
            return agent_client_find("codex");
        if (memmem(log->text.p, log->text.len, "/.gemini/", 9))
            return agent_client_find("gemini");
    }
    return agent_client_find("claude");
}

static void
add_file(struct hook_event *to, const char *path)
{
    if (!path || !*path)
        return;
    if (to->n_files == HOOK_FILES_MAX)
        to->has_more_files = true;
    else
        to->files[to->n_files++] = path;
}

/* "*** Update File: src/a.c" and its like, each on a line of its own. */
static void
add_patch(struct arena *a, const char *text, struct hook_event *to)
{
    static const char *const marks[] = { "*** Add File: ", "*** Update File: ", "*** Delete File: ",
                                         "*** Move to: " };

    if (!strstr(text, "*** Begin Patch"))
        return;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\r\n");
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            size_t skip = strlen(marks[i]);
            if (n > skip && memcmp(line, marks[i], skip) == 0)
                add_file(to, arena_dup(a, line + skip, n - skip));
        }
        line += n;
        line += strspn(line, "\r\n");
    }
}

static void
find_files(struct arena *a, const struct json *event, struct hook_event *to)
{
    const struct json *tool = json_get(event, "tool_name"), *input = json_get(event, "tool_input");

    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        const struct json *v = json_get(input, writers[i].member);
        if (!json_eq(tool, writers[i].tool))
            continue;
        if (!writers[i].is_patch)
            add_file(to, json_dup_text(a, v));
        else if (json_is(v, JSON_STRING))
            add_patch(a, json_dup_text(a, v), to);
        else
            json_each (word, v) /* ["bash", "-c", "apply_patch …"] */
                if (json_is(word, JSON_STRING))
                    add_patch(a, json_dup_text(a, word), to);
    }
}

enum status
hook_event_read(struct arena *a, const char *text, size_t len, const struct agent_client *client,
                struct hook_event *to, struct err *e)
{
    struct json_fault where;
    struct json *event;
    bool is_geminis = false;

    *to = (struct hook_event){ 0 };
    if (!json_parse_foreign(a, text, len, &event, &where))
        return err_set(e, ST_INVALID, "no event on standard input: %s at line %u, column %u",
                       where.what, where.line, where.column);
    to->name = json_dup_text(a, json_get(event, "hook_event_name"));
    if (!to->name)
        return err_set(e, ST_INVALID, "no event on standard input: it has no hook_event_name");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(to->name, events[i].name) == 0) {
            to->kind = events[i].kind;
            is_geminis = events[i].is_geminis;
        }
    to->client = client ? client : guess_client(event, is_geminis);
    to->cwd = json_dup_text(a, json_get(event, "cwd"));
    if (to->cwd && *to->cwd != '/')
        to->cwd = NULL;
    if (to->kind == HOOK_STOP) {
        json_bool(json_get(event, "stop_hook_active"), &to->is_again);
    } else if (to->kind == HOOK_START) {
        const struct json *source = json_get(event, "source");
        to->is_again = json_eq(source, "clear") || json_eq(source, "compact");
    } else if (to->kind == HOOK_END) {
        to->is_again = json_eq(json_get(event, "reason"), "clear");
    } else if (to->kind == HOOK_BEFORE) {
        find_files(a, event, to);
    }
    return ST_OK;
}

/* ---- the answer ---- */

void
hook_answer_write(struct buf *to, const struct hook_event *event, const char *says)
{
    bool is_gemini = strcmp(event->client->id, "gemini") == 0;

    json_open(to, '{');
    if (event->kind == HOOK_PROMPT || (event->kind == HOOK_BEFORE && !is_gemini)) {
        json_key(to, "hookSpecificOutput");
        json_open(to, '{');
        json_key_str(to, "hookEventName", event->name);
        if (event->kind == HOOK_PROMPT) {
            json_key_str(to, "additionalContext", says);
        } else {
            json_key_str(to, "permissionDecision", "deny");
            json_key_str(to, "permissionDecisionReason", says);
        }
        json_close(to, '}');
    } else {
        json_key_str(to, "decision", is_gemini ? "deny" : "block");
        json_key_str(to, "reason", says);
    }
    json_close(to, '}');
    buf_addc(to, '\n');
}
