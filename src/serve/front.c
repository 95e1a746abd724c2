/* front - requests in, answers out. */
#include "serve/lull.h"
#include "serve/serve_impl.h"

#include "base/clock.h"
#include "base/sys.h"
#include "net/query.h"
#include "serve/ask.h"
#include "serve/openapi.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    GATHERING_MS = 1,
    FEW_STREAMS =
        16,        /* to tell more takes longer than wake-ups, and what comes meanwhile gathers */
    SETTLE_MS = 1, /* who was answered may ask again at once */
    EARLY = 24, /* requests that a worker without work gets before the loop has read the others */
    BODY_ROOM = 1000, /* for most answers */
};

#define JSON_HEADERS "Content-Type: application/json\r\nCache-Control: no-store\r\n"

/* ---- answers ---- */

/* A line of the access log. Never the query or a header: keys stand there. */
static void
log_access(struct serve *s, const char *request_id, const struct http_conn *c,
           struct http_text method, struct http_text path, int status)
{
    char peer[HTTP_PEER_SIZE], now[CLOCK_ISO_SIZE];
    struct buf line = { 0 };

    buf_addf(&line, "%s %s %s %.*s %.*s %d\n", clock_iso(now, clock_wall_ns(), 1), request_id,
             http_conn_peer(c, peer), (int)method.len, method.p, (int)path.len, path.p, status);
    if (!buf_failed(&line))
        outlet_write(&s->access, line.p, line.len);
    buf_release(&line);
    if (s->access.error && !s->is_access_told)
        fprintf(stderr, "cliq: warning: the access log cannot be written: %s\n",
                strerror(s->access.error));
    s->is_access_told = s->access.error != 0;
}

static void
count(struct serve *s, int status)
{
    s->answers[status / 100 < 6 ? status / 100 : 5]++;
    s->limited += status == 429;
}

static void
note(struct serve *s, const struct http_request *r, struct http_conn *c, int status,
     const char *request_id)
{
    count(s, status);
    if (s->has_access)
        log_access(s, request_id, c, http_text(r, r->method_name), http_path(r), status);
}

#define ANSWER_HEADERS JSON_HEADERS "X-Request-Id: %s\r\n" /* the request's id */

static void
answer(struct http_conn *c, int status, const char *request_id, const char *more,
       const struct buf *body)
{
    char headers[512];

    snprintf(headers, sizeof headers, ANSWER_HEADERS "%s", request_id, more ? more : "");
    http_answer(c, status, headers, body->p, body->len);
}

static void
refuse(struct serve *s, struct http_conn *c, const struct http_request *r,
       const struct route *route, int status, const char *code, const char *message,
       const char *request_id, const char *more)
{
    struct buf body = { 0 };

    note(s, r, c, status, request_id);
    envelope_refuse(&body, route, code, message, request_id);
    answer(c, status, request_id, more, &body);
    buf_release(&body);
}

/* "1f0c62e4-2a": of this server, and a number. */
static void
next_id(struct serve *s, char id[REQUEST_ID_SIZE])
{
    char digits[16], *p = digits + sizeof digits;
    uint64_t n = ++s->n_ids;

    do
        *--p = "0123456789abcdef"[n % 16];
    while (n /= 16);
    size_t len = strlen(s->id_prefix), n_digits = (size_t)(digits + sizeof digits - p);
    memcpy(id, s->id_prefix, len);
    id[len] = '-';
    memcpy(id + len + 1, p, n_digits);
    id[len + 1 + n_digits] = '\0';
}

/* When what was asked for is not known, or not to be believed: a dash each in the access log. */
void
front_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
            const char *reason, struct buf *headers, struct buf *body)
{
    static const struct http_text unknown = { "-", 1 };
    struct serve *s = ctx;
    char id[REQUEST_ID_SIZE];

    count(s, status);
    next_id(s, id);
    if (s->has_access)
        log_access(s, id, c, r ? http_text(r, r->method_name) : unknown, r ? http_path(r) : unknown,
                   status);
    buf_addf(headers, ANSWER_HEADERS, id);
    envelope_refuse(body, NULL,
                    status == 413   ? "BODY_TOO_LARGE"
                    : status == 503 ? "SERVER_BUSY"
                                    : "HTTP_MALFORMED",
                    reason, id);
}

