#include "serve/openapi.h"

#include "serve/file_route.h"
#include "serve/route.h"
#include "serve/stream.h"

#include "base/json.h"
#include "cliq.h"
#include "hub/model/arg_schema.h"

#include <stdio.h>
#include <string.h>

/* ---- what can go wrong ---- */

static const struct {
    const char *code;
    int status;
    const char *says;
} codes[] = {
    { "AUTH_REQUIRED", 401, "no key, or one that is not known" },
    { "AUTH_FORBIDDEN", 403, "the key or its identity may not do this" },
    { "BODY_TOO_LARGE", 413, "a body may have 1 MiB, a package 10 MiB" },
    { "CONTENT_TYPE", 415,
      "bodies are application/json, packages application/gzip, without a Content-Encoding" },
    { "HOST_NOT_SERVED", 421, "the Host is not one of ours" },
    { "HTTP_MALFORMED", 400, "the bytes are not a request of HTTP/1.1" },
    { "METHOD_NOT_ALLOWED", 405, "see Allow" },
    { "ORIGIN_FORBIDDEN", 403, "pages of other origins may not ask" },
    { "RATE_LIMITED", 429, "too many requests; Retry-After tells how many seconds to wait" },
    { "REVIEW_ANSWERED", 409, "the review was answered already, or is over" },
    { "REVIEW_INVALID", 400, "the answer cannot be given so" },
    { "REVIEW_NOT_FOUND", 404, "no such review in a project of this machine" },
    { "ROOM_CONFLICT", 409, "there is such a room already, or it is not in a state for that" },
    { "ROOM_INVALID", 400, "the room, or the message, cannot be so" },
    { "ROOM_NOT_FOUND", 404, "there is no such room, or no such message in it" },
    { "RUN_CONFLICT", 409, "the run is not in a state for that; the message says why" },
    { "RUN_INVALID", 400, "the request does not fit the run" },
    { "RUN_NOT_FOUND", 404, "no such run, phase, log or channel" },
    { "ROUTE_NOT_FOUND", 404, "nothing is at this path" },
    { "SERVER_BUSY", 503, "too many connections" },
    { "SIGNAL_CLAIM_CONFLICT", 409, "another identity has claimed it" },
    { "FILE_LEASED", 409, "another identity has leased a path that overlaps" },
    { "SIGNAL_EMIT_CONFLICT", 409, "the key was used for another request, or too much waits" },
    { "SIGNAL_EMIT_INVALID_TYPE", 400, "signal_type must be a text that is not empty" },
    { "SIGNAL_EMIT_VALIDATION_FAILED", 400, "a field of the signal is wrong or unknown" },
    { "SIGNAL_LEASE_LOST", 409, "the lease ran out, or the claim is another one by now" },
    { "SIGNAL_NOT_CLAIMABLE", 409, "only open tasks can be claimed" },
    { "SIGNAL_NOT_FOUND", 404, "no such signal, role, ring or key" },
    { "SIGNAL_ROLE_NOT_HELD", 400, "from_role must be one that the caller holds" },
    { "STORE_UNAVAILABLE", 503, "the store cannot be written or read now" },
    { "TEAM_EXISTS", 409, "that version is published, and never changes" },
    { "TEAM_INVALID", 400, "the body is no package of a team that may be published" },
    { "TEAM_NOT_FOUND", 404, "no such team, or no such version" },
    { "VALIDATION_FIELD_REQUIRED", 400, "a field is missing" },
    { "VALIDATION_INVALID_TYPE", 400, "a field has a wrong type or value" },
    { "VALIDATION_UNKNOWN_FIELD", 400, "an unknown field; the message names the nearest" },
    { "WEB_NOT_FOUND", 404, "no such file of the page, or one of another version" },
};
enum { N_CODES = sizeof codes / sizeof *codes };

static const int statuses[] = { 400, 401, 403, 404, 409, 413, 415, 421, 429, 503 };
enum { N_STATUSES = sizeof statuses / sizeof *statuses };

static bool
is_post(const struct route_info *r)
{
    return strcmp(r->method, "POST") == 0;
}

