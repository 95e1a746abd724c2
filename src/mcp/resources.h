/*
 * resources - what can be read by URI, and the prompts made of it. Pure, except where files.h
 * reads.
 *
 *     inbox://ruby                     what waits for an identity        an operation of the hub
 *     room://room-001                  the last messages of a war-room   a file
 *     handoff://cliq-a1b2c3/plan--build  what a phase handed over        a file
 *
 * Tests: test/unit/test_mcp_rpc.c test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_RESOURCES_H
#define CLIQ_MCP_RESOURCES_H

#include "mcp/rpc.h"

enum mcp_scheme { MCP_NO_SCHEME, MCP_INBOX, MCP_ROOM, MCP_HANDOFF };

/* A URI in its parts, in the arena. inbox, room: name. handoff: name is the project, from and to
 * the phases. ST_NOT_FOUND: it is none of ours. */
struct mcp_uri {
    enum mcp_scheme scheme;
    const char *name, *from, *to;
};
enum status mcp_uri_parse(struct arena *a, const char *text, struct mcp_uri *u, struct err *e);

/* "resourceTemplates":[…] and "prompts":[…] */
void mcp_templates_write(const struct mcp_offer *offer, struct buf *to);
void mcp_prompts_write(const struct mcp_offer *offer, struct buf *to);

/* Each says what the request needs. ST_NOT_FOUND: no such resource. */
enum status
mcp_resources_prepare_list(const struct mcp_offer *offer, struct mcp_request *r, struct err *e);
enum status
mcp_resource_prepare(const struct mcp_offer *offer, struct mcp_request *r, struct err *e);
enum status mcp_prompt_prepare(const struct mcp_offer *offer, struct mcp_request *r, struct err *e);

/* "contents":[…] and "messages":[…] around the JSON `text`. */
void mcp_contents_write(const struct mcp_request *r, const struct buf *text, struct buf *to);
void mcp_prompt_write(const struct mcp_request *r, const struct buf *text, struct buf *to);

/* The list of resources: begin, add any number, end. Only the page from `from` on is written. */
#define MCP_PAGE 50
struct mcp_list {
    struct buf *to;
    size_t from, n;
    bool has_more;
};
void mcp_list_add(struct mcp_list *l, const char *uri, const char *name, const char *says);
void mcp_list_end(struct mcp_list *l);

#endif
