/*
 * reader - reads a log's lines, forward from a byte or backward from the end.
 *
 * Only a window of the file is in memory. Each line is fetched, judged (is it a
 * JSON object?) and, in a sequenced log, numbered. Bytes without a '\n' behind
 * them are not a line yet.
 *
 * The lines of a group count only when all are there. So the first line is
 * returned after the last was judged. The lookahead keeps the judged lines, up
 * to LOOKAHEAD_MAX bytes; later lines of the group are read and judged again.
 */
#define _GNU_SOURCE
#include "base/sys.h"
#include "log/log.h"
#include "log/seal.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 64 << 10, FIRST_CHUNK = 4 << 10, LOOKAHEAD_MAX = 8 << 20 };

/* A judged line of a group, not returned yet. */
struct log_lookahead {
    struct log_lookahead *next;
    struct log_record rec;
    struct seal seal;
};

void
log_reader_init(struct log_reader *r, int fd, off_t at)
{
    *r = (struct log_reader){
        .fd = fd,
        .window = BUF_MAX(LOG_LINE_MAX + 4 * (size_t)CHUNK),
        .window_at = at,
        .at = at,
        .line = 1,
        .next_seq = 1,
        .back = -1,
    };
}

void
log_reader_release(struct log_reader *r)
{
    buf_release(&r->window);
    arena_release(&r->arena);
    arena_release(&r->group);
    r->lookahead = NULL;
}

enum status
log_reader_status(const struct log_reader *r, struct err *e)
{
    return r->failed ? err_set(e, r->failed, "%s", r->failed_why.text) : ST_OK;
}

static bool
starved(struct log_reader *r)
{
    r->failed = err_set(&r->failed_why, ST_IO, "out of memory while reading");
    return false;
}

static off_t
window_end(const struct log_reader *r)
{
    return r->window_at + (off_t)r->window.len;
}

static void
window_reset(struct log_reader *r, off_t at)
{
    buf_reset(&r->window);
    r->window_at = at;
}

/* Reads one more chunk behind the window. False at the end of the file. */
static bool
window_grow(struct log_reader *r)
{
    char *room = buf_room(&r->window, CHUNK);

    if (!room)
        return starved(r);
    ssize_t n = SYS_RETRY(sys->pread(r->fd, room, CHUNK, window_end(r)));
    if (n < 0)
        r->failed = err_sys(&r->failed_why, "read the log");
    if (n <= 0)
        return false;
    buf_grew(&r->window, (size_t)n);
    return true;
}

/* Fills text and extent of the line at `at`. False: it has no '\n' yet. A line over the limit gets
 * no text. */
static bool
fetch(struct log_reader *r, off_t at, struct log_record *rec)
{
    bool is_long = false;
    off_t seen = at; /* no '\n' before this */

    if (at < r->window_at || at > window_end(r))
        window_reset(r, at);
    for (;;) {
        size_t from = (size_t)(seen - r->window_at);
        const char *nl =
            r->window.len > from ? memchr(r->window.p + from, '\n', r->window.len - from) : NULL;
        if (nl) {
            off_t end = r->window_at + (nl + 1 - r->window.p);
            is_long = is_long || end - at > (off_t)LOG_LINE_MAX;
            *rec = (struct log_record){
                .text = is_long ? "" : r->window.p + (at - r->window_at),
                .len = is_long ? 0 : (size_t)(end - 1 - at),
                .at = at,
                .end = end,
                .line = r->line,
                .verdict = is_long ? LOG_TOO_LONG : LOG_GOOD,
                .problem = is_long ? "line longer than 1 MiB" : NULL,
            };
            return true;
        }
        seen = window_end(r);
        if (seen - at > (off_t)LOG_LINE_MAX) {
            is_long = true;
            window_reset(r, seen); /* discards its bytes */
        } else if (at > r->window_at) {
            buf_drop(&r->window, (size_t)(at - r->window_at));
            r->window_at = at;
        }
        if (!window_grow(r)) {
            /* Discards the unfinished line: its writer may yet truncate it. */
            window_reset(r, at);
            return false;
        }
    }
}

static bool
is_blank(const struct log_record *rec)
{
    for (size_t i = 0; i < rec->len; i++)
        if (!strchr(" \t\r", rec->text[i]) || rec->text[i] == '\0')
            return false;
    return rec->verdict == LOG_GOOD;
}