/* Does it name something that may not be there? */
static bool
names_something(const struct route_info *r)
{
    if (r->kind == ROUTE_FILE)
        return strchr(r->path, ':') != NULL;
    if (r->kind != ROUTE_OP)
        return r->kind == ROUTE_WEB || r->kind == ROUTE_STREAM ||
               r->kind == ROUTE_ENGINE_EVENTS; /* rings */
    for (const struct hub_arg *a = hub_op_args(r->op); a->name; a++)
        if (a->kind == ARG_ID && strcmp(a->name, "parent_id") != 0)
            return true;
    return r->scope == SCOPE_ADMIN && hub_ops[r->op].writes; /* roles, rings, keys */
}

static bool
can_answer(const struct route_info *r, int status)
{
    bool writes = r->kind == ROUTE_OP && hub_ops[r->op].writes;

    switch (status) {
    case 401:
        return r->scope != SCOPE_NONE || r->kind == ROUTE_SIGN_IN;
    case 404:
        return names_something(r);
    case 409:
        return (r->kind == ROUTE_FILE && r->file->conflict) ||
               (writes && r->scope & (SCOPE_EMIT | SCOPE_CLAIM | SCOPE_ACK));
    case 413:
    case 415:
        return is_post(r);
    default: /* a bad query, a foreign page or host, too many, no store */
        return true;
    }
}

/* The broadcast door has its own way to say it. */
static bool
is_engine(const struct route_info *r)
{
    return r->kind == ROUTE_OP && strncmp(r->path, "/v1/engine/", 11) == 0;
}

/* ---- schemas ---- */

static void
write_ref(struct buf *to, const char *where, const char *name, size_t len)
{
    buf_addf(to, "{\"$ref\":\"#/components/%s/%.*s\"}", where, (int)len, name);
}

/* "Signal[]", "time?", "a|b": see schemas.def. */
static void
write_type(struct buf *to, const char *type, size_t len)
{
    static const struct {
        const char *name, *is, *more;
    } plain[] = {
        { "string", "string", "" },
        { "time", "string", ",\"format\":\"date-time\"" },
        { "ms", "integer", ",\"description\":\"milliseconds since 1970\"" },
        { "integer", "integer", "" },
        { "number", "number", "" },
        { "boolean", "boolean", "" },
        { "object", "object", "" },
    };
    bool or_null = len && type[len - 1] == '?';

    len -= or_null;
    if (len > 2 && memcmp(type + len - 2, "[]", 2) == 0) {
        buf_adds(to, "{\"type\":\"array\",\"items\":");
        write_type(to, type, len - 2);
        buf_addc(to, '}');
        return;
    }
    if (len == 3 && memcmp(type, "any", 3) == 0) {
        buf_adds(to, "{}");
        return;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strlen(plain[i].name) != len || memcmp(plain[i].name, type, len) != 0)
            continue;
        buf_addf(to, or_null ? "{\"type\":[\"%s\",\"null\"]%s}" : "{\"type\":\"%s\"%s}",
                 plain[i].is, plain[i].more);
        return;
    }
    if (memchr(type, '|', len)) {
        arg_schema_write_words(to, type, len, '|', or_null);
    } else if (or_null) {
        buf_adds(to, "{\"anyOf\":[");
        write_ref(to, "schemas", type, len);
        buf_adds(to, ",{\"type\":\"null\"}]}");
    } else {
        write_ref(to, "schemas", type, len);
    }
}

static const struct part {
    const char *schema; /* begins one; else a member of it */
    const char *name, *type, *says;
    bool is_required;
} parts[] = {
#define SCHEMA(name, brief)    { name, NULL, NULL, brief, false },
#define HAS(name, type, brief) { NULL, name, type, brief, true },
#define CAN(name, type, brief) { NULL, name, type, brief, false },
#include "serve/schemas.def"
};
enum { N_PARTS = sizeof parts / sizeof *parts };

