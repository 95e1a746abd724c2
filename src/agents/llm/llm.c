#include "agents/llm/llm.h"

#include "agents/agent_main.h"
#include "agents/model_agent.h"
#include "base/clock.h"
#include "net/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PROGRESS_MS = 1000,       /* between two progress lines */
    SHOWN_TIME = 16,          /* "14:03:20" */
    REQUEST_MS = 24 * 3600000 /* the phase's timeout ends a request earlier */
};

/* The asking of one phase. */
struct llm_asking {
    struct llm l;
    struct usage used; /* by all requests so far */
    unsigned repeats;  /* of the present question */
    unsigned limits;   /* in a row */
    int64_t waited_ms; /* for limits, of the present question */
    /* the request that goes on: */
    struct llm_stream in;
    struct llm_reply reply;
    size_t n_chars;
    int64_t began_ms, told_ms;
};

/* ---- what people read ---- */

static void note(struct llm_asking *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A progress line. A failure to write one ends nothing. */
static void
note(struct llm_asking *a, const char *fmt, ...)
{
    struct err line;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&line, fmt, ap);
    va_end(ap);
    llm_hide(&a->l, line.text, sizeof line.text);
    context_progress(a->l.c, line.text, NULL);
    a->told_ms = clock_mono_ms();
}

/* "1,240 characters" */
static const char *
characters(char to[40], size_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%zu", n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            to[at++] = ',';
        to[at++] = digits[i];
    }
    snprintf(to + at, 40 - (size_t)at, n == 1 ? " character" : " characters");
    return to;
}

static const char *
time_in(char to[SHOWN_TIME], int64_t ms)
{
    time_t at = (time_t)((clock_wall_ns() + ms * 1000000) / 1000000000);
    struct tm t;

    if (!localtime_r(&at, &t) || !strftime(to, SHOWN_TIME, "%H:%M:%S", &t))
        *to = '\0';
    return to;
}

/* ---- one request ---- */

/* Writes a piece of the answer to the attempt's log. */
static void
show_text(const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(STDOUT_FILENO, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return; /* the log is not the answer: the answer goes on */
        p += done;
        n -= (size_t)done;
    }
}

static void
tell_progress(struct llm_asking *a)
{
    char text[40];

    if (clock_mono_ms() - a->told_ms < PROGRESS_MS)
        return;
    if (a->n_chars)
        note(a, "%s …", characters(text, a->n_chars));
    else if (a->reply.n_thought)
        note(a, "thinking: %s …", characters(text, a->reply.n_thought));
}

/* Shows and counts the text that came after the first `before` bytes. */
static void
take_text(struct llm_asking *a, size_t before)
{
    const struct buf *text = &a->reply.text;

    if (text->len > before)
        show_text(text->p + before, text->len - before);
    for (size_t i = before; i < text->len; i++)
        a->n_chars += (text->p[i] & 0xC0) != 0x80;
}

static bool
take_piece(void *ctx, const char *p, size_t n)
{
    struct llm_asking *a = ctx;
    size_t before = a->reply.text.len;
    bool is_good = llm_stream_feed(&a->in, &a->reply, p, n);

    take_text(a, before);
    tell_progress(a);
    return is_good;
}

static enum status
send_request(struct llm_asking *a, struct fetch_response *r, struct err *e)
{
    struct fetch_header headers[LLM_HEADERS];
    struct buf url = { 0 }, body = { 0 };
    struct fetch_request q = { .timeout_ms = REQUEST_MS,
                               .tries = 1,
                               .proxy = a->l.proxy,
                               .idle_ms = a->l.silence_ms,
                               .on_body = take_piece,
                               .ctx = a };

    buf_adds(&url, a->l.base_url);
    a->l.api->path(&a->l, &url);
    a->l.api->body(&a->l, &body);
    enum status s = buf_status(&url, "the URL", e);
    if (!s)
        s = buf_status(&body, "the request", e);
    if (!s)
        s = llm_set_headers(&a->l, headers, &q, e);
    q.url = url.p;
    q.body = body.p;
    q.body_len = body.len;
    if (!s)
        s = fetch(&q, r, e);
    buf_release(&url);
    buf_release(&body);
    return s;
}

