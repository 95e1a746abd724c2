/*
 * datadog - Datadog: metrics, logs, monitors and events, read and sent.
 *
 *     sources:        - { name: cpu.json, ref: "avg:system.cpu.user{*}", from: 4h }
 *                     - { name: errors.json, ref: "service:web status:error", action: search_logs }
 *                     - { name: monitors.json, action: list_monitors }
 *     target_entries: - { name: log, file: files/build/log.txt, service: build, tags: "env:ci" }
 *                     - { name: deploys, action: send_metrics, metric: deploys, value: 1 }
 *                     - { name: done, action: send_event, title: Deployed, file: summary.md }
 *
 * Logs: a file that is a JSON array is sent as it is, of any other file each line becomes a log.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "base/clock.h"
#include "base/opt.h"
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOGS_MAX = 1000, /* Datadog's limits of a request */
    LOGS_BYTES = 4 << 20,
};

/* The address of the log intake, which is another host than the API; base_url stands for both. */
static const char *
intake(const struct connection *x)
{
    return x->own;
}

static enum status
open_datadog(struct connection *x, struct err *e)
{
    const char *key = connection_setting_or(x, "api_key", "DD_API_KEY"),
               *app = connection_setting_or(x, "app_key", "DD_APP_KEY"),
               *site = connection_setting_or(x, "site", "DD_SITE");

    if (!key)
        return err_set(e, ST_INVALID,
                       "the agent datadog needs the setting agents.datadog.api_key, or DD_API_KEY "
                       "in the environment");
    site = site ? site : "datadoghq.com";
    const char *api = connection_text(x, "https://api.%s", site),
               *logs = connection_text(x, "https://http-intake.logs.%s", site);
    if (!api || !logs)
        return err_nomem(e);
    enum status s = connection_set_base(x, api, e);
    if (!s)
        s = connection_set_header(x, "DD-API-KEY", key, e);
    if (!s && app)
        s = connection_set_header(x, "DD-APPLICATION-KEY", app, e);
    x->own = (void *)(connection_setting(x, "base_url") ? x->base_url : logs);
    return s;
}

/* The start of the time asked for, in seconds: `from` is how long ago, an hour if not given. */
static enum status
begin_of(struct connection *x, const struct transfer *n, int64_t *begin, int64_t *now,
         struct err *e)
{
    const char *from = transfer_member(x->c, n, "from");
    int64_t ms = 3600000;

    if (from && (!opt_parse_ms(from, &ms) || ms < 1000))
        return transfer_wrong(n, "its from must be how long ago, like 15m or 4h", e);
    *now = clock_wall_ns() / 1000000000;
    *begin = *now - ms / 1000;
    return ST_OK;
}

/* ---- sources ---- */

static enum status
query_metrics(struct connection *x, const struct transfer *n, struct err *e)
{
    const struct json *doc = NULL, *series;
    int64_t begin = 0, now = 0;
    enum status s = begin_of(x, n, &begin, &now, e);

    if (s)
        return s;
    const char *at =
        connection_text(x, "/api/v1/query?from=%jd&to=%jd&query=", (intmax_t)begin, (intmax_t)now);
    s = connection_get(x, URL(x, at, n->ref), &doc, e);
    if (s)
        return s;
    const char *error = json_dup_text(x->c->arena, json_get(doc, "error"));
    if (error && *error)
        return err_set(e, ST_FAILED, "Datadog refused the query: %.300s", error);
    series = json_get(doc, "series");
    record_int(x, "count", json_is(series, JSON_ARRAY) ? (int64_t)series->kids.count : 0);
    return connection_keep_json(x, doc, e);
}

static enum status
search_logs(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "data",
                                       .next = "meta.page.after",
                                       .parameter = "page.cursor" };
    struct buf body = { 0 };
    struct connection_request q = { .url = URL(x, "/api/v2/logs/events/search"),
                                    .body = &body,
                                    .is_repeatable = true };
    int64_t begin = 0, now = 0;
    enum status s = begin_of(x, n, &begin, &now, e);

    if (s)
        return s;
    buf_adds(&body, "{\"filter\":{");
    json_key_str(&body, "query", n->ref);
    buf_addf(&body, ",\"from\":\"%jd\",\"to\":\"%jd\"}", (intmax_t)begin * 1000,
             (intmax_t)now * 1000);
    buf_adds(&body, ",\"sort\":\"timestamp\",\"page\":{\"limit\":1000}}");
    s = buf_status(&body, "the search", e);
    if (!s)
        s = connection_keep_list(x, &q, &how, e);
    buf_release(&body);
    return s;
}