/* A schema with a description beside it. */
static void
write_described(struct buf *to, const char *type, const char *says)
{
    struct buf text = { 0 };

    write_type(&text, type, strlen(type));
    if (text.len > 2 && !buf_failed(&text)) {
        buf_add(to, text.p, text.len - 1);
        buf_adds(to, strstr(text.p, "\"description\"") ? "" : ",\"description\":");
        if (!strstr(text.p, "\"description\""))
            json_write_str(to, says, strlen(says));
        buf_addc(to, '}');
    } else {
        buf_adds(to, "{\"description\":");
        json_write_str(to, says, strlen(says));
        buf_addc(to, '}');
    }
    buf_release(&text);
}

static void
write_schemas(struct buf *to)
{
    for (size_t i = 0; i < N_PARTS;) {
        size_t end = i + 1;
        bool is_first = true;
        while (end < N_PARTS && !parts[end].schema)
            end++;
        json_key(to, parts[i].schema);
        json_open(to, '{');
        json_key_str(to, "type", "object");
        json_key_str(to, "description", parts[i].says);
        json_key(to, "required");
        buf_addc(to, '[');
        for (size_t k = i + 1; k < end; k++) {
            if (parts[k].is_required)
                buf_addf(to, "%s\"%s\"", is_first ? "" : ",", parts[k].name);
            is_first = is_first && !parts[k].is_required;
        }
        buf_addc(to, ']');
        json_key(to, "properties");
        json_open(to, '{');
        for (size_t k = i + 1; k < end; k++) {
            json_key(to, parts[k].name);
            write_described(to, parts[k].type, parts[k].says);
        }
        json_close(to, '}');
        json_close(to, '}');
        i = end;
    }
}

/* ---- arguments ---- */

static const struct arg_schema_refs refs = {
    .source = "{\"$ref\":\"#/components/schemas/Source\"}",
    .signal = "{\"$ref\":\"#/paths/~1emit/post/requestBody/content/application~1json/schema\"}",
};

/* Is it one of "/inbox/:target"? */
static bool
is_in_path(const char *path, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = path; (p = strchr(p, ':'));)
        if (strcspn(++p, "/") == n && memcmp(p, name, n) == 0)
            return true;
    return false;
}

static void
write_parameter(struct buf *to, const struct hub_arg *a, const char *in)
{
    bool is_list = a->kind == ARG_TEXTS || a->kind == ARG_WORDS;

    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "name", a->name);
    json_key_str(to, "in", in);
    json_key_str(to, "description", a->brief);
    if (a->is_required)
        json_key_bool(to, "required", true);
    if (is_list) { /* a,b */
        json_key_str(to, "style", "form");
        json_key_bool(to, "explode", false);
    }
    json_key(to, "schema");
    arg_schema_write(to, a, false, &refs);
    json_close(to, '}');
}

static void
write_parameters(struct buf *to, const struct route_info *r, const struct hub_arg *args)
{
    static const struct hub_arg once = {
        "Idempotency-Key", A_TEXT, .brief = "a retry with the same key is answered as the first was"
    };
    static const struct hub_arg last = { "Last-Event-ID", A_TEXT,
                                         .brief = "the number of the last line that was seen" };

    json_key(to, "parameters");
    json_open(to, '[');
    for (const struct hub_arg *a = args; a->name; a++) {
        if (is_in_path(r->path, a->name))
            write_parameter(to, a, "path");
        else if (!is_post(r))
            write_parameter(to, a, "query");
        else if (strcmp(a->name, "dedup_key") == 0)
            write_parameter(to, &once, "header");
    }
    if (r->kind == ROUTE_STREAM || r->kind == ROUTE_ENGINE_EVENTS)
        write_parameter(to, &last, "header");
    json_close(to, ']');
}

static void
write_body(struct buf *to, const struct route_info *r, const struct hub_arg *args)
{
    while (args->name && is_in_path(r->path, args->name))
        args++;
    if (!args->name && r->kind == ROUTE_FILE)
        return;
    json_key(to, "requestBody");
    buf_adds(to, "{\"required\":true,\"content\":{\"application/json\":{\"schema\":");
    arg_schema_write_object(to, args, &refs);
    buf_adds(to, "}}}");
}

/* ---- answers ---- */