/* ---- jobs ---- */

static void
job_free(struct job *j)
{
    arena_release(&j->arena);
    free(j);
}

static void
job_answer(struct job *j, const struct hub_reply *reply)
{
    struct buf body = { 0 };

    buf_room(&body, BODY_ROOM);
    envelope_write(&body, &j->route, reply, j->request_id);
    count(j->s, reply->status);
    if (j->method && j->path)
        log_access(j->s, j->request_id, j->conn, (struct http_text){ j->method, strlen(j->method) },
                   (struct http_text){ j->path, strlen(j->path) }, reply->status);
    answer(j->conn, reply->status, j->request_id,
           reply->status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL, &body);
    buf_release(&body);
    job_free(j);
}

static void
job_refuse(struct job *j)
{
    job_answer(
        j, &(struct hub_reply){ .status = 401, .code = "AUTH_REQUIRED", .message = SERVE_NO_KEY });
}

static void
unpark(struct job *j)
{
    for (struct job **at = &j->s->parked; *at; at = &(*at)->next) {
        if (*at == j) {
            *at = j->next;
            return;
        }
    }
}

static bool
is_parked(const struct job *j)
{
    for (const struct job *p = j->s->parked; p; p = p->next)
        if (p == j)
            return true;
    return false;
}

static void
on_news(void *ctx, struct http_conn *c, enum http_news news)
{
    struct job *j = ctx;
    bool is_waiting = is_parked(j);

    (void)c;
    if (news == HTTP_GONE)
        j->is_gone = true;
    if (!is_waiting || news == HTTP_DRAINED)
        return; /* the worker has it: its answer comes */
    unpark(j);
    job_answer(j, &(struct hub_reply){ .status = 200 });
}

/* Adds a request to the round that is gathering; false: no memory, or it is full. */
static bool
gather(struct serve *s, const struct hub_request *request, struct job *who)
{
    struct round *r = s->round ? s->round : round_new(s->worker);

    s->round = r;
    if (!r || r->n == ROUND_MAX)
        return false;
    who->hopes = s->news.hopes; /* or more: it is tried in vain, but never too seldom */
    r->who[r->n] = who;
    r->requests[r->n] = *request;
    r->n++;
    return true;
}

/* ---- claims that wait ---- */

static void
on_wake(void *ctx)
{
    struct serve *s = ctx;
    int64_t now = clock_mono_ms(), next = INT64_MAX;

    loop_drop(s->wake);
    s->wake = NULL;
    for (struct job *j = s->parked, *after; j; j = after) {
        after = j->next;
        if (j->wait_until_ms <= now) {
            unpark(j);
            job_answer(j, &(struct hub_reply){ .status = 200 });
        } else if (j->wait_until_ms < next) {
            next = j->wait_until_ms;
        }
    }
    if (s->parked)
        s->wake = loop_after(s->loop, (uint64_t)(next - now), on_wake, s, NULL);
}

static void
park(struct job *j)
{
    j->next = j->s->parked;
    j->s->parked = j;
    loop_drop(j->s->wake);
    j->s->wake = NULL;
    on_wake(j->s);
}

/* Something may be there to claim now. */
static void
try_parked(struct serve *s)
{
    for (struct job *j = s->parked, *next; j; j = next) {
        next = j->next;
        if (j->hopes == s->news.hopes)
            continue; /* what was written since it was tried is not for it */
        if (!gather(s, &j->request, j))
            return;
        unpark(j);
    }
}

static bool
is_null(const struct hub_reply *reply)
{
    return !reply->data && !reply->text;
}

