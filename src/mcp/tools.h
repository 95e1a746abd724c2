/*
 * tools - the tools of MCP, as a table: an operation of the hub with some of its arguments, or a
 * question to the project's files. Names, kinds and lines of arguments are those of
 * hub/model/ops.def, so a tool, its HTTP route and its command agree.
 *
 * Answers are JSON. Members that are null or empty are left out, because models pay for them.
 *
 * Tests: test/unit/test_mcp_rpc.c test/scenario/mcp.bats test/scenario/mcp_table.bats
 */
#ifndef CLIQ_MCP_TOOLS_H
#define CLIQ_MCP_TOOLS_H

#include "base/suggest.h"
#include "hub/model/args.h"
#include "mcp/rpc.h"

#define MCP_ARGS_MAX 24 /* of one tool */

struct mcp_files;

/* Appends the answer's JSON. */
typedef enum status
mcp_files_fn(struct mcp_files *f, struct args_in *in, struct buf *out, struct err *e);

struct mcp_tool {
    const char *name, *brief;
    bool is_reading;  /* it changes nothing */
    bool is_deciding; /* in a person's place: clients should ask theirs before each call */
    /* of the hub: */
    enum hub_op op;
    const char *takes; /* "type source data": arguments of the operation */
    const char *given; /* arguments that it has when the caller gives none, as JSON; NULL: none */
    const char *finds; /* required arguments that the tool finds by itself */
    const struct hub_arg *more; /* arguments of its own, which do not reach the operation */
    /* Files are looked at before the operation: a transport calls it; NULL: nothing to look at. */
    enum status (*complete)(struct mcp_request *r, struct err *e);
    /* of the project's files: */
    mcp_files_fn *run;
    const struct hub_arg *args;
};

/* The i-th tool that is offered; NULL behind the last. */
const struct mcp_tool *mcp_tool_nth(const struct mcp_offer *offer, size_t i);
/* NULL: there is none of that name, and *near has the nearest. */
const struct mcp_tool *
mcp_tool_find(const struct mcp_offer *offer, const struct json *name, struct suggest *near);
/* Its arguments, ended by name NULL. */
void mcp_tool_args(const struct mcp_tool *t, struct hub_arg to[MCP_ARGS_MAX]);

/* "tools":[…] */
void mcp_tools_write(const struct mcp_offer *offer, struct buf *to);
/* Checks the names of the arguments and says what is needed. */
enum status mcp_tool_prepare(struct mcp_request *r, const struct json *arguments, struct err *e);
/* An operation was answered with *s. False: another one follows. */
bool mcp_tool_next(struct mcp_request *r, enum status *s, const struct hub_reply *reply);
void mcp_tool_write(const struct mcp_request *r, const struct hub_reply *reply, struct buf *to);
/* The answer of an operation without what is null or empty. */
void mcp_lean_reply(const struct mcp_request *r, const struct hub_reply *reply, struct buf *to);

#endif
