#define _GNU_SOURCE
#include "context/status_line.h"

#include "base/clock.h"
#include "context/state_dir.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {
    [LINE_OK] = "ok",         [LINE_PROGRESS] = "progress",
    [LINE_NOTIFY] = "notify", [LINE_COMPLETE] = "complete",
    [LINE_ERROR] = "error",
};

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
        if (json_eq(status, names[i]))
            s.status = (enum line_status)i;
    if (s.status == LINE_UNKNOWN)
        return s;
    s.message = json_dup_text(a, json_get(line, "message"));
    s.error = json_dup_text(a, json_get(line, "error"));
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
write_line(struct buf *b, int64_t ns, const char *type, enum line_status status,
           const char *message, const char *error, const struct json *result, struct err *e)
{
    char ts[CLOCK_ISO_SIZE];

    assert(status < LINE_UNKNOWN);
    json_open(b, '{');
    json_key_str(b, "ts", clock_iso(ts, ns, 1));
    json_key_int(b, "version", 1);
    json_key_str(b, "type", type);
    json_key_str(b, "status", names[status]);
    json_key_str(b, "message", message);
    json_key_str(b, "error", error);
    json_key_json(b, "result", result);
    json_close(b, '}');
    return b->is_over ? err_set(e, ST_INVALID,
                                "the %s line is larger than a line of a log may be "
                                "(%zu bytes): put large results into a file",
                                names[status], LOG_LINE_MAX)
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
status_line_append(int dir, const char *name, const char *type, enum line_status status,
                   const char *message, const char *error, const struct json *result, struct err *e)
{
    return status_line_append_acked(dir, name, type, 0, status, message, error, result, e);
}

enum status
status_line_append_acked(int dir, const char *name, const char *type, int64_t heard_ns,
                         enum line_status status, const char *message, const char *error,
                         const struct json *result, struct err *e)
{
    char file[NAME_MAX + 1];
    struct buf ack = BUF_MAX(LOG_LINE_MAX), b = BUF_MAX(LOG_LINE_MAX);
    enum status s = name_file(name, file, e);

    if (!s && heard_ns)
        s = write_line(&ack, heard_ns, type, LINE_OK, NULL, NULL, NULL, e);
    if (!s)
        s = write_line(&b, clock_wall_ns(), type, status, message, error, result, e);
    const struct log_text lines[] = { { ack.p, ack.len }, { b.p, b.len } };
    if (!s)
        s = append(dir, file, heard_ns ? lines : lines + 1, heard_ns ? 2 : 1, e);
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
status_line_ack(int dir, int elsewhere, const char *name, const char *type, int64_t heard_ns,
                struct err *e)
{
    char file[NAME_MAX + 1];
    struct buf b = BUF_MAX(LOG_LINE_MAX);
    enum status s = name_file(name, file, e);

    if (!s)
        s = write_line(&b, heard_ns, type, LINE_OK, NULL, NULL, NULL, e);
    if (!s && !link_line(elsewhere, dir, file, &b))
        s = append(dir, file, &(struct log_text){ b.p, b.len }, 1, e);
    buf_release(&b);
    return s;
}