/* The client went away before it heard that it has the claim: it does not. */
static void
give_back(struct job *j, const struct hub_reply *reply)
{
    struct job *release = calloc(1, sizeof *release);
    struct json *args;

    if (!release || j->route.op != HUB_CLAIM || reply->status >= 300 || is_null(reply)) {
        free(release);
        return;
    }
    release->s = j->s;
    args = json_new(&release->arena, JSON_OBJECT);
    const struct json *data = hub_reply_data(reply, &release->arena);
    static const char *const keys[][2] = { { "id", "signal_id" }, { "claim_id", "claim_id" } };
    for (size_t i = 0; args && i < 2; i++) {
        const struct json *v = json_get(data, keys[i][0]);
        char *text =
            json_is(v, JSON_STRING) ? arena_dup(&release->arena, v->text.p, v->text.len) : NULL;
        if (text)
            json_set(args, keys[i][1], json_new_str(&release->arena, text, v->text.len));
    }
    release->request =
        (struct hub_request){ .op = HUB_RELEASE,
                              .identity = arena_dup(&release->arena, j->request.identity,
                                                    strlen(j->request.identity)),
                              .is_admin = j->request.is_admin,
                              .args = args };
    if (!args || !release->request.identity || !gather(j->s, &release->request, release))
        job_free(release); /* its lease runs out */
}

void
front_woken(struct serve *s, const char *identity, uint64_t upto)
{
    struct job *j = calloc(1, sizeof *j);
    struct buf text = { 0 };
    struct json *args = NULL;

    buf_addf(&text, "{\"identity\":\"%s\",\"upto\":%" PRIu64 "}", identity, upto);
    char *kept = j && !buf_failed(&text) ? arena_dup(&j->arena, text.p, text.len) : NULL;
    buf_release(&text);
    if (kept)
        json_parse(&j->arena, kept, strlen(kept), &args, NULL);
    if (args) {
        j->s = s;
        j->request = (struct hub_request){
            .op = HUB_WOKEN, .identity = "cliq", .is_admin = true, .is_system = true, .args = args
        };
    }
    if (j && (!args || !gather(s, &j->request, j)))
        job_free(j); /* it is told again, then */
}

static void
answer_round(struct serve *s, const struct round *r)
{
    for (size_t i = 0; i < r->n; i++) {
        struct job *j = r->who[i];
        const struct hub_reply *reply = &r->replies[i];
        if (!j->conn) {
            job_free(j); /* a release of our own */
        } else if (j->is_gone) {
            give_back(j, reply);
            job_answer(j, reply);
        } else if (reply->status < 300 && is_null(reply) && j->wait_until_ms > clock_mono_ms() &&
                   !s->is_stopping) {
            if (revoked_has(&s->revoked, j->key))
                job_refuse(j);
            else
                park(j);
        } else {
            job_answer(j, reply);
        }
    }
}

/* ---- keys that are none any more ---- */

/* Out of the round that is gathering: its key was good when it was read, and is not now. */
static void
refuse_gathered(struct serve *s, const char *key)
{
    struct round *r = s->round;
    size_t n = 0;

    for (size_t i = 0; r && i < r->n; i++) {
        struct job *j = r->who[i];
        if (j->conn && strcmp(j->key, key) == 0) {
            job_refuse(j);
        } else {
            r->who[n] = j;
            r->requests[n++] = r->requests[i];
        }
    }
    if (r)
        r->n = n;
}

/* A round that begins now folds it; one that is under way may not. */
static void
on_revoked(void *ctx, const char *id)
{
    struct serve *s = ctx;

    if (!*id)
        return; /* a line that is none of ours: "" is whoever came without a key */
    refuse_gathered(s, id);
    for (size_t i = 0; i < SERVE_KEYS; i++)
        if (strcmp(s->keys[i].id, id) == 0)
            s->keys[i] = (struct known_key){ 0 };
    for (size_t i = 0; i < SERVE_TICKETS; i++)
        if (strcmp(s->tickets[i].key, id) == 0)
            s->tickets[i] = (struct ticket){ 0 };
    streams_revoke(s->streams, id);
    for (struct job *j = s->parked, *next; j; j = next) {
        next = j->next;
        if (strcmp(j->key, id) == 0) {
            unpark(j);
            job_refuse(j);
        }
    }
    s->revoked_until = s->news.commits + 2;
    s->wants_look = true;
}

/* Whoever did it. */
void
front_look_for_revoked(struct serve *s)
{
    revoked_look(&s->revoked, on_revoked, s);
}

/* ---- rounds ---- */

/* What is new concerns keys that are remembered, and whoever looks after the server: its clients
 * see trouble at /health. */