static enum status
list_monitors(struct connection *x, const struct transfer *n, struct err *e)
{
    struct connection_request q = {
        .url = n->ref ? URL(x, "/api/v1/monitor?monitor_tags=", n->ref) : URL(x, "/api/v1/monitor"),
    };

    return connection_keep_list(x, &q, &(struct paging){ .items = "", .next = "next" }, e);
}

static enum status
list_events(struct connection *x, const struct transfer *n, struct err *e)
{
    static const struct paging how = { .items = "data",
                                       .next = "meta.page.after",
                                       .parameter = "page[cursor]" };
    struct connection_request q = { 0 };
    int64_t begin = 0, now = 0;
    enum status s = begin_of(x, n, &begin, &now, e);

    if (s)
        return s;
    const char *at = connection_text(
        x, "/api/v2/events?page[limit]=1000&filter[from]=%jd&filter[to]=%jd%s",
        (intmax_t)begin * 1000, (intmax_t)now * 1000, n->ref ? "&filter[query]=" : "");
    q.url = URL(x, at, n->ref ? n->ref : "");
    return connection_keep_list(x, &q, &how, e);
}

/* ---- targets ---- */

static void
write_log(struct connection *x, const struct transfer *n, struct buf *to, const char *line,
          size_t len)
{
    const char *source = transfer_member(x->c, n, "source"),
               *service = transfer_member(x->c, n, "service");

    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "ddsource", source ? source : "cliq");
    json_key_str(to, "service", service ? service : x->c->team_name);
    json_key_str(to, "hostname", transfer_member(x->c, n, "hostname"));
    json_key_str(to, "ddtags", transfer_member(x->c, n, "tags"));
    json_key_strn(to, "message", line, len);
    json_close(to, '}');
}

/* Sends the logs written so far, and empties the list. */
static enum status
send_logs_now(struct connection *x, struct buf *list, struct err *e)
{
    const struct json *doc;

    json_close(list, ']');
    const char *url = URL(x, intake(x), "", "/api/v2/logs");
    enum status s = connection_send(x, "POST", url, list, &doc, e);
    buf_reset(list);
    json_open(list, '[');
    return s;
}

static enum status
send_lines(struct connection *x, const struct transfer *n, const struct buf *text, int64_t *count,
           struct err *e)
{
    const char *end = text->p + text->len;
    struct buf list = { 0 };
    enum status s = ST_OK;

    json_open(&list, '[');
    for (const char *line = text->p; !s && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        if (len) {
            write_log(x, n, &list, line, len);
            ++*count;
        }
        line += len + 1;
        if (list.len > 1 && (line >= end || *count % LOGS_MAX == 0 || list.len > LOGS_BYTES))
            s = send_logs_now(x, &list, e);
    }
    if (!s && list.len > 1) /* the last lines were empty */
        s = send_logs_now(x, &list, e);
    buf_release(&list);
    return s;
}

static enum status
send_logs(struct connection *x, const struct transfer *n, struct err *e)
{
    struct buf text = { 0 };
    struct json *list = NULL;
    const struct json *doc;
    int64_t count = 0;
    enum status s = transfer_read(x->c, n, &text, e);

    if (!s && text.p[0] == '[' && json_parse(x->c->arena, text.p, text.len, &list, NULL)) {
        count = (int64_t)list->kids.count;
        s = connection_send(x, "POST", URL(x, intake(x), "", "/api/v2/logs"), &text, &doc, e);
    } else if (!s) {
        s = send_lines(x, n, &text, &count, e);
    }
    record_int(x, "count", count);
    buf_release(&text);
    return s;
}