static void
write_answer(struct buf *to, const struct route_info *r)
{
    const char *answer = r->kind == ROUTE_OP ? hub_ops[r->op].answer
                         : r->kind == ROUTE_TICKET || r->kind == ROUTE_SIGN_IN_TICKET ? "Ticket"
                         : r->kind == ROUTE_SIGN_IN                                   ? "KeyText"
                         : r->kind == ROUTE_WHOAMI                                    ? "Caller"
                         : r->kind == ROUTE_FILE ? r->file->answer
                                                 : NULL;
    const char *colon = answer ? strchr(answer, ':') : NULL;

    if (r->kind == ROUTE_HEALTH) {
        buf_adds(to, "{\"application/json\":{\"schema\":");
        write_type(to, "Health", 6);
    } else if (r->kind == ROUTE_OPENAPI || r->kind == ROUTE_MCP) {
        buf_adds(to, "{\"application/json\":{\"schema\":{\"type\":\"object\"}");
    } else if (r->kind == ROUTE_STREAM || r->kind == ROUTE_ENGINE_EVENTS) {
        buf_adds(to,
                 "{\"text/event-stream\":{\"schema\":{\"type\":\"string\",\"description\":"
                 "\"id: the number of the line; event: the signal_type (only /signals/stream), "
                 "or reset when older lines than asked for are gone; data: the signal. A comment "
                 "tells why a stream ends: the server stops, it is read too slowly, its key was "
                 "revoked\"}");
    } else if (r->kind == ROUTE_FILE && r->file->takes_event) {
        buf_adds(to,
                 "{\"application/json\":{\"schema\":{\"type\":\"object\",\"description\":\"in the "
                 "client's form; {} lets it go on\"}");
    } else if (r->kind == ROUTE_FILE && r->file->type) {
        buf_addf(to, "{\"%.*s\":{\"schema\":{\"type\":\"string\",\"contentMediaType\":\"%.*s\"}",
                 (int)strcspn(r->file->type, ";"), r->file->type, (int)strcspn(r->file->type, ";"),
                 r->file->type);
    } else if (r->kind == ROUTE_HOME || r->kind == ROUTE_WEB) {
        buf_adds(to, "{\"text/html\":{\"schema\":{\"type\":\"string\"}},\"text/css\":{\"schema\":{"
                     "\"type\":\"string\"}},\"text/javascript\":{\"schema\":{\"type\":\"string\"}},"
                     "\"text/plain\":{\"schema\":{\"type\":\"string\"}");
    } else if (!answer) {
        buf_adds(to, "{\"text/plain\":{\"schema\":{\"type\":\"string\"}");
    } else if (is_engine(r)) {
        buf_adds(to, "{\"application/json\":{\"schema\":");
        if (colon) {
            buf_addf(to,
                     "{\"type\":\"object\",\"required\":[\"ok\",\"%.*s\"],\"properties\":{\"ok\":"
                     "{\"const\":true},\"%.*s\":",
                     (int)(colon - answer), answer, (int)(colon - answer), answer);
            write_type(to, colon + 1, strlen(colon + 1));
            buf_adds(to, "}}");
        } else {
            buf_adds(to, "{\"allOf\":[");
            write_type(to, answer, strlen(answer));
            buf_adds(to, ",{\"type\":\"object\",\"required\":[\"ok\"],\"properties\":{\"ok\":"
                         "{\"const\":true}}}]}");
        }
    } else {
        buf_adds(to,
                 "{\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"data\","
                 "\"meta\"],\"properties\":{\"data\":");
        write_type(to, answer, strlen(answer));
        buf_adds(to, ",\"meta\":{\"$ref\":\"#/components/schemas/Meta\"}}}");
    }
    buf_adds(to, "}}");
}

static void
write_responses(struct buf *to, const struct route_info *r)
{
    json_key(to, "responses");
    buf_adds(to, "{\"200\":{\"description\":\"done\",\"headers\":{\"X-Request-Id\":{\"$ref\":"
                 "\"#/components/headers/X-Request-Id\"}},\"content\":");
    write_answer(to, r);
    buf_addc(to, '}');
    for (size_t i = 0; i < N_STATUSES; i++)
        if (can_answer(r, statuses[i]))
            buf_addf(to, ",\"%d\":{\"$ref\":\"#/components/responses/%s%d\"}", statuses[i],
                     is_engine(r) ? "Engine" : "Refused", statuses[i]);
    buf_addc(to, '}');
}