static void
heed_news(struct serve *s, const struct worker_news *before)
{
    const struct worker_news *now = &s->news;

    if (now->key_changes != before->key_changes)
        memset(s->keys, 0, SERVE_KEYS * sizeof *s->keys);
    if (now->trouble[0] && !before->trouble[0])
        fprintf(stderr, "cliq: the store cannot be written: %s\n", now->trouble);
    else if (!now->trouble[0] && before->trouble[0])
        fprintf(stderr, "cliq: the store can be written again\n");
}

static void on_settle(void *ctx);

/* After rounds that the loop did itself. */
static void
settle(struct serve *s, bool awaits)
{
    if (s->settle && !awaits)
        return;
    if (!worker_settle(s->worker, awaits) && !s->settle)
        s->settle = loop_after(s->loop, SETTLE_MS, on_settle, s, NULL);
    if (!s->settle)
        worker_settle(s->worker, true); /* or no memory */
}

static void
on_settle(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->settle);
    s->settle = NULL;
    settle(s, false);
}

static void
on_gather(void *ctx)
{
    struct serve *s = ctx;

    loop_drop(s->gathering);
    s->gathering = NULL;
    front_round(s);
}

/* Sleeps until more is there for the loop to read; it comes back with that. False: do it now. */
static bool
gather_more(struct serve *s)
{
    int64_t now = clock_mono_ns();

    if (!gather_waits(&s->gather, s->round->n, now))
        return false;
    if (!s->gathering) /* if what is there is no request */
        s->gathering = loop_after(s->loop, GATHERING_MS, on_gather, s, NULL);
    return s->gathering && loop_nap(s->loop, gather_left_ns(&s->gather, now));
}

/* Few requests, and nobody before them. */
static bool
do_at_once(struct serve *s, bool awaits)
{
    struct worker_news before = s->news;
    struct round *r = s->round;

    if (streams_count(s->streams) > FEW_STREAMS || !worker_is_idle(s->worker) ||
        !worker_may_do(s->worker, r))
        return false;
    if (gather_more(s))
        return true;
    if (!worker_do(s->worker, r, &s->news))
        return false;
    heed_news(s, &before);
    s->round = NULL;
    streams_written(s->streams, s->news.written);
    answer_round(s, r);
    gather_answered(&s->gather, r->n, clock_mono_ns());
    round_free(s->worker, r);
    settle(s, awaits);
    return true;
}

/* Does somebody wait for the commit? */
static bool
is_awaited(const struct serve *s)
{
    return s->parked || streams_count(s->streams) > 0;
}

static void
give(struct serve *s)
{
    if (!s->round && s->wants_look && worker_is_idle(s->worker)) {
        s->round = round_new(s->worker);
        s->wants_look = false;
    }
    if (!s->round || (is_awaited(s) && !worker_is_idle(s->worker)))
        return; /* who listens is told of a whole round in one write: few large ones are better */
    if (s->round->n > 0) {
        front_look_for_revoked(s); /* for all who were let in since the last round */
        lull_begin(s);
    }
    s->round->is_awaited = is_awaited(s);
    if (do_at_once(s, is_awaited(s)))
        return;
    if (worker_give(s->worker, s->round))
        s->round = NULL;
}

void
front_round(void *ctx)
{
    give(ctx);
}

void
front_lost(void *ctx)
{
    struct serve *s = ctx;

    s->wants_look = true; /* the worker makes it */
    give(s);
}

/* Is the log longer than after our last round? The index beside it changes, too. */
static bool
has_grown(const struct serve *s)
{
    struct stat st;

    return sys->fstatat(s->log_dir, "events.jsonl", &st, AT_SYMLINK_NOFOLLOW) != 0 ||
           st.st_size != s->news.log_end;
}

void
front_changed(void *ctx)
{
    struct serve *s = ctx;

    watch_drain(&s->watch);
    front_look_for_revoked(s);
    if (!worker_is_idle(s->worker))
        s->wants_check = true; /* it may be us */
    else if (has_grown(s))
        s->wants_look = true;
    give(s);
}

