#include "run/signal.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [SIG_OK] = "ok",         [SIG_PROGRESS] = "progress",
    [SIG_NOTIFY] = "notify", [SIG_COMPLETE] = "complete",
    [SIG_ERROR] = "error",
};

/* A NUL-ended copy; a NUL inside ends it early. */
static const char *
text(struct arena *a, const struct json *v)
{
    return json_is(v, JSON_STRING) ? arena_dup(a, v->text.p, v->text.len) : NULL;
}

struct signal_line
signal_read(struct arena *a, const struct json *line)
{
    struct signal_line s = { .status = SIG_UNKNOWN };
    const struct json *version = json_get(line, "version");
    const struct json *status = json_get(line, "status");
    int64_t v = 1;

    /* a line by hand may leave the version out */
    if ((version && !json_int(version, &v)) || v != 1)
        return s;
    for (int i = 0; i < SIG_UNKNOWN; i++)
        if (json_eq(status, names[i]))
            s.status = (enum signal_status)i;
    if (s.status == SIG_UNKNOWN)
        return s;
    s.message = text(a, json_get(line, "message"));
    s.error = text(a, json_get(line, "error"));
    s.result = json_get(line, "result");
    if (json_is(s.result, JSON_NULL))
        s.result = NULL;
    return s;
}

enum status
signal_append(int dir, const char *name, const char *type, enum signal_status status,
              const char *message, const char *error, const struct json *result, struct err *e)
{
    char file[NAME_MAX + 1], ts[CLOCK_ISO_SIZE];
    struct buf b = BUF_MAX(LOG_LINE_MAX);
    struct log l = { .fd = -1 };

    assert(status < SIG_UNKNOWN);
    if (!*name || *name == '.' || strchr(name, '/') || strlen(name) + 6 >= sizeof file)
        return err_set(e, ST_INVALID, "bad name of a signal file: %.200s", name);
    snprintf(file, sizeof file, "%s.jsonl", name);
    json_open(&b, '{');
    json_key_str(&b, "ts", clock_iso(ts, clock_wall_ns(), 1));
    json_key_int(&b, "version", 1);
    json_key_str(&b, "type", type);
    json_key_str(&b, "status", names[status]);
    json_key_str(&b, "message", message);
    json_key_str(&b, "error", error);
    json_key_json(&b, "result", result);
    json_close(&b, '}');
    enum status s = b.is_over ? err_set(e, ST_INVALID,
                                        "the %s line is larger than a line of a log may be "
                                        "(%zu bytes): put large results into a file",
                                        names[status], LOG_LINE_MAX)
                              : buf_status(&b, "the line", e);
    if (!s)
        s = log_open(&l, dir, file, &(struct log_options){ .is_durable = false }, e);
    if (!s)
        s = log_append(&l, &(struct log_text){ b.p, b.len }, 1, e);
    log_close(&l);
    buf_release(&b);
    return s;
}
