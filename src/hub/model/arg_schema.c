#include "hub/model/arg_schema.h"

#include "base/json.h"
#include "hub/hub.h"

#include <string.h>

enum { LONG_WORDS = 80 }; /* of a list: the short form has no longer one; refusals do */

void
arg_schema_write_words(struct buf *to, const char *p, size_t len, char between, bool or_null)
{
    buf_adds(to, or_null ? "{\"type\":[\"string\",\"null\"],\"enum\":["
                         : "{\"type\":\"string\",\"enum\":[");
    for (const char *end = p + len, *w = p; w < end;) {
        const char *stop = memchr(w, between, (size_t)(end - w));
        size_t n = (size_t)((stop ? stop : end) - w);
        buf_addf(to, "%s\"%.*s\"", w == p ? "" : ",", (int)n, w);
        w += n + 1;
    }
    buf_adds(to, or_null ? ",null]}" : "]}");
}

static void
write_kind(struct buf *to, const struct hub_arg *a, const struct arg_schema_refs *refs)
{
    enum hub_arg_kind kind = a->kind;

    if (refs->is_short && (kind == ARG_TEXT || kind == ARG_TRIMMED || kind == ARG_NAME))
        kind = ARG_STRING;
    switch (kind) {
    case ARG_TEXT:
        buf_adds(to, "{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096}");
        break;
    case ARG_TRIMMED:
        buf_adds(to, "{\"type\":\"string\",\"minLength\":1}");
        break;
    case ARG_STRING:
    case ARG_ID:
        buf_adds(to, "{\"type\":\"string\"}");
        break;
    case ARG_NAME:
        buf_adds(to, "{\"type\":\"string\",\"pattern\":\"^@?[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$\"}");
        break;
    case ARG_INT:
    case ARG_NUMBER:
        buf_addf(to, "{\"type\":\"%s\"", a->kind == ARG_INT ? "integer" : "number");
        if (!refs->is_short || a->kind == ARG_NUMBER)
            buf_addf(to, ",\"minimum\":%.10g", a->min);
        buf_addf(to, ",\"maximum\":%.10g}", a->max);
        break;
    case ARG_FLAG:
        buf_adds(to, "{\"type\":\"boolean\"}");
        break;
    case ARG_TIME:
        buf_adds(to, refs->is_short ? "{}" : "{\"type\":[\"integer\",\"number\",\"string\"]}");
        break;
    case ARG_WORD:
        arg_schema_write_words(to, a->words, strlen(a->words), ' ', false);
        break;
    case ARG_WORDS:
        if (refs->is_short && strlen(a->words) > LONG_WORDS) {
            buf_adds(to, "{\"type\":\"array\"}");
            break;
        }
        buf_adds(to, "{\"type\":\"array\",\"items\":");
        arg_schema_write_words(to, a->words, strlen(a->words), ' ', false);
        buf_addc(to, '}');
        break;
    case ARG_TEXTS:
        buf_addf(to, "{\"type\":\"array\",\"items\":{\"type\":\"string\"%s}}",
                 refs->is_short ? "" : ",\"minLength\":1");
        break;
    case ARG_LIST:
        buf_adds(to, "{\"type\":\"array\"}");
        break;
    case ARG_OBJECT:
        buf_adds(to, "{\"type\":\"object\"}");
        break;
    case ARG_TEXT_OR_OBJECT:
        buf_adds(to, "{\"type\":[\"string\",\"object\"]}");
        break;
    case ARG_SOURCE:
        buf_addf(to, "{\"anyOf\":[{\"type\":\"string\"},%s]}", refs->source);
        break;
    case ARG_SIGNALS:
        buf_addf(to, "{\"type\":\"array\",\"minItems\":1,\"maxItems\":%d,\"items\":%s}",
                 HUB_BATCH_MAX, refs->signal);
        break;
    case ARG_ANY:
        buf_adds(to, "{}");
        break;
    }
}

void
arg_schema_write(struct buf *to, const struct hub_arg *a, bool is_described,
                 const struct arg_schema_refs *refs)
{
    struct buf schema = { 0 };

    write_kind(&schema, a, refs);
    if (buf_failed(&schema) || !is_described) {
        buf_add(to, schema.p ? schema.p : "{}", schema.len);
    } else {
        buf_add(to, schema.p, schema.len - 1);
        buf_adds(to, schema.len > 2 ? ",\"description\":" : "\"description\":");
        json_write_str(to, a->brief, strlen(a->brief));
        buf_addc(to, '}');
    }
    to->is_starved = to->is_starved || buf_failed(&schema);
    buf_release(&schema);
}

void
arg_schema_write_object(struct buf *to, const struct hub_arg *args,
                        const struct arg_schema_refs *refs)
{
    bool is_first = true;

    buf_adds(to, "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[");
    for (const struct hub_arg *a = args; a->name; a++)
        if (a->is_required) {
            buf_addf(to, "%s\"%s\"", is_first ? "" : ",", a->name);
            is_first = false;
        }
    buf_adds(to, "],\"properties\":");
    json_open(to, '{');
    for (const struct hub_arg *a = args; a->name; a++) {
        json_key(to, a->name);
        arg_schema_write(to, a, true, refs);
    }
    json_close(to, '}');
    buf_addc(to, '}');
}
