/* page - what the server says about itself. */
#include "serve/serve_impl.h"

#include <inttypes.h>
#include <string.h>

const char page_home[] = "cliq: signals and tasks for agents and people.\n\n"
                         "  GET /openapi.json   what can be asked\n"
                         "  GET /health         is the store there?\n\n"
                         "Keys: cliq key create --identity NAME. Commands: cliq help emit.\n";

void
page_health(struct serve *s, struct buf *to)
{
    uint64_t seq = hub_last_seq(s->reader);

    json_open(to, '{');
    json_key_str(to, "status", "ok");
    json_key_int(to, "sequence", (int64_t)seq);
    json_close(to, '}');
}

static void
metric(struct buf *to, const char *name, const char *kind, const char *help, uint64_t value)
{
    buf_addf(to, "# HELP cliq_%s %s\n# TYPE cliq_%s %s\ncliq_%s %" PRIu64 "\n", name, help, name,
             kind, name, value);
}

void
page_metrics(struct serve *s, struct buf *to)
{
    struct http_stats http = http_server_stats(s->http);
    struct hub_stats hub;
    struct err e;

    metric(to, "http_connections", "gauge", "open connections", http.open);
    metric(to, "http_connections_total", "counter", "connections accepted", http.accepted);
    metric(to, "http_requests_total", "counter", "requests", http.requests);
    metric(to, "http_faults_total", "counter", "requests that were not HTTP", http.faults);
    buf_adds(to, "# HELP cliq_http_answers_total answers by class\n"
                 "# TYPE cliq_http_answers_total counter\n");
    for (int i = 2; i < 6; i++)
        buf_addf(to, "cliq_http_answers_total{class=\"%dxx\"} %" PRIu64 "\n", i, s->answers[i]);
    metric(to, "http_limited_total", "counter", "answers 429: over the rate", s->limited);
    uint64_t waiting = 0;
    for (const struct job *j = s->parked; j; j = j->next)
        waiting++;
    metric(to, "claims_waiting", "gauge", "claims that wait for a task", waiting);
    metric(to, "stream_clients", "gauge", "open streams", streams_count(s->streams));
    metric(to, "stream_events_total", "counter", "signals told on streams",
           streams_delivered(s->streams));
    if (hub_stats(s->reader, &hub, &e) == ST_OK) {
        metric(to, "signals", "gauge", "signals stored", hub.signals);
        metric(to, "sequence", "counter", "the last line of the log", hub.last_seq);
        buf_adds(to, "# HELP cliq_signals_by_state signals by delivery state\n"
                     "# TYPE cliq_signals_by_state gauge\n");
        const struct {
            const char *name;
            uint64_t n;
        } states[] = { { "pending", hub.pending },
                       { "leased", hub.leased },
                       { "acked", hub.acked },
                       { "failed", hub.failed },
                       { "dead_letter", hub.dead_letter } };
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            buf_addf(to, "cliq_signals_by_state{state=\"%s\"} %" PRIu64 "\n", states[i].name,
                     states[i].n);
        metric(to, "delayed_signals", "gauge", "signals that wait for their time", hub.delayed);
        metric(to, "subscriptions", "gauge", "subscriptions", hub.subscriptions);
        metric(to, "log_bytes", "gauge", "bytes of the log", hub.log_bytes);
    }
}

/* ---- OpenAPI ---- */

static const struct {
    const char *code, *says;
} codes[] = {
    { "AUTH_REQUIRED", "no key, or one that is not known" },
    { "AUTH_FORBIDDEN", "the key or its identity may not do this" },
    { "BODY_TOO_LARGE", "a body may have 1 MiB" },
    { "CONTENT_TYPE", "bodies are application/json" },
    { "HOST_NOT_SERVED", "the Host is not one of ours" },
    { "HTTP_MALFORMED", "the bytes are not a request of HTTP/1.1" },
    { "METHOD_NOT_ALLOWED", "see Allow" },
    { "ORIGIN_FORBIDDEN", "pages of other origins may not ask" },
    { "RATE_LIMITED", "too many requests" },
    { "ROUTE_NOT_FOUND", "nothing is at this path" },
    { "SERVER_BUSY", "too many connections" },
    { "SIGNAL_CLAIM_CONFLICT", "somebody else has claimed it" },
    { "SIGNAL_EMIT_INVALID_TYPE", "signal_type must be a text that is not empty" },
    { "SIGNAL_EMIT_VALIDATION_FAILED", "a field of the signal is wrong" },
    { "SIGNAL_LEASE_LOST", "the lease ran out, or the claim is another one by now" },
    { "SIGNAL_NOT_CLAIMABLE", "only open tasks can be claimed" },
    { "SIGNAL_NOT_FOUND", "no such signal, role or identity" },
    { "SIGNAL_ROLE_NOT_HELD", "from_role must be one that the caller holds" },
    { "STORE_UNAVAILABLE", "the store cannot be written or read now" },
    { "VALIDATION_FIELD_REQUIRED", "a field is missing" },
    { "VALIDATION_INVALID_TYPE", "a field has a wrong type or value" },
};