void
front_done(void *ctx)
{
    struct serve *s = ctx;
    struct worker_news before = s->news;
    struct round *next, *done = worker_take(s->worker, &s->news);
    bool is_look = false;

    heed_news(s, &before);
    front_look_for_revoked(s); /* before streams are told what came after that */
    streams_written(s->streams, s->news.written);
    for (struct round *r = done; r; r = next) {
        next = r->next;
        r->next = NULL;
        is_look = is_look || r->n == 0;
        answer_round(s, r);
        round_free(s->worker, r);
    }
    if (s->revoked.first && s->news.commits >= s->revoked_until && s->news.log_end >= s->revoked.at)
        revoked_forget(&s->revoked);
    /* Something new in the index, or somebody asked for a look. */
    if (s->news.commits != before.commits && (s->news.last_seq != s->looked_at || is_look)) {
        /* What could not be written into the index yet is looked for again. */
        s->looked_at = s->news.trouble[0] ? 0 : s->news.last_seq;
        streams_look(s->streams);
        try_parked(s);
        lull_news(s);
    }
    if (s->wants_check && has_grown(s))
        s->wants_look = true;
    s->wants_check = false;
    give(s);
}

/* ---- requests ---- */

static struct gate_text
gate_text(struct http_text t)
{
    return (struct gate_text){ t.p, t.len };
}

static struct gate_request
ask_gate(const struct http_request *r, struct http_conn *c, const struct query *q)
{
    const char *token = query_get(q, "token"), *ticket = query_get(q, "ticket");

    return (struct gate_request){
        .host = gate_text(r->is_absolute ? http_text(r, r->authority) : http_header(r, "Host")),
        .origin = gate_text(http_header(r, "Origin")),
        .fetch_site = gate_text(http_header(r, "Sec-Fetch-Site")),
        .authorization = gate_text(http_header(r, "Authorization")),
        .content_type = gate_text(http_header(r, "Content-Type")),
        .encoding = gate_text(http_header(r, "Content-Encoding")),
        .token = { token, token ? strlen(token) : 0 },
        .ticket = { ticket, ticket ? strlen(ticket) : 0 },
        .is_local = http_conn_is_unix(c),
        .has_body = r->body.len > 0,
        .is_get = r->method == METHOD_GET || r->method == METHOD_HEAD,
    };
}

/* Whom the request is from; false: refused and answered. */
static bool
admit(struct serve *s, struct http_conn *c, const struct http_request *r, const struct route *route,
      const struct query *q, struct arena *a, const char *request_id, struct caller *by)
{
    struct gate_request asked = ask_gate(r, c, q);
    struct gate_verdict v;
    struct ticket *ticket = NULL;
    int64_t now = clock_mono_ms(), wait_ms = 0;
    char retry[40] = "";

    *by = (struct caller){ .identity = "", .key = "" };
    gate_check(&s->rules, route, &asked, &v);
    if (v.status == 200 && v.ticket.p)
        ticket = caller_by_ticket(s, &v, by);
    else if (v.status == 200 && v.key.p)
        caller_by_key(s, route, a, &v, by);
    if (!rate_take(&s->rate, rates_find(&s->rates, &s->rate, by->who, now), now, &wait_ms)) {
        v.status = 429;
        v.code = "RATE_LIMITED";
        v.message = by->who ? "this key asks too often; wait as long as Retry-After says"
                            : "too many requests without a known key; wait as long as Retry-After "
                              "says";
        snprintf(retry, sizeof retry, "Retry-After: %" PRId64 "\r\n", (wait_ms + 999) / 1000);
    }
    if (v.status == 200) {
        if (ticket)
            ticket->text[0] = '\0';
        return true;
    }
    refuse(s, c, r, route, v.status, v.code, v.message, request_id,
           v.status == 401   ? "WWW-Authenticate: Bearer\r\n"
           : v.status == 503 ? "Retry-After: 1\r\n"
                             : retry);
    return false;
}

bool
front_is_gathered(const struct route *route)
{
    return route->kind == ROUTE_OP && route->op != HUB_GET;
}

/* One signal by its id: nobody has to wait for that, unless the index is behind. */
static bool
answer_at_once(struct job *j)
{
    struct hub_reply reply;

    if (!j->request.identity || !hub_try_read(j->s->reader, &j->request, &j->arena, &reply))
        return false;
    job_answer(j, &reply);
    return true;
}