/* Parses a line into the arena and sets its verdict. False: out of memory. */
static bool
judge(struct log_reader *r, struct log_record *rec, struct arena *a)
{
    struct json_fault where;
    struct json *v;

    if (rec->verdict != LOG_GOOD)
        return true;
    if (!json_parse(a, rec->text, rec->len, &v, &where)) {
        if (where.is_starved)
            return starved(r);
        size_t first = strspn(rec->text, " \t");
        bool is_torn = where.is_cut_off && first < rec->len && rec->text[first] == '{';
        rec->verdict = is_torn ? LOG_FRAGMENT : LOG_BAD;
        rec->problem = is_torn ? "a record cut off in the middle" : where.what;
        rec->column = where.column;
    } else if (v->type != JSON_OBJECT) {
        rec->verdict = LOG_BAD;
        rec->problem = "not a JSON object";
        rec->column = 1;
    } else {
        rec->json = v;
    }
    return true;
}

static bool
read_seal(struct log_record *rec, struct seal *seal)
{
    *seal = (struct seal){ 0 };
    if (rec->verdict != LOG_GOOD)
        return false;
    if (seal_read(rec->text, rec->len, rec->json, seal))
        return true;
    rec->verdict = LOG_BAD;
    rec->problem = "checksum does not match";
    rec->json = NULL;
    return false;
}

/* Copies a fetched line out of the window and judges it. */
static bool
keep(struct log_reader *r, struct log_record *rec)
{
    rec->text = arena_dup(&r->group, rec->text, rec->len);
    return rec->text ? judge(r, rec, &r->group) : starved(r);
}

/* Fetches and judges a line of a group. *line: room to keep it; NULL: the lookahead is full. */
static bool
read_group_line(struct log_reader *r, off_t at, struct log_record *rec, struct log_lookahead **line)
{
    *line = NULL;
    if (!fetch(r, at, rec))
        return false;
    if (r->group.used > LOOKAHEAD_MAX) {
        arena_reset(&r->arena);
        return judge(r, rec, &r->arena);
    }
    *line = arena_alloc(&r->group, sizeof **line);
    return *line ? keep(r, rec) : starved(r);
}

enum group { GROUP_COMPLETE, GROUP_TORN, GROUP_PENDING };

/* Is the group that `first` begins complete? *found: the number of its lines. */
static enum group
look_ahead(struct log_reader *r, off_t at, const struct seal *first, size_t *found)
{
    struct log_lookahead *line, **end = &r->lookahead;
    struct log_record rec;
    struct seal seal;

    *found = 1;
    for (uint64_t k = 2; k <= first->of; k++, ++*found) {
        if (!read_group_line(r, at, &rec, &line))
            return GROUP_PENDING;
        if (!read_seal(&rec, &seal) || seal.nth != k || seal.seq != first->seq + k - 1)
            return GROUP_TORN;
        at = rec.end;
        if (line) {
            *line = (struct log_lookahead){ .rec = rec, .seal = seal };
            *end = line;
            end = &line->next;
        }
    }
    return GROUP_COMPLETE;
}

static void
mark_ungrouped(struct log_record *rec)
{
    rec->verdict = LOG_UNGROUPED;
    rec->problem = "part of an incomplete group";
}

/* The record begins a group. False: the group is not complete yet, or a failure. */
static bool
enter_group(struct log_reader *r, struct log_record *rec, const struct seal *seal)
{
    size_t found;

    arena_reset(&r->group);
    if (!keep(r, rec))
        return false;
    enum group g = look_ahead(r, rec->end, seal, &found);
    if (g == GROUP_COMPLETE) {
        r->group_left = seal->of - 1;
        return true;
    }
    r->lookahead = NULL;
    if (g == GROUP_PENDING)
        return false;
    r->orphans = found - 1;
    mark_ungrouped(rec);
    return true;
}

/* Sets the number of a record. False: its group is not complete yet, or a failure. */
static bool
number(struct log_reader *r, struct log_record *rec, const struct seal *seal)
{
    if (rec->verdict != LOG_GOOD)
        return true;
    if (r->orphans > 0) {
        r->orphans--;
        mark_ungrouped(rec);
    } else if (r->group_left > 0) {
        r->group_left--;
    } else if (seal->nth) {
        mark_ungrouped(rec); /* the group's first line is missing */
    } else if (seal->of && !enter_group(r, rec, seal)) {
        return false;
    }
    if (rec->verdict != LOG_GOOD)
        return true;
    /* The position decides: a foreign line, written without the lock before this one, has taken its
     * number. */
    rec->seq = seal->seq > r->next_seq ? seal->seq : r->next_seq;
    r->next_seq = rec->seq + 1;
    if (seal->seq && json_eq(json_get(rec->json, "op"), "rotate"))
        r->is_rotated = true;
    return true;
}

/* The next judged line, from the lookahead or the file. False: none, or a failure. */
static bool
next_line(struct log_reader *r, struct log_record *rec, struct seal *seal, bool *is_empty)
{
    *is_empty = false;
    if (r->lookahead) {
        *rec = r->lookahead->rec;
        *seal = r->lookahead->seal;
        rec->line = r->line;
        r->lookahead = r->lookahead->next;
        return true;
    }
    if (!fetch(r, r->at, rec))
        return false;
    *is_empty = is_blank(rec);
    if (*is_empty)
        return true;
    arena_reset(&r->arena);
    if (!judge(r, rec, &r->arena))
        return false;
    if (r->is_sequenced)
        read_seal(rec, seal);
    return true;
}

