/*
 * hook_event - what a client of agents tells its hooks, and how it wants to be answered. Pure.
 *
 *     event       Claude Code, Codex   Gemini CLI     answer
 *     START       SessionStart         SessionStart   -
 *     PROMPT      UserPromptSubmit     BeforeAgent    context for the model
 *     BEFORE      PreToolUse           BeforeTool     the tool is denied, and why
 *     AFTER       PostToolUse          AfterTool      -
 *     STOP        Stop                 AfterAgent     the agent goes on, and with what
 *     END         SessionEnd           SessionEnd     -
 *
 * Other events are OTHER, and answered with nothing, which always means: go on.
 *
 * The files that a tool is to write are known for the tools that take a path, and for patches, also
 * those in a command line. What else a command writes is not: see cliq lease guard.
 *
 * Tests: test/unit/test_hook_event.c test/fuzz/fuzz_hook.c test/cli/hook.bats
 */
#ifndef CLIQ_HOOK_HOOK_EVENT_H
#define CLIQ_HOOK_HOOK_EVENT_H

#include "base/json.h"
#include "context/agent_client.h"

#define HOOK_FILES_MAX 1000 /* of a patch */

enum hook_kind {
    HOOK_OTHER,
    HOOK_START,
    HOOK_PROMPT,
    HOOK_BEFORE,
    HOOK_AFTER,
    HOOK_STOP,
    HOOK_END,
};

struct hook_event {
    enum hook_kind kind;
    const struct agent_client *client; /* claude, codex or gemini */
    const char *name;                  /* "PreToolUse" */
    const char *cwd;                   /* NULL: it does not say */
    bool is_again; /* STOP: the agent goes on already because a hook said so. START, END: the
                    * session goes on under another name */
    const char *files[HOOK_FILES_MAX]; /* BEFORE: what the tool is to write, relative to cwd */
    size_t n_files;
    bool has_more_files;
};

/* client: NULL: known by the event. Texts live in the arena. ST_INVALID: no event. */
enum status
hook_event_read(struct arena *a, const char *text, size_t len, const struct agent_client *client,
                struct hook_event *to, struct err *e);

/* The answer that has this text for the model: for PROMPT, BEFORE and STOP. One line. */
void hook_answer_write(struct buf *to, const struct hook_event *event, const char *says);

#endif
