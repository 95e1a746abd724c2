/*
 * lease_tool - the arguments of the tool `lease`, as the operations of the hub want them.
 *
 * A model names files as it sees them, from its directory; the hub knows files of projects. Without
 * `project`, the paths become those of the checkout that the working directory is in
 * (context/checkout.h); with it they are taken as they are.
 *
 * Tests: test/scenario/mcp.bats test/scenario/mcp_http.bats
 */
#ifndef CLIQ_MCP_LEASE_TOOL_H
#define CLIQ_MCP_LEASE_TOOL_H

#include "mcp/rpc.h"

/* `complete` of its row. Reads files, and may wait for a disk. */
enum status mcp_lease_complete(struct mcp_request *r, struct err *e);

#endif