/* The request as a job; NULL: refused and answered. */
static struct job *
make_job(struct serve *s, struct http_conn *c, const struct http_request *r,
         const struct route *route, const struct caller *by, const char request_id[REQUEST_ID_SIZE])
{
    struct job *j = calloc(1, sizeof *j);
    struct http_text key = http_header(r, "Idempotency-Key"), query = http_query(r);
    struct json *args = NULL;
    struct err e;
    int64_t wait_s = 0;

    if (!j) {
        refuse(s, c, r, route, 503, "STORE_UNAVAILABLE", "out of memory", request_id, NULL);
        return NULL;
    }
    *j = (struct job){ .s = s, .conn = c, .route = *route };
    memcpy(j->request_id, request_id, sizeof j->request_id);
    snprintf(j->key, sizeof j->key, "%s", by->key);
    const char *body = arena_dup(&j->arena, r->body.p ? r->body.p : "", r->body.len);
    enum status st = body ? ask_args(&j->arena, route, (struct ask_text){ query.p, query.len },
                                     (struct ask_text){ body, r->body.len }, &args, &e)
                          : err_set(&e, ST_IO, "out of memory");
    if (st) {
        refuse(s, c, r, route, st == ST_INVALID ? 400 : 503,
               st == ST_INVALID ? "VALIDATION_INVALID_TYPE" : "STORE_UNAVAILABLE", e.text,
               request_id, NULL);
        job_free(j);
        return NULL;
    }
    j->request = (struct hub_request){
        .op = route->op,
        .identity = arena_dup(&j->arena, by->identity, strlen(by->identity)),
        .is_admin = by->is_admin,
        .args = args,
        .dedup_key = key.p ? arena_dup(&j->arena, key.p, key.len) : NULL,
        .wants_text = true,
    };
    if (route->op == HUB_CLAIM && json_int(json_get(args, "wait_seconds"), &wait_s) && wait_s > 0 &&
        wait_s <= HUB_WAIT_MAX_S)
        j->wait_until_ms = clock_mono_ms() + wait_s * 1000;
    if (s->has_access) { /* its line is written with its answer */
        struct http_text method = http_text(r, r->method_name), path = http_path(r);
        j->method = arena_dup(&j->arena, method.p, method.len);
        j->path = arena_dup(&j->arena, path.p, path.len);
    }
    return j;
}

/* Clients that were answered together ask again together: then the worker would have nothing to do
 * until the loop has read them all, and the loop nothing until the worker has written them all. */
static void
give_early(struct serve *s)
{
    if (s->round && s->round->n >= EARLY && worker_is_idle(s->worker) && !is_awaited(s))
        give(s);
}

/* The round keeps the job, or it is freed here; gcc 12's analyser loses sight of it. */
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif
static void
hand_over(struct serve *s, struct http_conn *c, const struct http_request *r,
          const struct route *route, const struct caller *by, const char *request_id)
{
    struct job *j = make_job(s, c, r, route, by, request_id);

    if (!j || (!front_is_gathered(route) && answer_at_once(j)))
        return;
    if (route->op == HUB_CLAIM)
        http_watch(c, on_news, j);
    if (j->request.identity && gather(s, &j->request, j)) {
        give_early(s);
        return;
    }
    refuse(s, c, r, route, 503, "STORE_UNAVAILABLE", "too many requests at once; try again",
           request_id, "Retry-After: 1\r\n");
    job_free(j);
}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

static void
begin_stream(struct serve *s, struct http_conn *c, const struct http_request *r,
             const struct route *route, const struct caller *by, struct arena *a,
             const char *request_id)
{
    struct http_text query = http_query(r), last = http_header(r, "Last-Event-ID");
    struct json *args;
    struct err e;
    int status = 400;
    const char *code = "VALIDATION_INVALID_TYPE";

    if (ask_args(a, route, (struct ask_text){ query.p, query.len }, (struct ask_text){ 0 }, &args,
                 &e) != ST_OK ||
        !streams_add(s->streams, c, &(struct stream_caller){ by->identity, by->key, by->is_admin },
                     args, a, last.p ? arena_dup(a, last.p, last.len) : NULL,
                     route->kind == ROUTE_ENGINE_EVENTS, request_id, &status, &code, &e))
        refuse(s, c, r, route, status, code, e.text, request_id, NULL);
    else
        note(s, r, c, 200, request_id);
}