bool
log_next(struct log_reader *r, struct log_record *rec)
{
    struct seal seal;
    bool is_empty;

    while (!r->failed && !r->is_rotated) {
        if (!next_line(r, rec, &seal, &is_empty))
            return false;
        if (!is_empty && r->is_sequenced && !number(r, rec, &seal))
            return false;
        r->at = rec->end;
        r->line++;
        if (is_empty)
            continue;
        r->bad += rec->verdict != LOG_GOOD;
        r->torn += rec->verdict == LOG_FRAGMENT || rec->verdict == LOG_UNGROUPED;
        if (rec->verdict == LOG_GOOD || r->wants_bad)
            return true;
    }
    return false;
}

/* Extends the window backward by one chunk. False: the beginning of the file, or a failure. */
static bool
window_grow_back(struct log_reader *r)
{
    size_t n = r->window.len ? CHUNK : FIRST_CHUNK;

    if ((off_t)n > r->window_at)
        n = (size_t)r->window_at;
    if (n == 0)
        return false;
    if (!buf_room(&r->window, n))
        return starved(r);
    memmove(r->window.p + n, r->window.p, r->window.len);
    for (size_t got = 0; got < n;) {
        ssize_t k = SYS_RETRY(
            sys->pread(r->fd, r->window.p + got, n - got, r->window_at - (off_t)(n - got)));
        if (k <= 0) { /* 0: truncated meanwhile */
            r->failed = k < 0 ? err_sys(&r->failed_why, "read the log")
                              : err_set(&r->failed_why, ST_IO, "the log shrank while it was read");
            return false;
        }
        got += (size_t)k;
    }
    buf_grew(&r->window, n);
    r->window_at -= (off_t)n;
    return true;
}

/* The offset of the line that ends just before `end`; -1: failure. *is_long: the line is over the
 * limit, and its text is not in the window. */
static off_t
line_start(struct log_reader *r, off_t end, bool *is_long)
{
    *is_long = false;
    if (end < r->window_at || end > window_end(r))
        window_reset(r, end);
    buf_cut(&r->window, (size_t)(end - r->window_at));
    size_t unseen = r->window.len; /* length not searched yet */
    for (;;) {
        const char *nl = unseen ? memrchr(r->window.p, '\n', unseen) : NULL;
        if (nl) {
            off_t start = r->window_at + (nl + 1 - r->window.p);
            *is_long = *is_long || end - start >= (off_t)LOG_LINE_MAX;
            return start;
        }
        if (r->window_at == 0) {
            *is_long = *is_long || end >= (off_t)LOG_LINE_MAX;
            return 0;
        }
        if (end - r->window_at > (off_t)LOG_LINE_MAX) {
            *is_long = true;
            window_reset(r, r->window_at);
        }
        size_t before = r->window.len;
        if (!window_grow_back(r))
            return -1;
        unseen = r->window.len - before;
    }
}

/* Backward reading starts at the end of the last whole line. */
static bool
start_backward(struct log_reader *r)
{
    struct stat st;
    bool is_long;

    if (sys->fstat(r->fd, &st) != 0) {
        r->failed = err_sys(&r->failed_why, "look at the log");
        return false;
    }
    window_reset(r, st.st_size);
    r->back = line_start(r, st.st_size, &is_long);
    return r->back >= 0;
}

bool
log_prev(struct log_reader *r, struct log_record *rec)
{
    if (r->failed || (r->back < 0 && !start_backward(r)))
        return false;
    while (r->back > 0) {
        bool is_long;
        off_t end = r->back, start = line_start(r, end - 1, &is_long);
        if (start < 0)
            return false;
        *rec = (struct log_record){
            .text = is_long ? "" : r->window.p + (start - r->window_at),
            .len = is_long ? 0 : (size_t)(end - 1 - start),
            .at = start,
            .end = end,
            .verdict = is_long ? LOG_TOO_LONG : LOG_GOOD,
            .problem = is_long ? "line longer than 1 MiB" : NULL,
        };
        r->back = start;
        if (is_blank(rec) && !is_long)
            continue;
        arena_reset(&r->arena);
        if (!judge(r, rec, &r->arena))
            return false;
        struct seal seal;
        if (r->is_sequenced && read_seal(rec, &seal))
            rec->seq = seal.seq;
        if (rec->verdict != LOG_GOOD)
            r->bad++;
        if (rec->verdict == LOG_GOOD || r->wants_bad)
            return true;
    }
    return false;
}