static void
write_codes(struct buf *to, int status)
{
    struct buf text = { 0 };

    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].status == status)
            buf_addf(&text, "%s%s: %s", text.len ? "; " : "", codes[i].code, codes[i].says);
    json_write_str(to, text.p ? text.p : "", text.len);
    buf_release(&text);
}

static void
write_refusals(struct buf *to, const char *name, const char *schema)
{
    for (size_t i = 0; i < N_STATUSES; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s%d", name, statuses[i]);
        json_key(to, key);
        buf_adds(to, "{\"description\":");
        write_codes(to, statuses[i]);
        if (statuses[i] == 429)
            buf_adds(to, ",\"headers\":{\"Retry-After\":{\"description\":\"seconds\",\"schema\":"
                         "{\"type\":\"integer\",\"minimum\":1}}}");
        buf_adds(to, ",\"content\":{\"application/json\":{\"schema\":");
        write_ref(to, "schemas", schema, strlen(schema));
        buf_adds(to, "}}}");
    }
}

/* ---- routes ---- */

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
write_security(struct buf *to, const struct route_info *r)
{
    bool is_stream = r->kind == ROUTE_STREAM || r->kind == ROUTE_ENGINE_EVENTS;

    json_key(to, "security");
    buf_adds(to, r->scope == SCOPE_NONE ? "[]"
                 : is_stream            ? "[{\"key\":[]},{\"ticket\":[]},{\"token\":[]}]"
                                        : "[{\"key\":[]}]");
    const char *word;
    size_t len;
    if (r->kind == ROUTE_MCP) /* each tool needs a scope of its own */
        return;
    for (unsigned i = 0; (word = scope_word(i, &len)); i++)
        if (r->scope == 1u << i)
            json_key_strn(to, "x-scope", word, len);
}

static void
write_operation(struct buf *to, const struct route_info *r)
{
    static const struct hub_arg none[] = { { .name = NULL } };
    const struct hub_arg *args = r->kind == ROUTE_OP ? hub_op_args(r->op)
                                 : r->kind == ROUTE_STREAM || r->kind == ROUTE_ENGINE_EVENTS
                                     ? stream_args
                                 : r->kind == ROUTE_FILE && r->file->args ? r->file->args
                                                                          : none;
    char key[8];
    struct buf id = { 0 };

    snprintf(key, sizeof key, "%s", r->method);
    for (char *p = key; *p; p++)
        *p = (char)(*p | 32);
    json_key(to, key);
    json_open(to, '{');
    buf_addf(&id, "%s%s", key, r->path);
    for (size_t i = 0; i < id.len; i++)
        if (strchr("/:.", id.p[i]))
            id.p[i] = '_';
    json_key_strn(to, "operationId", id.p, id.len);
    buf_release(&id);
    json_key_str(to, "summary", r->brief);
    write_parameters(to, r, args);
    write_security(to, r);
    bool takes_package = r->kind == ROUTE_FILE && r->file->takes_package;
    bool takes_event = r->kind == ROUTE_FILE && r->file->takes_event;
    if (takes_event) {
        json_key(to, "requestBody");
        buf_adds(to,
                 "{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"type\":"
                 "\"object\",\"required\":[\"hook_event_name\"],\"description\":\"the event, as "
                 "the client sends it; cliq help hook\"}}}}");
    }
    if (is_post(r) && !takes_package && !takes_event &&
        (r->kind == ROUTE_OP || r->kind == ROUTE_FILE))
        write_body(to, r, args);
    if (takes_package) {
        json_key(to, "requestBody");
        buf_adds(to, "{\"required\":true,\"content\":{\"application/gzip\":{\"schema\":{\"type\":"
                     "\"string\",\"contentMediaType\":\"application/gzip\",\"description\":\"the "
                     ".tgz of cliq team pack\"}}}}");
    }
    if (r->kind == ROUTE_SIGN_IN) {
        json_key(to, "requestBody");
        buf_adds(to, "{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"type\":"
                     "\"object\",\"required\":[\"ticket\"],\"additionalProperties\":false,"
                     "\"properties\":{\"ticket\":{\"type\":\"string\",\"description\":\"of POST "
                     "/sign-in/ticket\"}}}}}}");
    }
    if (r->kind == ROUTE_MCP) {
        json_key(to, "requestBody");
        buf_adds(to, "{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"type\":"
                     "\"object\",\"required\":[\"jsonrpc\"],\"description\":\"one message of "
                     "JSON-RPC 2.0; cliq help mcp\"}}}}");
    }
    write_responses(to, r);
    json_close(to, '}');
}

