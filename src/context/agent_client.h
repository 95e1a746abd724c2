/*
 * agent_client - the programs of other makers that people let agents work in, as far as all parts
 * of cliq have to agree about them: their names, and who an agent in one of them is.
 *
 * An agent without another name is known by its client and directory, "claude-shop". The MCP
 * server and the hooks of one agent are different processes, and must come to the same name: it is
 * made here, from a client and the directory that the client says its project is in.
 *
 * Tests: test/unit/test_mcp_rpc.c test/cli/hook.bats test/cli/install.bats
 */
#ifndef CLIQ_CONTEXT_AGENT_CLIENT_H
#define CLIQ_CONTEXT_AGENT_CLIENT_H

#include <stddef.h>

#define AGENT_IDENTITY_SIZE 65 /* of a name, with its NUL */

struct agent_client {
    const char *id;        /* "claude" */
    const char *says;      /* "Claude Code" */
    const char *program;   /* on PATH */
    const char *mcp_names; /* what its name in MCP begins with, words with | between */
    const char *dir_env;   /* its variable with the project's directory; NULL: it has none */
};

/* The last row has a NULL id. */
extern const struct agent_client agent_clients[];

/* NULL: there is none. */
const struct agent_client *agent_client_find(const char *id);
/* By the name that a client gives itself in MCP. */
const struct agent_client *agent_client_of_mcp(const char *name);

/* $CLIQ_IDENTITY, else the phase of a run ($CLIQ_PHASE); NULL: neither is set. */
const char *agent_identity_set(void);
/* "claude-shop". client: the id of a row, or any name of a client; dir: its directory. Characters
 * that no name may have become one '-'. */
void agent_identity_make(char to[AGENT_IDENTITY_SIZE], const char *client, const char *dir);

#endif
