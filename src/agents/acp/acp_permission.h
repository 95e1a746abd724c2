/*
 * acp_permission - what an ACP agent may do: the tools that it reports, and the answer to its
 * requests. Pure but for the question where a path leads.
 *
 *     policy   reads, searches      edits, deletes, moves   commands, other tools
 *              and web pages
 *     read     allowed              rejected                rejected
 *     edit     allowed              allowed                 allowed
 *     ask      allowed              a person is asked       a person is asked
 *     all      allowed              allowed                 allowed
 *
 * With every policy but `all`, what names a path outside of the working directory is rejected,
 * reading too, and no person is asked. The names of paths come from the tool's locations, its diffs
 * and the usual keys of its raw input; a tool that names none is taken as inside.
 *
 * A request often holds only the id of a tool that was reported before: so tools are kept.
 * Ownership: they live in the arena of acp_tools, their texts are copies.
 *
 * Tests: test/unit/test_acp_policy.c
 */
#ifndef CLIQ_AGENTS_ACP_ACP_PERMISSION_H
#define CLIQ_AGENTS_ACP_ACP_PERMISSION_H

#include "agents/work_file.h"
#include "base/json.h"

enum acp_policy { ACP_READ, ACP_EDIT, ACP_ALL, ACP_ASK };

/* From the phase's `permissions`; NULL: edit. ST_INVALID lists the names. */
enum status acp_policy_read(const char *name, enum acp_policy *out, struct err *e);

struct acp_path {
    const char *path;
    struct acp_path *next;
};

struct acp_tool {
    const char *id, *title, *kind; /* title "" and kind "other" until they are told */
    const char *status;
    const char *command; /* that it says it runs; NULL: none */
    struct acp_path *paths;
    bool is_granted;              /* a person allowed it */
    struct acp_tool *next, *same; /* all of them; those whose id has the same hash */
};

enum { ACP_TOOL_HASHES = 1024 };

struct acp_tools {
    struct arena *arena;
    struct acp_tool *first;
    struct acp_tool *by_id[ACP_TOOL_HASHES];
};

/* Takes what a toolCall object says; members that it leaves out stay. NULL: it has no id, or
 * memory ran out. *is_new: it was not known. */
struct acp_tool *acp_tools_take(struct acp_tools *t, const struct json *call, bool *is_new);
/* Was a tool that writes this path allowed by a person? */
bool acp_tools_grant(const struct acp_tools *t, const char *path);

/* Was a tool that runs this command, by its input or title, allowed by a person? Once: the next
 * time it is false. */
bool acp_tools_grant_command(struct acp_tools *t, const char *line);

enum acp_answer { ACP_ALLOW, ACP_REJECT, ACP_PERSON };

/* *outside: the path that is the reason of a rejection; NULL: the policy is. */
enum acp_answer acp_permission(enum acp_policy policy, const struct acp_tool *tool,
                               const struct work_dir *dir, const char **outside);

/* For a command that we are asked to run (terminal/create). cwd: its directory; NULL: ours. */
enum acp_answer acp_permission_command(enum acp_policy policy, const char *cwd,
                                       const struct work_dir *dir, const char **outside);

/* The optionId that allows or rejects: this time only where there is one. NULL: none of the
 * request's options does. In the arena. */
const char *acp_option(struct arena *a, const struct json *options, bool is_allowed);

#endif
