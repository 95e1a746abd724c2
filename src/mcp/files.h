/*
 * files - the tools and resources that read and write files of the project: rooms, the pipeline,
 * handoffs and reviews. Each call opens what it needs, and may wait for a disk.
 *
 * The project is the one of the phase that the agent works for ($CLIQ_STATE_DIR), else the nearest
 * .cliq/ here or above.
 *
 * Tests: test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_FILES_H
#define CLIQ_MCP_FILES_H

#include "base/watch.h"
#include "mcp/resources.h"
#include "mcp/tools.h"

struct mcp_files {
    const char *identity; /* the caller */
    struct arena *arena;  /* of one request */
};

/* What MCP_FILES needs: appends the answer's JSON. */
enum status
mcp_files_run(struct mcp_files *f, const struct mcp_request *r, struct buf *out, struct err *e);
/* Watches what a room's or a handoff's URI is made of. */
enum status mcp_files_watch(struct arena *a, const char *uri, struct watch *w, struct err *e);

mcp_files_fn mcp_room_post, mcp_room_read, mcp_pipeline_status, mcp_handoff, mcp_review;
extern const struct hub_arg mcp_room_post_args[], mcp_room_read_args[], mcp_pipeline_status_args[],
    mcp_handoff_args[], mcp_review_args[];

#endif