static void
answer_own(struct serve *s, struct http_conn *c, const struct http_request *r,
           const struct route *route, const struct caller *by, const char *request_id)
{
    struct buf body = { 0 };
    struct ticket *t;
    const char *type = JSON_HEADERS;
    char headers[200];

    switch ((int)route->kind) {
    case ROUTE_HOME:
        type = "Content-Type: text/plain; charset=utf-8\r\n";
        buf_adds(&body, page_home);
        break;
    case ROUTE_HEALTH:
        if (s->news.trouble[0] || !hub_is_ready(s->reader)) {
            s->wants_look = s->wants_look || !s->news.trouble[0];
            refuse(s, c, r, route, 503, "STORE_UNAVAILABLE",
                   s->news.trouble[0] ? s->news.trouble : HUB_NO_INDEX, request_id, NULL);
            return;
        }
        page_health(s, &body);
        break;
    case ROUTE_METRICS:
        type = "Content-Type: text/plain; version=0.0.4\r\nCache-Control: no-store\r\n";
        page_metrics(s, &body);
        break;
    case ROUTE_OPENAPI:
        openapi_write(&body);
        break;
    case ROUTE_TICKET:
        if (!caller_make_ticket(s, by, &t)) {
            refuse(s, c, r, route, 503, "STORE_UNAVAILABLE", "no ticket can be made now",
                   request_id, NULL);
            return;
        }
        buf_addf(&body,
                 "{\"data\":{\"ticket\":\"%s\",\"expires_in\":%d},\"meta\":{\"request_id\":"
                 "\"%s\"}}",
                 t->text, TICKET_MS / 1000, request_id);
        break;
    }
    note(s, r, c, 200, request_id);
    snprintf(headers, sizeof headers, "%sX-Request-Id: %s\r\n", type, request_id);
    http_answer(c, 200, headers, body.p, body.len);
    buf_release(&body);
}

void
front_request(void *ctx, struct http_conn *c, const struct http_request *r)
{
    struct serve *s = ctx;
    struct arena a = { 0 };
    struct http_text method = http_text(r, r->method_name), path = http_path(r),
                     query = http_query(r);
    struct query q = { 0 };
    struct route route;
    struct err e;
    struct caller by;
    char allow[64], header[96], id[REQUEST_ID_SIZE] = "";

    next_id(s, id);
    int found = route_find(method.p, method.len, path.p, path.len, &route, allow);
    if (query_parse(&q, &a, query.p ? query.p : "", query.len, &e) != ST_OK) {
        refuse(s, c, r, found == 200 ? &route : NULL, 400, "VALIDATION_INVALID_TYPE", e.text, id,
               NULL);
    } else if (found != 200) {
        /* the gate comes first here too: strangers learn nothing */
        struct route none = { .kind = ROUTE_HEALTH, .scope = SCOPE_NONE };
        if (admit(s, c, r, &none, &q, &a, id, &by)) {
            snprintf(header, sizeof header, "Allow: %s\r\n", allow);
            refuse(s, c, r, NULL, found, found == 404 ? "ROUTE_NOT_FOUND" : "METHOD_NOT_ALLOWED",
                   found == 404 ? "there is nothing at this path; see /openapi.json"
                                : "this path does not take that method; see Allow",
                   id, found == 405 ? header : NULL);
        }
    } else if (admit(s, c, r, &route, &q, &a, id, &by)) {
        if (route.kind == ROUTE_TICKET && ask_no_query(&q, &e))
            refuse(s, c, r, &route, 400, "VALIDATION_INVALID_TYPE", e.text, id, NULL);
        else if (route.kind == ROUTE_OP)
            hand_over(s, c, r, &route, &by, id);
        else if (route.kind == ROUTE_STREAM || route.kind == ROUTE_ENGINE_EVENTS)
            begin_stream(s, c, r, &route, &by, &a, id);
        else
            answer_own(s, c, r, &route, &by, id);
    }
    arena_release(&a);
}

void
front_free(struct serve *s)
{
    loop_drop(s->wake);
    loop_drop(s->settle);
    loop_drop(s->gathering);
    while (s->parked) {
        struct job *j = s->parked;
        unpark(j);
        job_free(j);
    }
    for (size_t i = 0; s->round && i < s->round->n; i++)
        job_free(s->round->who[i]);
    round_free(s->worker, s->round);
}
