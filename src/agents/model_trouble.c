#define _GNU_SOURCE /* memrchr */
#include "agents/model_trouble.h"

#include "base/json.h"
#include "context/context.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WAIT_MS = 2000, WAIT_MAX_MS = 60 * 1000 };

/* Without regard to case; words are in lower case. */
static bool
says(const char *p, size_t n, const char *words)
{
    size_t len = strlen(words);

    for (size_t i = 0; i + len <= n; i++) {
        size_t k = 0;
        while (k < len && tolower((unsigned char)p[i + k]) == words[k])
            k++;
        if (k == len)
            return true;
    }
    return false;
}

static int64_t
status_in(const char *p, size_t n)
{
    static const struct {
        const char *words;
        int64_t status;
    } known[] = {
        { "401 unauthorized", 401 }, { "status 401", 401 },
        { "status: 401", 401 },      { "\"code\":401", 401 },
        { "status 403", 403 },       { "403 forbidden", 403 },
        { "status 429", 429 },       { "status: 429", 429 },
        { "\"code\":429", 429 },     { "429 too many requests", 429 },
        { "api error: 429", 429 },   { "api error: 401", 401 },
        { "status 500", 500 },       { "status: 500", 500 },
        { "\"code\":500", 500 },     { "status 400", 400 },
        { "status: 400", 400 },      { "\"code\":400", 400 },
        { "status 503", 503 },       { "status: 503", 503 },
        { "\"code\":503", 503 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (says(p, n, known[i].words))
            return known[i].status;
    return 0;
}

enum model_trouble
model_trouble_of(const char *p, size_t n, int64_t status)
{
    static const struct {
        const char *words;
        enum model_trouble trouble;
    } table[] = {
        { "no conversation found", TROUBLE_SESSION },
        { "session not found", TROUBLE_SESSION },
        { "invalid session identifier", TROUBLE_SESSION },
        { "no previous sessions", TROUBLE_SESSION },
        { "error resuming session", TROUBLE_SESSION },
        { "no rollout found", TROUBLE_SESSION },
        { "thread not found", TROUBLE_SESSION },
        { "prompt is too long", TROUBLE_CONTEXT },
        { "context length", TROUBLE_CONTEXT },
        { "context_length", TROUBLE_CONTEXT },
        { "context window", TROUBLE_CONTEXT },
        { "maximum context", TROUBLE_CONTEXT },
        { "input token count", TROUBLE_CONTEXT },
        { "insufficient_quota", TROUBLE_OTHER },
        { "credit balance", TROUBLE_OTHER },
        { "api key", TROUBLE_KEY },
        { "api_key", TROUBLE_KEY },
        { "api-key", TROUBLE_KEY },
        { "/login", TROUBLE_KEY },
        { "not logged in", TROUBLE_KEY },
        { "authentication", TROUBLE_KEY },
        { "auth method", TROUBLE_KEY },
        { "unauthenticated", TROUBLE_KEY },
        { "unauthorized", TROUBLE_KEY },
        { "rate limit", TROUBLE_RATE },
        { "rate_limit", TROUBLE_RATE },
        { "too many requests", TROUBLE_RATE },
        { "resource_exhausted", TROUBLE_RATE },
        { "usage limit", TROUBLE_RATE },
        { "exhausted your capacity", TROUBLE_RATE },
    };

    if (!status)
        status = status_in(p, n);
    if (status == 401 || status == 403)
        return TROUBLE_KEY;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (says(p, n, table[i].words))
            return table[i].trouble;
    return status == 429 ? TROUBLE_RATE : TROUBLE_OTHER;
}

static int64_t
code_of(const struct json *doc)
{
    int64_t code = 0;

    return json_int(json_path(doc, "error.code"), &code) && code > 0 ? code : 0;
}

/* Where an error holds the API's answer, "[API Error: {"error":{"code":401,"message":…}}]", its
 * words and code are taken. */
void
model_trouble_unwrap(struct arena *a, const char **p, size_t *n, int64_t *status)
{
    const char *begin = memchr(*p, '{', *n);
    const char *end = begin ? memrchr(begin, '}', *n - (size_t)(begin - *p)) : NULL;
    struct json *doc;

    if (!end || !json_parse_foreign(a, begin, (size_t)(end + 1 - begin), &doc, NULL))
        return;
    const struct json *words = json_path(doc, "error.message");
    if (!json_is(words, JSON_STRING) || !words->text.len)
        return;
    if (!*status)
        *status = code_of(doc);
    *p = words->text.p;
    *n = words->text.len;
}

void
model_trouble_advise(struct buf *to, enum model_trouble trouble, const struct model_advice *who)
{
    switch (trouble) {
    case TROUBLE_KEY:
        buf_adds(to, ": check the key");
        if (who->key_env)
            buf_addf(to, " (cliq settings agents.%s.api_key -, or %s in your environment)",
                     who->agent, who->key_env);
        buf_addf(to, ", or sign in: %s", who->sign_in);
        break;
    case TROUBLE_CONTEXT:
        buf_adds(to, ": what the phase is told is too long for the model: shorten the requirement "
                     "and documents, or choose a model with a larger context");
        break;
    case TROUBLE_RATE:
        buf_adds(to, ": the rate limit was reached");
        break;
    case TROUBLE_NONE:
    case TROUBLE_OTHER:
    case TROUBLE_SESSION:
        break;
    }
}

bool
model_trouble_wait(struct context *c, int64_t resets_s, int64_t *wait_ms, struct err *e)
{
    int64_t now_s = (int64_t)time(NULL), ms = *wait_ms ? *wait_ms : WAIT_MS;
    char when[32], text[512];
    struct err ignored, why = *e, late;

    *wait_ms = ms * 2 > WAIT_MAX_MS ? WAIT_MAX_MS : ms * 2;
    if (resets_s > now_s)
        ms = (resets_s - now_s + 1) * 1000;
    if (!context_may_wait(c, ms, &late)) {
        err_say(e, "%.600s; it can go on %.300s", why.text, late.text);
        return false;
    }
    time_t at = (time_t)(now_s + ms / 1000);
    struct tm tm;
    strftime(when, sizeof when, "%H:%M:%S", localtime_r(&at, &tm));
    snprintf(text, sizeof text, "rate limit: waits until %s, then asks again", when);
    context_progress(c, text, &ignored);
    printf("%s\n", text);
    fflush(stdout);
    poll(NULL, 0, ms > 1 << 30 ? 1 << 30 : (int)ms);
    return true;
}