/* Adds what the request used, also of an answer that is of no use. */
static enum status
count_usage(struct llm_asking *a, struct err *e)
{
    struct llm *l = &a->l;
    const struct llm_reply *r = &a->reply;
    const struct json *prices = json_get(l->c->settings, "prices");
    struct usage u = { .input_tokens = r->input_tokens,
                       .output_tokens = r->output_tokens,
                       .cached_tokens = r->cached_tokens,
                       .written_tokens = r->written_tokens,
                       .turns = 1,
                       .duration_ms = clock_mono_ms() - a->began_ms };

    if (usage_is_zero(&u))
        return ST_OK;
    u.model = r->model[0] ? arena_dup(l->c->arena, r->model, strlen(r->model)) : l->model;
    const char *told = u.model;
    usage_price_request(&u, prices);
    u.model = l->model; /* the user may have priced the name that was asked for */
    usage_price_request(&u, prices);
    u.model = told;
    usage_add(&a->used, &u);
    struct buf line = { 0 };
    char text[40];
    buf_addf(&line, "%s: ", characters(text, a->n_chars));
    usage_show(&line, &a->used);
    enum status s = buf_failed(&line) ? ST_OK : context_usage(l->c, &a->used, line.p, e);
    buf_release(&line);
    return s;
}

/* ---- again, and how often ---- */

