/*
 * stdio - an MCP server on standard input and output: `cliq mcp`.
 *
 * One loop with poll(2): messages, changes of watched resources, claims that wait (in threads of
 * their own, claim_thread.h). Everything else is answered in the order in which it was asked.
 *
 *     stdin  --a line a message-->  mcp_take  -->  hub client | files  -->  stdout
 *                                      ^
 *     resource_watch, claim_thread ----'
 *
 * The hub is files, or a server by CLIQ_URL and CLIQ_KEY; rooms, pipeline, handoffs and reviews are
 * the files here. It ends when its input ends.
 *
 * Tests: test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_STDIO_H
#define CLIQ_MCP_STDIO_H

#include "base/err.h"

struct mcp_stdio_options {
    const char
        *identity; /* NULL: $CLIQ_IDENTITY, the phase ($CLIQ_PHASE), else client and directory */
    int in, out;   /* the caller's; out is written only here */
};

enum status mcp_stdio_run(const struct mcp_stdio_options *o, struct err *e);

#endif
