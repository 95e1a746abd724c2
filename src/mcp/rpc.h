/*
 * rpc - the Model Context Protocol, server side: one message in, what is to be done out. Pure.
 *
 * Two eras are served, decided for each request:
 *
 *     legacy   2025-06-18, 2025-11-25: the handshake initialize, then plain requests
 *     modern   2026-07-28: every request has its version in params._meta; server/discover; results
 *              have a resultType, and lists how long they hold
 *
 * A transport (stdio.h, serve/mcp_route.h) does this for each message:
 *
 *     mcp_take(&offer, &arena, text, len, &r, &out);
 *     switch (r.need) {
 *     MCP_NOTHING     out has the answer, or nothing for a notification
 *     MCP_HUB         r.tool->complete(&r, e), if it has that;
 *                     reply = the answer to operation r.op with r.args for r's caller;
 *                     while (!mcp_finish_hub(&r, s, &reply, why, &out)) … again: r.op, r.args
 *     MCP_FILES       s = mcp_files_run(&files, &r, &text, e);  mcp_finish_files(&r, s, …)
 *     MCP_SUBSCRIBE … see enum mcp_need
 *     }
 *
 * An answer is one line of JSON with its '\n'. The outcome of a tool that failed is a result with
 * isError, so that the model reads it; a request that is none is an error of JSON-RPC.
 *
 * Ownership: everything in a request lives in the arena and in the text.
 *
 *     rpc.c       eras, methods, results        tools.c      the tools and their schemas
 *     files.c     tools that read the project   resources.c  inbox://, room://, handoff://, prompts
 *
 * Tests: test/unit/test_mcp_rpc.c test/fuzz/fuzz_mcp.c test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_RPC_H
#define CLIQ_MCP_RPC_H

#include "base/jsonrpc.h"
#include "hub/hub.h"

#define MCP_MODERN_VERSION "2026-07-28"

/* What a transport offers. */
struct mcp_offer {
    const char *identity; /* of the caller, for the list of resources; NULL: not known yet */
    bool has_files;       /* the project's files: rooms, pipeline, handoffs, reviews */
    bool has_subscribe;   /* resources/subscribe; the modern subscriptions/listen is another */
    bool has_listen;
};

enum mcp_need {
    MCP_NOTHING,
    MCP_HUB,
    MCP_FILES,
    MCP_SUBSCRIBE, /* resources/subscribe and unsubscribe: uri; then mcp_finish_empty */
    MCP_UNSUBSCRIBE,
    MCP_LISTEN, /* uris: mcp_write_acknowledged first, the answer when it ends */
    MCP_CANCEL, /* the request with the id `cancels` */
};

struct mcp_tool;
struct mcp_prompt;

struct mcp_request {
    struct arena *arena;
    const struct json *id; /* NULL: a notification, or no message */
    const char *method;    /* NULL: no message */
    const struct json *params;
    bool is_modern;
    const char *client; /* its name, if it says; NULL: it does not */
    enum mcp_need need;
    int http; /* the status of an answer over HTTP */

    enum hub_op op; /* MCP_HUB */
    const struct json *args;
    unsigned step;                   /* of operations for one tool */
    const struct mcp_tool *tool;     /* tools/call */
    const struct mcp_prompt *prompt; /* prompts/get */
    const char *uri;                 /* resources/read, subscribe, unsubscribe */
    size_t from;                     /* resources/list: the first of the page */
    const struct json *uris;         /* MCP_LISTEN: texts; NULL: none */
    const struct json *cancels;      /* MCP_CANCEL */
    const struct json *progress; /* the token for notifications of progress; NULL: none wanted */
};

void mcp_take(const struct mcp_offer *offer, struct arena *a, const char *text, size_t len,
              struct mcp_request *r, struct buf *out);

/* ---- answers ---- each appends one line */

/* After MCP_HUB: `reply` of an operation, or why it failed. False: another operation follows. */
bool mcp_finish_hub(struct mcp_request *r, enum status s, const struct hub_reply *reply,
                    const char *why, struct buf *out);
/* After MCP_FILES: the JSON text that mcp_files_run wrote, or why it failed. */
void mcp_finish_files(const struct mcp_request *r, enum status s, const struct buf *text,
                      const char *why, struct buf *out);
void mcp_finish_empty(const struct mcp_request *r, struct buf *out);
/* An error of JSON-RPC. */
void mcp_refuse(struct mcp_request *r, int64_t code, const char *why, struct buf *out);

/* ---- notifications ---- */

void mcp_write_acknowledged(const struct mcp_request *r, const struct json *uris, struct buf *out);
/* `listener`: the id of the subscriptions/listen request; NULL: legacy. */
void mcp_write_updated(const struct json *listener, const char *uri, struct buf *out);
void mcp_write_progress(const struct json *token, int64_t done_s, int64_t of_s, const char *says,
                        struct buf *out);
/* The end of a subscriptions/listen that the server ends. */
void mcp_write_listen_end(const struct json *id, struct buf *out);

/* ---- between the files of mcp/ ---- */

/* Begins a result; members are written, then mcp_end_result. */
void mcp_begin_result(const struct mcp_request *r, struct buf *res);
/* cache_ms -1: the result says nothing of how long it holds. */
void mcp_end_result(const struct mcp_request *r, struct buf *res, int64_t cache_ms, bool is_public,
                    struct buf *out);

#endif
