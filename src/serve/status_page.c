#include "serve/status_page.h"

#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ROOM_LEAST = 4096 }; /* bytes of free space that a line needs at most, mostly */

/* Why no line can be written to the disk; NULL: it can, as far as can be told without a write. */
static const char *
disk_trouble(const struct serve *s)
{
    struct statvfs v;

    if (fstatvfs(s->log_dir, &v) != 0)
        return NULL;
    if (v.f_flag & ST_RDONLY)
        return "the disk is mounted read-only";
    fsblkcnt_t left = geteuid() == 0 ? v.f_bfree : v.f_bavail;
    return v.f_blocks && left * v.f_frsize < ROOM_LEAST ? "no space left on the disk" : NULL;
}

/* Adds members to an object that was just closed. */
static void
reopen(struct buf *to)
{
    if (to->len)
        buf_cut(to, to->len - 1);
}

void
status_page_health(const struct reply_to *to)
{
    struct serve *s = to->s;
    struct buf body = { 0 };
    bool is_ready = hub_is_ready(s->reader);
    const char *disk = s->news.is_stuck ? s->trouble : disk_trouble(s);
    const char *why = disk ? disk : s->trouble[0] ? s->trouble : is_ready ? NULL : HUB_NO_INDEX;

    s->wants_look = s->wants_look || (!is_ready && !s->trouble[0]);
    if (why) {
        reply_error_body(&body, to->route, "STORE_UNAVAILABLE", why, to->id);
        reopen(&body);
    } else {
        json_open(&body, '{');
    }
    json_key_str(&body, "status", why ? "unavailable" : "ok");
    json_key_int(&body, "sequence", (int64_t)hub_last_seq(s->reader));
    json_key(&body, "data");
    json_open(&body, '{');
    json_key(&body, "store");
    json_open(&body, '{');
    json_key_bool(&body, "writable", !disk);
    json_key_int(&body, "bad_lines", (int64_t)s->news.bad_lines);
    json_close(&body, '}');
    json_close(&body, '}');
    json_close(&body, '}');
    reply_send(to, why ? 503 : 200, NULL, &body);
    buf_release(&body);
}

static void
metric(struct buf *to, const char *name, const char *kind, const char *help, uint64_t value)
{
    buf_addf(to, "# HELP cliq_%s %s\n# TYPE cliq_%s %s\ncliq_%s %" PRIu64 "\n", name, help, name,
             kind, name, value);
}

void
status_page_metrics(struct serve *s, struct buf *to)
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
    metric(to, "claims_waiting", "gauge", "claims that wait for a task", s->claim_waiters.n);
    metric(to, "stream_clients", "gauge", "open streams", streams_count(s->streams));
    metric(to, "stream_dropped_total", "counter",
           "streams ended because their clients did not read", streams_dropped(s->streams));
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
                       { "dead_letter", hub.dead_letter },
                       { "expired", hub.expired } };
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            buf_addf(to, "cliq_signals_by_state{state=\"%s\"} %" PRIu64 "\n", states[i].name,
                     states[i].n);
        metric(to, "delayed_signals", "gauge", "signals that wait for their time", hub.delayed);
        metric(to, "subscriptions", "gauge", "subscriptions", hub.subscriptions);
        metric(to, "log_bytes", "gauge", "bytes of the log", hub.log_bytes);
        metric(to, "log_bad_lines", "gauge", "bad lines of the log, which are passed over",
               hub.bad_lines);
    }
}
