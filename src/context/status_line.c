#define _GNU_SOURCE
#include "context/status_line.h"

#include "base/clock.h"
#include "context/state_dir.h"

#include <assert.h>
#include <string.h>

const struct field status_line_statuses[] = {
    [LINE_OK] = { "ok", .says = "the message was read; once, first" },
    [LINE_PROGRESS] = { "progress", .says = "a note for people; any number" },
    [LINE_NOTIFY] = { "notify", .says = "asks for a notification; any number" },
    [LINE_COMPLETE] = { "complete", .says = "the work is done: the last line that counts" },
    [LINE_ERROR] = { "error", .says = "the work failed: the last line that counts" },
    { 0 },
};

const struct field status_line_fields[] = {
    { "ts", "a time: 2026-05-29T06:04:14.222Z", NULL, "when the line was written, UTC" },
    { "version", "1", "1", "the version of this protocol; another one: the line is ignored" },
    { "type", "phase, notify or test", NULL, "the message's type" },
    { "status", "see below", FIELD_REQUIRED, "another value: the line is ignored" },
    { "attempt_id", "a text", NULL,
      "payload.attempt_id of the message; another one: the line is ignored; none: it counts while "
      "no line has one" },
    { "message", "a text", NULL, "of progress: the note" },
    { "error", "a text", NULL, "of error: the reason, for people" },
    { "result", "an object", NULL,
      "of complete: {summary}, a text for people, and at a gate the verdict; of notify: {agent, "
      "event, channel, payload}; of a test: {passed, message}; of progress, complete and error: "
      "{usage}" },
    { 0 },
};

/* A string's text, another value as JSON; NULL: absent, null or out of memory. */
static const char *
text_of(struct arena *a, const struct json *v)
{
    struct buf b = { 0 };

    if (!v || json_is(v, JSON_NULL) || json_is(v, JSON_STRING))
        return json_dup_text(a, v);
    json_write(&b, v);
    const char *text = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

struct status_line
status_line_read(struct arena *a, const struct json *line)
{
    struct status_line s = { .status = LINE_UNKNOWN };
    const struct json *version = json_get(line, "version");
    const struct json *status = json_get(line, "status");
    int64_t v = 1;

    /* a line written by a person may omit the version */
    if ((version && !json_int(version, &v)) || v != 1)
        return s;
    for (int i = 0; i < LINE_UNKNOWN; i++)
        if (json_eq(status, status_line_statuses[i].key))
            s.status = (enum line_status)i;
    if (s.status == LINE_UNKNOWN)
        return s;
    s.attempt_id = json_dup_text(a, json_get(line, "attempt_id"));
    s.message = json_dup_text(a, json_get(line, "message"));
    s.error = text_of(a, json_get(line, "error"));
    s.result = json_get(line, "result");
    if (json_is(s.result, JSON_NULL))
        s.result = NULL;
    return s;
}

/* "<name>.jsonl" */
static enum status
name_file(const char *name, char file[NAME_MAX + 1], struct err *e)
{
    if (!*name || *name == '.' || strchr(name, '/') || strlen(name) + 6 > NAME_MAX)
        return err_set(e, ST_INVALID, "bad name of a signal file: %.200s", name);
    strcpy(stpcpy(file, name), ".jsonl");
    return ST_OK;
}

static enum status
write_line(struct buf *b, int64_t ns, const struct status_file *f, enum line_status status,
           const char *message, const char *error, const struct json *result, struct err *e)
{
    char ts[CLOCK_ISO_SIZE];

    assert(status < LINE_UNKNOWN);
    json_open(b, '{');
    json_key_str(b, "ts", clock_iso(ts, ns, 1));
    json_key_int(b, "version", 1);
    json_key_str(b, "type", f->type);
    json_key_str(b, "status", status_line_statuses[status].key);
    json_key_str(b, "attempt_id", f->attempt_id);
    json_key_str(b, "message", message);
    json_key_str(b, "error", error);
    json_key_json(b, "result", result);
    json_close(b, '}');
    return b->is_over ? err_set(e, ST_INVALID,
                                "the %s line is larger than a line of a log may be "
                                "(%zu bytes): put large results into a file",
                                status_line_statuses[status].key, LOG_LINE_MAX)
                      : buf_status(b, "the line", e);
}

static enum status
append(int dir, const char *file, const struct log_text *lines, size_t n, struct err *e)
{
    struct log l = { .fd = -1 };
    enum status s = log_open(&l, dir, file, &(struct log_options){ .is_durable = false }, e);

    if (!s)
        s = log_append(&l, lines, n, e);
    log_close(&l);
    return s;
}

enum status
status_line_append(const struct status_file *f, enum line_status status, const char *message,
                   const char *error, const struct json *result, struct err *e)
{
    return status_line_append_acked(f, 0, status, message, error, result, e);
}

enum status
status_line_append_acked(const struct status_file *f, int64_t heard_ns, enum line_status status,
                         const char *message, const char *error, const struct json *result,
                         struct err *e)
{
    char file[NAME_MAX + 1];
    struct buf ack = BUF_MAX(LOG_LINE_MAX), b = BUF_MAX(LOG_LINE_MAX);
    enum status s = name_file(f->name, file, e);

    if (!s && heard_ns)
        s = write_line(&ack, heard_ns, f, LINE_OK, NULL, NULL, NULL, e);
    if (!s)
        s = write_line(&b, clock_wall_ns(), f, status, message, error, result, e);
    const struct log_text lines[] = { { ack.p, ack.len }, { b.p, b.len } };
    if (!s)
        s = append(f->dir, file, heard_ns ? lines : lines + 1, heard_ns ? 2 : 1, e);
    buf_release(&ack);
    buf_release(&b);
    return s;
}

/* Writes the line as a new file by a link; false when that is not possible. */
static bool
link_line(int elsewhere, int dir, const char *file, struct buf *line)
{
    size_t len = line->len;

    buf_addc(line, '\n');
    bool is_there = elsewhere >= 0 && !buf_failed(line) &&
                    state_dir_link_new(elsewhere, dir, file, line->p, line->len);
    buf_cut(line, len);
    return is_there;
}

enum status
status_line_ack(const struct status_file *f, int elsewhere, int64_t heard_ns, struct err *e)
{
    char file[NAME_MAX + 1];
    struct buf b = BUF_MAX(LOG_LINE_MAX);
    enum status s = name_file(f->name, file, e);

    if (!s)
        s = write_line(&b, heard_ns, f, LINE_OK, NULL, NULL, NULL, e);
    if (!s && !link_line(elsewhere, f->dir, file, &b))
        s = append(f->dir, file, &(struct log_text){ b.p, b.len }, 1, e);
    buf_release(&b);
    return s;
}