static void
sleep_ms(int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* Waits before the next try; false: there is none, and `e` says so. */
static bool
wait_for_server(struct llm_asking *a, const struct llm_failure *f, struct err *e)
{
    bool is_later = llm_failure_is_for_later(f);
    unsigned n = is_later ? ++a->limits : ++a->repeats;
    int64_t ms = f->after_ms ? f->after_ms : fetch_wait_ms(n, 0, 0, 0);
    char at[SHOWN_TIME];
    struct err why = *e, late;

    if (!is_later && n > LLM_REPEATS)
        return false;
    if (!context_may_wait(a->l.c, ms, &late)) {
        err_say(e, "%.600s, %.300s", why.text, late.text);
        return false;
    }
    if (ms > LLM_LATER_MS - a->waited_ms) {
        err_say(e, "%.800s, in %" PRId64 " minutes or more", why.text, ms / 60000);
        return false;
    }
    a->waited_ms += ms;
    note(a, "%.600s; asking again at %s", why.text, time_in(at, ms));
    sleep_ms(ms);
    return true;
}

/* An answer that ended in the middle; false: it is not asked for again. */
static bool
ask_again(struct llm_asking *a, const char *why, struct err *e)
{
    char text[40];

    characters(text, a->n_chars);
    if (++a->repeats > LLM_REPEATS && !a->n_chars) {
        err_say(e, "%s: no answer in %u tries: %.500s", a->l.api->agent, a->repeats, why);
        return false;
    }
    if (a->repeats > LLM_REPEATS) {
        err_say(e, "%s: the answer was cut %u times, the last time after %s: %.500s",
                a->l.api->agent, a->repeats, text, why);
        return false;
    }
    if (a->n_chars)
        note(a, "the answer was cut after %s: %.500s; asking again", text, why);
    else
        note(a, "%.500s; asking again", why);
    return true;
}

/* No response, or a broken one. */
static bool
reconnect(struct llm_asking *a, enum status s, struct err *e)
{
    struct llm_failure f = { .kind = LLM_SERVER_ERROR };
    struct err why = *e;

    if (s == ST_INVALID || s == ST_REFUSED)
        return false;
    err_say(e, "%s: %.600s: check the setting agents.%s.base_url%s%s", a->l.api->agent, why.text,
            a->l.api->agent, a->l.api->start ? ", or start the server: " : "",
            a->l.api->start ? a->l.api->start : "");
    return wait_for_server(a, &f, e);
}

/* ---- one question ---- */

static void
begin_request(struct llm_asking *a)
{
    a->in = (struct llm_stream){ .event = a->l.api->event, .is_lines = a->l.api->is_lines };
    a->reply = (struct llm_reply){ 0 };
    a->n_chars = 0;
    a->began_ms = clock_mono_ms();
}

static void
end_request(struct llm_asking *a)
{
    llm_stream_release(&a->in);
    llm_reply_release(&a->reply);
}

/* One request and its judgement. ST_OK with *is_again: ask once more. */
static enum status
ask_once(struct llm_asking *a, bool *is_again, struct err *e)
{
    struct fetch_response r = { 0 };
    struct llm_reply *reply = &a->reply;
    bool was_answered = false;
    enum status s = send_request(a, &r, e), failed = ST_FAILED;

    if (!s && r.status / 100 == 2) {
        size_t before = reply->text.len;
        llm_stream_end(&a->in, reply); /* a whole document is read here */
        take_text(a, before);
        was_answered = true;
    } else if (!s) {
        llm_failure_read_body(&reply->failure, r.status, r.body.p, r.body.len);
        reply->has_failed = true;
    }
    was_answered = was_answered || a->in.has_begun || s == ST_TIMEOUT;
    if (reply->has_failed && r.retry_after_s)
        reply->failure.after_ms = r.retry_after_s * 1000;
    fetch_response_release(&r);
    if (llm_reply_is_whole(reply)) {
        *is_again = false;
        return count_usage(a, e);
    }
    if (reply->has_failed) {
        failed = llm_explain(&a->l, &reply->failure, e);
        *is_again =
            llm_failure_is_temporary(&reply->failure) && wait_for_server(a, &reply->failure, e);
    } else if (reply->text.is_over) {
        err_say(e, "%s: the answer is too large", a->l.api->agent);
        *is_again = false;
    } else if (was_answered) {
        struct err why = *e;
        *is_again = ask_again(a,
                              reply->broken ? reply->broken
                              : s           ? why.text
                                            : "the stream ended",
                              e);
    } else {
        failed = s;
        *is_again = reconnect(a, s, e);
    }
    count_usage(a, NULL);
    return *is_again ? ST_OK : failed;
}

/* The answer is there; is it one to go on with? */
static enum status
judge(struct llm_asking *a, struct err *e)
{
    const struct llm_reply *r = &a->reply;
    const char *name = a->l.api->agent;
    char text[40];

    if (r->stop == LLM_LENGTH)
        return err_set(e, ST_FAILED,
                       "%s: the answer reached its limit after %s (%s): raise max_tokens of the "
                       "phase, or run `cliq settings agents.%s.max_tokens N`",
                       name, characters(text, a->n_chars), r->stop_word, name);
    if (r->stop == LLM_REFUSED)
        return err_set(e, ST_FAILED,
                       "%s: the model refused to answer%s%s%s: change the role or the requirement, "
                       "or choose another model",
                       name, r->stop_word[0] ? " (" : "", r->stop_word, r->stop_word[0] ? ")" : "");
    if (r->stop == LLM_ODD && !r->text.len)
        return err_set(e, ST_FAILED, "%s: the model stopped without an answer (%s)", name,
                       r->stop_word);
    if (r->stop == LLM_ODD)
        note(a, "the model stopped for a reason of its own (%s): the answer may not be complete",
             r->stop_word);
    return ST_OK;
}

static enum status
add_turn(struct llm *l, bool is_model, const char *text, size_t len, struct err *e)
{
    const char *kept = arena_dup(l->c->arena, len ? text : "", len);

    if (!kept)
        return err_nomem(e);
    l->turns[l->n_turns++] = (struct llm_turn){ is_model, kept, len };
    return ST_OK;
}

static enum status
ask(void *ctx, const char *prompt, struct buf *answer, struct err *e)
{
    struct llm_asking *a = ctx;
    bool is_again = true, is_first = a->l.n_turns == 0;
    char text[40];
    enum status s = add_turn(&a->l, false, prompt, strlen(prompt), e);

    a->repeats = a->limits = 0;
    a->waited_ms = 0;
    if (!s)
        note(a, "asking %s: %s", a->l.model, characters(text, a->l.system.len + strlen(prompt)));
    while (!s && is_again) {
        begin_request(a);
        s = ask_once(a, &is_again, e);
        if (!s && !is_again)
            s = judge(a, e);
        if (!s && !is_again) {
            buf_add(answer, a->reply.text.p, a->reply.text.len);
            show_text("\n", 1);
        }
        if (!s && !is_again && is_first) /* a gate may ask about it */
            s = add_turn(&a->l, true, a->reply.text.p, a->reply.text.len, e);
        if (is_again && a->n_chars)
            show_text("\n[asking again]\n", 16);
        end_request(a);
    }
    llm_hide(&a->l, e->text, sizeof e->text);
    return s;
}

/* ---- handlers ---- */

static const struct llm_api *serving; /* a process is one agent */

static enum status
work(struct context *c, struct err *e)
{
    struct llm_asking a = { 0 };
    struct llm *l = &a.l;
    enum status s = llm_open(l, c, serving, e);

    if (!s)
        s = llm_choose_model(l, e);
    if (!s)
        s = model_agent_work(
            c, &(struct model_driver){ .ask = ask, .ctx = &a, .system = &a.l.system }, e);
    llm_close(l);
    return s;
}

static enum status
test(struct context *c, struct buf *says, struct err *e)
{
    return llm_test(c, serving, says, e);
}

enum status
llm_serve(const struct llm_api *api, struct err *e)
{
    serving = api;
    return agent_serve(&(struct agent_handlers){ .phase = work, .test = test }, e);
}