static void
write_paths(struct buf *to)
{
    struct route_info info, other;

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
}

static void
write_components(struct buf *to)
{
    json_open(to, '{');
    json_key(to, "securitySchemes");
    buf_adds(to, "{\"key\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"a key that "
                 "cliq key create made\"},"
                 "\"ticket\":{\"type\":\"apiKey\",\"in\":\"query\",\"name\":\"ticket\","
                 "\"description\":\"of POST /signals/ticket: good for one stream, for a minute, "
                 "while its key is\"},"
                 "\"token\":{\"type\":\"apiKey\",\"in\":\"query\",\"name\":\"token\","
                 "\"description\":\"a key; a server may refuse it here\"}}");
    json_key(to, "headers");
    buf_adds(to, "{\"X-Request-Id\":{\"description\":\"as in the access log\",\"schema\":"
                 "{\"type\":\"string\"}}}");
    json_key(to, "responses");
    json_open(to, '{');
    write_refusals(to, "Refused", "Error");
    write_refusals(to, "Engine", "EngineError");
    json_close(to, '}');
    json_key(to, "schemas");
    json_open(to, '{');
    json_key(to, "Error");
    buf_adds(
        to,
        "{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":"
        "\"object\",\"required\":[\"code\",\"message\",\"request_id\",\"details\",\"docs_url\"],"
        "\"properties\":{\"code\":{\"type\":\"string\",\"enum\":[");
    for (size_t i = 0; i < N_CODES; i++)
        buf_addf(to, "%s\"%s\"", i ? "," : "", codes[i].code);
    buf_adds(to,
             "]},\"message\":{\"type\":\"string\"},\"request_id\":{\"type\":\"string\"},"
             "\"details\":{\"type\":[\"object\",\"null\"]},\"docs_url\":{\"type\":\"string\"}}}}}");
    json_key(to, "EngineError");
    buf_adds(to, "{\"type\":\"object\",\"required\":[\"ok\",\"error\"],\"properties\":{\"ok\":"
                 "{\"const\":false},\"error\":{\"type\":\"string\"}}}");
    json_key(to, "Meta");
    buf_adds(to,
             "{\"type\":\"object\",\"required\":[\"request_id\"],\"properties\":{\"request_id\":"
             "{\"type\":\"string\"},\"cursor\":{\"type\":[\"string\",\"null\"],\"description\":"
             "\"of lists: what after wants for the next page; null behind the last\"}}}");
    write_schemas(to);
    json_close(to, '}');
    json_close(to, '}');
}

void
openapi_write(struct buf *to)
{
    json_open(to, '{');
    json_key_str(to, "openapi", "3.1.0");
    json_key(to, "info");
    buf_adds(to,
             "{\"title\":\"cliq\",\"version\":\"" CLIQ_VERSION "\",\"description\":\"Signals and "
             "tasks for agents and people\",\"license\":{\"name\":\"MIT\",\"identifier\":"
             "\"MIT\"}}");
    json_key(to, "servers");
    buf_adds(to, "[{\"url\":\"/\"}]");
    json_key(to, "paths");
    write_paths(to);
    json_key(to, "components");
    write_components(to);
    json_key(to, "x-error-codes");
    json_open(to, '{');
    for (size_t i = 0; i < N_CODES; i++)
        json_key_str(to, codes[i].code, codes[i].says);
    json_close(to, '}');
    json_close(to, '}');
}
