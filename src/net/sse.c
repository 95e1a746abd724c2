#include "net/sse.h"

#include <string.h>

static bool
is_full(const struct sse *s)
{
    const struct buf *const all[] = { &s->line, &s->data, &s->type, &s->id, &s->next_id };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (buf_status(all[i], "the event", NULL))
            return true;
    return false;
}

static bool
is_name(const struct sse *s, size_t n, const char *name)
{
    return n == strlen(name) && memcmp(s->line.p, name, n) == 0;
}

static void
set(struct buf *b, const char *p, size_t n)
{
    buf_reset(b);
    buf_add(b, p, n);
}

static void
read_retry(struct sse *s, const char *p, size_t n)
{
    int64_t ms = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9' || i == 9)
            return;
        ms = ms * 10 + (p[i] - '0');
    }
    if (n > 0)
        s->retry_ms = ms;
}

/* Reads a complete line. True: it ends an event with data. */
static bool
read_line(struct sse *s)
{
    const char *text = s->line.len ? s->line.p : "", *colon = memchr(text, ':', s->line.len);
    size_t name = colon ? (size_t)(colon - text) : s->line.len, at = colon ? name + 1 : name;

    if (s->line.len == 0) {
        set(&s->id, sse_text(&s->next_id), s->next_id.len);
        if (s->data.len == 0) {
            buf_reset(&s->type);
            return false;
        }
        buf_cut(&s->data, s->data.len - 1);
        return true;
    }
    if (at < s->line.len && text[at] == ' ')
        at++;
    const char *value = text + at;
    size_t n = s->line.len - at;
    if (is_name(s, name, "data")) {
        buf_add(&s->data, value, n);
        buf_addc(&s->data, '\n');
    } else if (is_name(s, name, "event")) {
        set(&s->type, value, n);
    } else if (is_name(s, name, "id") && !memchr(value, '\0', n)) {
        set(&s->next_id, value, n);
    } else if (is_name(s, name, "retry")) {
        read_retry(s, value, n);
    }
    return false;
}

static bool
end_line(struct sse *s)
{
    static const char mark[] = "\xEF\xBB\xBF";

    if (!s->has_begun && s->line.len >= 3 && memcmp(s->line.p, mark, 3) == 0)
        buf_drop(&s->line, 3);
    s->has_begun = true;
    bool is_event = read_line(s);
    buf_reset(&s->line);
    return is_event;
}

enum sse_result
sse_feed(struct sse *s, const char *p, size_t n, size_t *used)
{
    size_t i = 0;

    s->line.max = s->data.max = SSE_EVENT_MAX;
    if (s->is_told) {
        buf_reset(&s->data);
        buf_reset(&s->type);
        s->is_told = false;
    }
    while (i < n && !is_full(s)) {
        if (s->has_cr) {
            s->has_cr = false;
            if (p[i] == '\n') {
                i++;
                continue;
            }
        }
        size_t len = 0;
        while (i + len < n && p[i + len] != '\n' && p[i + len] != '\r')
            len++;
        buf_add(&s->line, p + i, len);
        i += len;
        if (i == n)
            break;
        s->has_cr = p[i++] == '\r';
        if (!is_full(s) && end_line(s)) {
            s->is_told = true;
            break;
        }
    }
    *used = i;
    return is_full(s) ? SSE_FULL : s->is_told ? SSE_EVENT : SSE_MORE;
}

void
sse_restart(struct sse *s)
{
    set(&s->next_id, sse_text(&s->id), s->id.len);
    buf_reset(&s->line);
    buf_reset(&s->data);
    buf_reset(&s->type);
    s->is_told = s->has_cr = s->has_begun = false;
}

void
sse_release(struct sse *s)
{
    buf_release(&s->type);
    buf_release(&s->data);
    buf_release(&s->id);
    buf_release(&s->line);
    buf_release(&s->next_id);
}
