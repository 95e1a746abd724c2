/*
 * client_config - cliq in the configuration of an agent's client: its entry among the MCP servers,
 * and its hooks.
 *
 *     client     its MCP servers                    its hooks
 *     claude     ~/.claude.json                     ~/.claude/settings.json
 *     codex      ~/.codex/config.toml               ~/.codex/hooks.json
 *     gemini     ~/.gemini/settings.json            in the same file
 *     cursor     ~/.cursor/mcp.json                 -
 *     opencode   ~/.config/opencode/opencode.json   -
 *
 * In a project they are .mcp.json (claude), opencode.json, and else of the same names in the
 * project's root.
 *
 * The files belong to the user and to other programs, so they are changed in place
 * (base/json_edit.h, base/toml_edit.h): what is added stands behind what is there. All files of a
 * client are read and changed in memory first; a broken one is refused with its place before any is
 * written. A file that changes is kept beside itself as FILE.before-cliq.
 *
 *     struct client_change c;
 *     s = client_change_plan(&c, client, is_project, CLIENT_ADD, e);
 *     if (!s)
 *         s = client_change_write(&c, e);
 *     client_change_release(&c);
 *
 * Tests: test/cli/install.bats
 */
#ifndef CLIQ_CMD_LIB_CLIENT_CONFIG_H
#define CLIQ_CMD_LIB_CLIENT_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "context/agent_client.h"

#include <stdbool.h>

#define CLIENT_FILES_MAX 2

enum client_what { CLIENT_ADD, CLIENT_REMOVE };

struct client_file {
    const char *path;     /* as people know it */
    const char *real;     /* where links lead; the file to write */
    struct buf old, text; /* text: with the change */
    struct buf steps;     /* what changes, for people: "mcpServers.cliq, hooks.Stop" */
    struct buf diff;      /* the lines that come and go, as diff -U0 shows them */
    bool is_new;
};

struct client_change {
    const struct agent_client *client;
    bool has_hooks;
    struct arena arena;
    struct client_file files[CLIENT_FILES_MAX];
    size_t n_files;
    size_t n_changed; /* 0: everything is as wished already */
    size_t n_ours;    /* entries of cliq that were found */
};

/* is_project: the files of the project that the working directory is in, else the user's. */
enum status client_change_plan(struct client_change *c, const struct agent_client *client,
                               bool is_project, enum client_what what, struct err *e);
enum status client_change_write(const struct client_change *c, struct err *e);
void client_change_release(struct client_change *c);

#endif