/* The entry's `metric` and `value`, else the file: {"series":[…]}. */
static enum status
send_metrics(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *metric = transfer_member(x->c, n, "metric"),
               *value = transfer_member(x->c, n, "value");
    const struct json *tags = json_get(n->node, "tags"), *doc;
    struct buf body = { 0 };
    enum status s = ST_OK;
    double number;
    char *end;

    if (!metric && !n->file)
        return transfer_wrong(n, "it has neither a metric with a value nor a file", e);
    if (!metric) {
        s = transfer_read(x->c, n, &body, e);
    } else {
        number = value ? strtod(value, &end) : 0;
        if (!value || !*value || *end)
            return transfer_wrong(n, "its value must be a number", e);
        buf_adds(&body, "{\"series\":[{");
        json_key_str(&body, "metric", metric);
        buf_addf(&body, ",\"type\":3,\"points\":[{\"timestamp\":%jd,\"value\":%.17g}]",
                 (intmax_t)(clock_wall_ns() / 1000000000), number);
        if (json_is(tags, JSON_ARRAY))
            json_key_json(&body, "tags", tags);
        buf_adds(&body, "}]}");
    }
    if (!s)
        s = connection_send(x, "POST", URL(x, "/api/v2/series"), &body, &doc, e);
    buf_release(&body);
    return s;
}

static enum status
send_event(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *title = transfer_member(x->c, n, "title");
    const struct json *tags = json_get(n->node, "tags"), *doc;
    struct buf text = { 0 }, body = { 0 };
    enum status s = transfer_read(x->c, n, &text, e);

    if (!s && !title)
        s = transfer_wrong(n, "it has no title", e);
    json_open(&body, '{');
    json_key_str(&body, "title", title);
    json_key_strn(&body, "text", text.p, text.len);
    json_key_str(&body, "alert_type", transfer_member(x->c, n, "alert_type"));
    if (json_is(tags, JSON_ARRAY))
        json_key_json(&body, "tags", tags);
    json_close(&body, '}');
    if (!s)
        s = connection_send(x, "POST", URL(x, "/api/v1/events"), &body, &doc, e);
    if (!s)
        RECORD(x, doc, "id", "event.id", "url", "event.url");
    buf_release(&text);
    buf_release(&body);
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "query_metrics", query_metrics, .needs = NEEDS_REF },
    { "search_logs", search_logs, .needs = NEEDS_REF },
    { "list_monitors", list_monitors },
    { "list_events", list_events },
    { "send_logs", send_logs, .is_target = true, .needs = NEEDS_FILE },
    { "send_metrics", send_metrics, .is_target = true },
    { "send_event", send_event, .is_target = true, .needs = NEEDS_FILE },
    { 0 },
};

const struct connector connector_datadog = { "datadog", actions, open_datadog,
                                             .keys = "api_key app_key",
                                             .probe = "/api/v1/validate" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_datadog, e);
}

const struct cmd cmd_agent_datadog = {
    .name = "agent datadog",
    .brief = "the built-in agent for Datadog",
    .about =
        "Reads an AgentMessage on standard input. Actions of sources: query_metrics (ref: a "
        "metric\n"
        "query), search_logs (ref: a log query; limit), list_monitors (ref: tags, or none),\n"
        "list_events (ref: a query, or none), each over the time `from` ago (1h). Actions of\n"
        "targets: send_logs (file: a line for each log, or a JSON array; service, source, "
        "hostname,\n"
        "tags), send_metrics (metric and value, tags; or file: {\"series\":[...]}), send_event\n"
        "(title, alert_type, tags; file: its text).\n"
        "\n"
        "Settings: agents.datadog.api_key, app_key (to read), site (datadoghq.com), base_url,\n"
        "timeout, max_bytes, proxy. Without them DD_API_KEY, DD_APP_KEY, DD_SITE.\n"
        "\n"
        "The handoff's data by name: ref, count, file, size; id and url of an event.",
    .examples = "cliq settings agents.datadog.site datadoghq.eu\n"
                "cliq settings agents.datadog.api_key - <api_key.txt\n"
                "cliq settings agents.datadog.app_key - <app_key.txt",
    .opts = agent_no_opts,
    .run = run,
};
