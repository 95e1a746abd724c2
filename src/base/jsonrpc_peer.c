#include "base/jsonrpc_peer.h"

#include "base/sys.h"

#include <string.h>

enum { READ_MAX = 1 << 20 }; /* bytes of a step: the owner looks at messages in between */

/* ---- saying ---- */

int64_t
jsonrpc_call(struct jsonrpc_peer *p, const char *method, const char *params)
{
    jsonrpc_write_request(&p->waiting, ++p->last_id, method, params);
    return p->last_id;
}

void
jsonrpc_notify(struct jsonrpc_peer *p, const char *method, const char *params)
{
    jsonrpc_write_notification(&p->waiting, method, params);
}

void
jsonrpc_answer(struct jsonrpc_peer *p, const struct json *id, const char *result)
{
    jsonrpc_write_result(&p->waiting, id, result);
}

void
jsonrpc_refuse(struct jsonrpc_peer *p, const struct json *id, int64_t code, const char *why)
{
    jsonrpc_write_error(&p->waiting, id, code, why, NULL);
}

bool
jsonrpc_is_writing(const struct jsonrpc_peer *p)
{
    return p->out >= 0 && !p->is_deaf && p->waiting.len > p->written;
}

/* ---- bytes ---- */

static enum status
write_some(struct jsonrpc_peer *p, struct err *e)
{
    while (jsonrpc_is_writing(p)) {
        ssize_t n =
            SYS_RETRY(sys->write(p->out, p->waiting.p + p->written, p->waiting.len - p->written));
        if (n < 0 && errno == EAGAIN)
            return ST_OK;
        if (n < 0 && errno != EPIPE && errno != ECONNRESET)
            return err_sys(e, "write to the peer");
        p->is_deaf = n < 0;
        p->written += n < 0 ? 0 : (size_t)n;
    }
    buf_reset(&p->waiting);
    p->written = 0;
    return ST_OK;
}

static enum status
read_some(struct jsonrpc_peer *p, struct err *e)
{
    char piece[16384];

    for (size_t took = 0; p->in >= 0 && !p->has_ended && took < READ_MAX;) {
        ssize_t n = SYS_RETRY(sys->read(p->in, piece, sizeof piece));
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && errno != ECONNRESET)
            return err_sys(e, "read from the peer");
        p->has_ended = n <= 0;
        if (n > 0) {
            if (p->copy)
                p->copy(p->ctx, piece, (size_t)n);
            jsonrpc_feed(&p->lines, piece, (size_t)n);
            took += (size_t)n;
        }
    }
    return jsonrpc_lines_status(&p->lines, e);
}

enum status
jsonrpc_step(struct jsonrpc_peer *p, struct err *e)
{
    enum status s = buf_status(&p->waiting, "what the peer is told", e);

    if (!s)
        s = write_some(p, e);
    return s ? s : read_some(p, e);
}

/* ---- hearing ---- */

enum jsonrpc_peer_got
jsonrpc_next(struct jsonrpc_peer *p, struct arena *a, struct jsonrpc_message *m, struct err *why)
{
    const char *line;
    size_t len;
    enum jsonrpc_got got = jsonrpc_line(&p->lines, &line, &len);

    *m = (struct jsonrpc_message){ .code = JSONRPC_INVALID_REQUEST };
    if (got == JSONRPC_MORE)
        return JSONRPC_PEER_NONE;
    if (got == JSONRPC_TOO_LONG) {
        err_say(why, "a line of more than %zu bytes", JSONRPC_LINE_MAX);
        return JSONRPC_PEER_RUBBISH;
    }
    return jsonrpc_parse(a, line, len, m, why) ? JSONRPC_PEER_RUBBISH : JSONRPC_PEER_MESSAGE;
}

bool
jsonrpc_is_answer(const struct jsonrpc_message *m, int64_t id)
{
    int64_t n;

    return (m->kind == JSONRPC_RESULT || m->kind == JSONRPC_ERROR) && json_int(m->id, &n) &&
           n == id;
}

void
jsonrpc_peer_release(struct jsonrpc_peer *p)
{
    jsonrpc_lines_release(&p->lines);
    buf_release(&p->waiting);
}
