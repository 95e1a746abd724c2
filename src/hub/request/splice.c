#include "hub/request/splice.h"

#include "hub/model/hub_event.h"

#include <string.h>

/* Of a member: is it one of those that are shown, and what must it be? */
enum kind { UNSHOWN, NAME, ID, JSON, DATA, TIME };

/* The members of a signal's line, in the order in which they are written. */
static const struct splice_pair {
    const char *key;
    unsigned char len, kind, to;
} members[] = {
#define M(key, kind, to)                                                                           \
    {                                                                                              \
        key, sizeof key - 1, kind, to                                                              \
    }
    M("id", UNSHOWN, 0),
    M("type", NAME, SPLICE_TYPE),
    M("source", UNSHOWN, 0),
    M("data", DATA, SPLICE_DATA),
    M("createdAt", TIME, 0),
    M("content", JSON, SPLICE_CONTENT),
    M("urgency", JSON, SPLICE_URGENCY),
    M("from_role", NAME, SPLICE_FROM_ROLE),
    M("from_identity", NAME, SPLICE_BY),
    M("to_role", NAME, SPLICE_TO_ROLE),
    M("to_ring", NAME, SPLICE_TO_RING),
    M("to_identity", NAME, SPLICE_TO_IDENTITY),
    M("parent_id", ID, SPLICE_PARENT),
    M("thread_id", UNSHOWN, 0),
    M("tags", JSON, SPLICE_TAGS),
    M("resources", JSON, SPLICE_RESOURCES),
    M("attachments", JSON, SPLICE_ATTACHMENTS),
    M("metadata", JSON, SPLICE_METADATA),
    M("delayed", UNSHOWN, 0),
    M("task_status", UNSHOWN, 0),
    M("dedup_key", UNSHOWN, 0),
    M("dedup_hash", UNSHOWN, 0),
    M("dedup_lines", UNSHOWN, 0),
#undef M
};

enum { N_MEMBERS = sizeof members / sizeof *members };

/* ---- where a value ends ---- NULL: not in this text */

/* p: behind the opening quote. The place behind the closing one. */
static const char *
end_of_string(const char *p, const char *end)
{
    for (const char *from = p;; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return NULL;
        const char *slash = p;
        while (slash > from && slash[-1] == '\\')
            slash--;
        if ((p - slash) % 2 == 0)
            return p + 1;
    }
}

static const char *
end_of_box(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        char c = *p++;
        if (c == '"' && !(p = end_of_string(p, end)))
            return NULL;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return p;
    }
    return NULL;
}

static const char *
end_of_value(const char *p, const char *end)
{
    if (p == end)
        return NULL;
    if (*p == '"')
        return end_of_string(p + 1, end);
    if (*p == '{' || *p == '[')
        return end_of_box(p, end);
    while (p < end && *p != ',' && *p != '}' && *p != ' ' && *p != '\t' && *p != '\r')
        p++;
    return p;
}

/* ---- members ---- */

static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A text that hub_event_read takes as it is. */
static bool
is_plain(const char *p, size_t len)
{
    return len > 2 && len - 2 <= EVENT_TEXT_MAX && *p == '"' && !is_blank(p[1]) &&
           !is_blank(p[len - 2]) && !memchr(p, '\\', len);
}

static bool
read_time(const char *p, size_t len, int64_t *out)
{
    *out = 0;
    if (len > 18) /* any of so many digits fits */
        return false;
    for (size_t i = 0; i < len; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        *out = *out * 10 + (p[i] - '0');
    }
    return true;
}

static bool
take(struct splice *s, const struct splice_pair *m, const char *p, size_t len)
{
    bool is_null = len == 4 && memcmp(p, "null", 4) == 0;

    if (m->kind == UNSHOWN || (is_null && m->kind != DATA))
        return true;
    if (m->kind == TIME)
        return read_time(p, len, &s->at);
    if ((m->kind == NAME || m->kind == ID) && !is_plain(p, len))
        return false;
    if (m->kind == ID && strncmp(p + 1, "signal:", 7) == 0)
        return false;
    s->of[m->to] = (struct splice_text){ p, len };
    return true;
}

/* The member whose key, with its quote, begins at p: mostly the next or one behind it. */
static const struct splice_pair *
find(const char *p, const char *end, size_t next)
{
    for (size_t k = 0; k < N_MEMBERS; k++, next++) {
        const struct splice_pair *m = &members[next < N_MEMBERS ? next : (next = 0)];
        if ((size_t)(end - p) > m->len && p[m->len] == '"' && memcmp(p, m->key, m->len) == 0)
            return m;
    }
    return NULL;
}

bool
splice_line(struct splice *s, const char *line, size_t len)
{
    const char *p = line, *end = line + len, *value;
    unsigned seen = 0;
    size_t next = 0;

    *s = (struct splice){ 0 };
    if (len < 2 || *p != '{' || end[-1] != '}')
        return false;
    while (p + 1 < end && (*p == ',' || p == line) && p[1] == '"') {
        const struct splice_pair *m = find(p + 2, end, next);
        if (!m || (seen & (1u << (m - members))))
            return false;
        next = (size_t)(m - members) + 1;
        seen |= 1u << (m - members);
        value = p + 2 + m->len + 1;
        if (value >= end || *value != ':')
            return false;
        p = end_of_value(value + 1, end);
        if (!p || !take(s, m, value + 1, (size_t)(p - value - 1)))
            return false;
    }
    return p + 1 == end && s->of[SPLICE_TYPE].p;
}
