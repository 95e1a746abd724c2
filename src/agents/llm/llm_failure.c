#include "agents/llm/llm_failure.h"

#include "base/term.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 1000, EXCERPT = 300 }; /* bytes */

/* ---- kinds ---- */

struct sign {
    const char *words; /* a part of code, type, status and message, in lower case */
    enum llm_failure_kind kind;
};

/* The first that fits decides: what is said of money and keys comes before the general words. */
static const struct sign signs[] = {
    { "insufficient_quota", LLM_NO_CREDIT },
    { "billing_error", LLM_NO_CREDIT },
    { "credit balance", LLM_NO_CREDIT },
    { "authentication_error", LLM_BAD_KEY },
    { "permission_error", LLM_BAD_KEY },
    { "permission_denied", LLM_BAD_KEY },
    { "unauthenticated", LLM_BAD_KEY },
    { "invalid_api_key", LLM_BAD_KEY },
    { "api key not valid", LLM_BAD_KEY },
    { "context_length_exceeded", LLM_TOO_LONG },
    { "exceed_context_size", LLM_TOO_LONG },
    { "request_too_large", LLM_TOO_LONG },
    { "prompt is too long", LLM_TOO_LONG },
    { "input is too long", LLM_TOO_LONG },
    { "context length", LLM_TOO_LONG },
    { "context window", LLM_TOO_LONG },
    { "exceeds the maximum number of tokens", LLM_TOO_LONG },
    { "model_not_found", LLM_NO_MODEL },
    { "rate_limit", LLM_LIMITED },
    { "resource_exhausted", LLM_LIMITED },
    { "overloaded", LLM_OVERLOADED },
    { "unavailable", LLM_OVERLOADED },
    { "api_error", LLM_SERVER_ERROR },
    { "server_error", LLM_SERVER_ERROR },
    { "timeout_error", LLM_SERVER_ERROR },
    { "internal", LLM_SERVER_ERROR },
};

static enum llm_failure_kind
kind_by_words(const char *words, enum llm_failure_kind otherwise)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(words, signs[i].words))
            return signs[i].kind;
    return otherwise;
}

static enum llm_failure_kind
kind_of(int status, const char *words)
{
    switch (status) {
    case 401:
    case 403:
        return LLM_BAD_KEY;
    case 402:
        return LLM_NO_CREDIT;
    case 404:
        return strstr(words, "model") ? LLM_NO_MODEL : LLM_NO_SUCH_PATH;
    case 405:
        return LLM_NO_SUCH_PATH;
    case 408:
        return LLM_SERVER_ERROR;
    case 413:
        return LLM_TOO_LONG;
    case 429: /* OpenAI's "request too large": above the account's limit, and always so */
        return kind_by_words(words, LLM_LIMITED) == LLM_NO_CREDIT ? LLM_NO_CREDIT
               : strstr(words, "request too large")               ? LLM_TOO_LONG
                                                                  : LLM_LIMITED;
    case 503:
    case 529:
        return LLM_OVERLOADED;
    default:
        return status >= 500 ? LLM_SERVER_ERROR : kind_by_words(words, LLM_BAD_REQUEST);
    }
}

bool
llm_failure_is_for_later(const struct llm_failure *f)
{
    return f->kind == LLM_LIMITED || f->kind == LLM_OVERLOADED;
}

bool
llm_failure_is_temporary(const struct llm_failure *f)
{
    return llm_failure_is_for_later(f) || f->kind == LLM_SERVER_ERROR;
}

/* ---- reading ---- */

/* The object that holds the message: error, or the document itself. */
static const struct json *
error_of(const struct json *doc)
{
    const struct json *first = json_is(doc, JSON_ARRAY) ? json_first(doc) : doc;
    const struct json *error = json_get(first, "error");

    return error && !json_is(error, JSON_NULL) ? error : first;
}

static const struct json *
message_of(const struct json *error)
{
    static const char *const keys[] = { "message", "detail", "error" };

    if (json_is(error, JSON_STRING))
        return error;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_is(json_get(error, keys[i]), JSON_STRING))
            return json_get(error, keys[i]);
    return NULL;
}

static void
set_message(struct llm_failure *f, const char *p, size_t n)
{
    struct buf shown = { 0 };

    while (n && isspace((unsigned char)p[n - 1]))
        n--;
    size_t kept = utf8_cut(p, n, EXCERPT);
    term_escape(&shown, p, kept, false);
    if (shown.len)
        snprintf(f->message, sizeof f->message, "%.*s%s",
                 (int)utf8_cut(shown.p, shown.len, sizeof f->message - 8), shown.p,
                 kept < n ? " …" : "");
    buf_release(&shown);
}

static void
add_words(struct buf *to, const struct json *v)
{
    size_t n = json_is(v, JSON_STRING) ? v->text.len : 0;

    for (size_t i = 0; i < n && i < WORD_MAX; i++)
        buf_addc(to, v->text.p[i] ? (char)tolower((unsigned char)v->text.p[i]) : ' ');
    buf_addc(to, ' ');
}

/* Google says {"retryDelay":"34s"} or "1.5s" in error.details. */
static int64_t
retry_delay(const struct json *error)
{
    json_each (d, json_get(error, "details")) {
        const struct json *v = json_get(d, "retryDelay");
        char text[16];
        if (!json_is(v, JSON_STRING) || v->text.len >= sizeof text)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)v->text.len, v->text.p);
        double s = strtod(text, NULL);
        if (s > 0 && s < 1e6)
            return (int64_t)(s * 1000);
    }
    return 0;
}

void
llm_failure_read(struct llm_failure *f, int status, const struct json *doc)
{
    const struct json *error = error_of(doc), *message = message_of(error);
    struct buf words = { 0 };
    int64_t code = status;

    if (!status) /* an event of a stream may have the status as its code */
        json_int(json_get(error, "code"), &code);
    *f = (struct llm_failure){ .status = status, .after_ms = retry_delay(error) };
    if (message)
        set_message(f, message->text.p, message->text.len);
    add_words(&words, json_get(error, "code"));
    add_words(&words, json_get(error, "type"));
    add_words(&words, json_get(error, "status"));
    add_words(&words, message);
    f->kind = kind_of(code >= 400 && code < 600 ? (int)code : 0, words.p ? words.p : "");
    buf_release(&words);
}

void
llm_failure_read_body(struct llm_failure *f, int status, const char *p, size_t n)
{
    struct arena a = { .max = (size_t)16 << 20 };
    struct json *doc = NULL;

    if (!json_parse_foreign(&a, p, n, &doc, NULL))
        doc = NULL;
    llm_failure_read(f, status, doc);
    if (!f->message[0] && n)
        set_message(f, p, n);
    arena_release(&a);
}
