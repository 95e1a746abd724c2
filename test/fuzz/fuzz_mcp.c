/*
 * fuzz_mcp - mcp/rpc on any bytes.
 *
 * For every input:
 *   - an answer is one line of JSON-RPC with the request's id, and not both a result and an error
 *   - a notification is never answered
 *   - what needs the outside has what that needs, and its answer is one line, too
 */
#include "mcp/tools.h" /* before fuzz.h: a table of it has another MUST */

#include "fuzz.h"

static void
check_line(struct arena *a, const struct mcp_request *r, const struct buf *out)
{
    struct jsonrpc_message m;

    MUST(!buf_failed(out) && out->len && out->p[out->len - 1] == '\n');
    MUST(!memchr(out->p, '\n', out->len - 1));
    MUST(jsonrpc_parse(a, out->p, out->len - 1, &m, NULL) == ST_OK);
    MUST(m.kind == JSONRPC_RESULT || m.kind == JSONRPC_ERROR);
    MUST(r->id ? json_same(m.id, r->id) : !m.id);
}

static void
finish(struct arena *a, struct mcp_request *r, struct buf *out)
{
    static const struct hub_reply reply = { .status = 200, .text = "{\"id\":\"x\",\"n\":null}" };
    struct buf text = { 0 };

    switch (r->need) {
    case MCP_HUB:
        MUST(r->args && (r->tool || r->uri || r->prompt));
        for (int i = 0; !mcp_finish_hub(r, i ? ST_OK : ST_CONFLICT, &reply, "no", out); i++)
            MUST(i < 3);
        check_line(a, r, out);
        break;
    case MCP_FILES:
        buf_adds(&text, "\"resources\":[]");
        mcp_finish_files(r, ST_OK, &text, NULL, out);
        check_line(a, r, out);
        break;
    case MCP_LISTEN:
        mcp_write_acknowledged(r, r->uris, out);
        MUST(out->len && out->p[out->len - 1] == '\n');
        break;
    case MCP_SUBSCRIBE:
    case MCP_UNSUBSCRIBE:
        MUST(r->uri != NULL);
        mcp_finish_empty(r, out);
        check_line(a, r, out);
        break;
    case MCP_CANCEL:
        MUST(r->cancels && !r->id);
        break;
    case MCP_NOTHING:
        break;
    }
    buf_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct mcp_offer offer = {
        .identity = "ruby", .has_files = len & 1, .has_subscribe = true, .has_listen = true
    };
    char *p = fuzz_copy(data, len);
    struct arena a = { 0 };
    struct mcp_request r;
    struct buf out = { 0 };

    mcp_take(&offer, &a, p, len, &r, &out);
    if (out.len) {
        MUST(r.need == MCP_NOTHING && (r.id || !r.method));
        check_line(&a, &r, &out);
    } else if (r.need != MCP_NOTHING) {
        MUST(r.id || r.need == MCP_CANCEL);
        finish(&a, &r, &out);
    } else {
        MUST(!r.id);
    }
    buf_release(&out);
    arena_release(&a);
    free(p);
    return 0;
}