/* "/inbox/:target" is "/inbox/{target}" there. */
static void
write_path(struct buf *to, const char *path)
{
    struct buf text = { 0 };

    for (const char *p = path; *p;) {
        if (*p == ':') {
            size_t n = strcspn(p, "/");
            buf_addf(&text, "{%.*s}", (int)n - 1, p + 1);
            p += n;
        } else {
            buf_addc(&text, *p++);
        }
    }
    json_key(to, text.p ? text.p : "/");
    buf_release(&text);
}

static void
write_parameters(struct buf *to, const char *path)
{
    json_key(to, "parameters");
    json_open(to, '[');
    for (const char *p = strchr(path, ':'); p; p = strchr(p + 1, ':')) {
        json_sep(to);
        json_open(to, '{');
        json_key_strn(to, "name", p + 1, strcspn(p + 1, "/"));
        json_key_str(to, "in", "path");
        json_key_bool(to, "required", true);
        json_key(to, "schema");
        buf_adds(to, "{\"type\":\"string\"}");
        json_close(to, '}');
    }
    json_close(to, ']');
}

static void
write_operation(struct buf *to, const struct route_info *info)
{
    static const char *const scopes[] = { "emit", "claim", "ack", "inbox", "stream", "admin" };
    char key[8];
    struct buf id = { 0 };

    snprintf(key, sizeof key, "%s", info->method);
    for (char *p = key; *p; p++)
        *p = (char)(*p | 32);
    json_key(to, key);
    json_open(to, '{');
    buf_addf(&id, "%s%s", key, info->path);
    for (size_t i = 0; i < id.len; i++)
        if (strchr("/:.", id.p[i]))
            id.p[i] = '_';
    json_key_strn(to, "operationId", id.p, id.len);
    buf_release(&id);
    json_key_str(to, "summary", info->brief);
    write_parameters(to, info->path);
    json_key(to, "security");
    if (info->scope == SCOPE_NONE)
        buf_adds(to, "[]");
    else
        buf_adds(to, "[{\"key\":[]}]");
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (info->scope == 1u << i)
            json_key_str(to, "x-scope", scopes[i]);
    if (strcmp(info->method, "POST") == 0 && info->kind == ROUTE_OP) {
        json_key(to, "requestBody");
        buf_adds(to, "{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"type\":"
                     "\"object\"}}}}");
    }
    json_key(to, "responses");
    buf_adds(to, "{\"200\":{\"description\":\"done\"},\"default\":{\"description\":\"refused\","
                 "\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/"
                 "Error\"}}}}}");
    json_close(to, '}');
}

void
page_openapi(struct buf *to)
{
    struct route_info info, other;

    json_open(to, '{');
    json_key_str(to, "openapi", "3.1.0");
    json_key(to, "info");
    buf_adds(to, "{\"title\":\"cliq\",\"version\":\"1\",\"description\":\"Signals and tasks for "
                 "agents and people\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}}");
    json_key(to, "servers");
    buf_adds(to, "[{\"url\":\"/\"}]");
    json_key(to, "paths");
    json_open(to, '{');
    for (size_t i = 0; route_nth(i, &info); i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first && route_nth(k, &other); k++)
            is_first = strcmp(info.path, other.path) != 0;
        if (!is_first)
            continue;
        write_path(to, info.path);
        json_open(to, '{');
        for (size_t k = i; route_nth(k, &other); k++)
            if (strcmp(info.path, other.path) == 0)
                write_operation(to, &other);
        json_close(to, '}');
    }
    json_close(to, '}');
    json_key(to, "components");
    buf_adds(to,
             "{\"securitySchemes\":{\"key\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
             "\"schemas\":{\"Error\":{\"type\":\"object\",\"required\":[\"error\"],"
             "\"properties\":{\"error\":{\"type\":\"object\",\"required\":[\"code\",\"message\"],"
             "\"properties\":{\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},"
             "\"request_id\":{\"type\":\"string\"},\"details\":{},\"docs_url\":{\"type\":"
             "\"string\"}}}}}}}");
    json_key(to, "x-error-codes");
    json_open(to, '{');
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        json_key_str(to, codes[i].code, codes[i].says);
    json_close(to, '}');
    json_close(to, '}');
}
