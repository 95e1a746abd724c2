#define _GNU_SOURCE
#include "serve/revoke_watch.h"

#include "base/json.h"
#include "base/sys.h"
#include "log/log.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 64 << 10 };

static const char LOG_NAME[] = "events.jsonl";

struct revoke_watch_id {
    struct revoke_watch_id *next;
    const char *id;
};

/* ---- the file ---- */

/* Opens the file that has the name now; false: it is open already, or cannot be opened. */
static bool
open_log(struct revoke_watch *r)
{
    struct stat st;
    int fd = SYS_RETRY(sys->openat(r->dir, LOG_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));

    if (fd < 0)
        return false;
    if (sys->fstat(fd, &st) != 0 || (r->fd >= 0 && st.st_ino == r->ino && st.st_dev == r->dev)) {
        close(fd);
        return false;
    }
    if (r->fd >= 0)
        close(r->fd);
    r->fd = fd;
    r->dev = st.st_dev;
    r->ino = st.st_ino;
    r->at = r->size = 0;
    r->is_ending = false;
    return true;
}

void
revoke_watch_init(struct revoke_watch *r, int dir)
{
    struct stat st;

    *r = (struct revoke_watch){
        .dir = dir, .fd = -1, .window = WINDOW, .text = { .max = LOG_LINE_MAX }
    };
    if (open_log(r) && sys->fstat(r->fd, &st) == 0)
        r->at = r->size = st.st_size;
}

void
revoke_watch_release(struct revoke_watch *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    buf_release(&r->text);
    arena_release(&r->arena);
}

/* ---- its lines ---- */

static void
read_line(struct revoke_watch *r, const char *line, size_t len,
          void (*tell)(void *ctx, const char *id), void *ctx)
{
    struct arena a = { 0 };
    struct json *v;
    const char *id = NULL;

    if (json_parse(&a, line, len, &v, NULL)) {
        const struct json *op = json_get(v, "op"), *text = json_get(v, "id");
        if (json_eq(op, "rotate"))
            r->is_ending = true;
        if (json_eq(op, "revoke") && json_is(text, JSON_STRING))
            id = arena_dup(&r->arena, text->text.p, text->text.len);
    }
    arena_release(&a);
    struct revoke_watch_id *one = id ? arena_alloc(&r->arena, sizeof *one) : NULL;
    if (!one)
        return;
    *one = (struct revoke_watch_id){ r->first, id };
    r->first = one;
    tell(ctx, id);
}

/* By how we begin our lines: a signal, or an event of another kind. */
static bool
is_other(const char *line, size_t len)
{
    static const char op[] = "{\"op\":\"", id[] = "{\"id\":\"", type[] = "\",\"type\":";
    enum { ID_LEN = 24 };

    if (len > sizeof op && memcmp(line, op, sizeof op - 1) == 0)
        return line[sizeof op - 1] != 'r';
    return len > sizeof id + ID_LEN + sizeof type && memcmp(line, id, sizeof id - 1) == 0 &&
           memcmp(line + sizeof id - 1 + ID_LEN, type, sizeof type - 1) == 0;
}

static bool
has(const char *line, size_t len, const char *word)
{
    return memmem(line, len, word, strlen(word));
}

/* Every line that has one of the words in it, but for those that are plainly something else. */
static void
read_lines(struct revoke_watch *r, size_t len, void (*tell)(void *ctx, const char *id), void *ctx)
{
    const char *line = r->text.p, *end = line + len, *eol;

    for (; line < end && (eol = memchr(line, '\n', (size_t)(end - line))); line = eol + 1) {
        size_t n = (size_t)(eol - line);
        if (!is_other(line, n) && (has(line, n, "revoke") || has(line, n, "rotate")))
            read_line(r, line, n, tell, ctx);
    }
}

/* Whole lines up to the file's size; what is longer than a line may be is passed over. */
static void
read_new(struct revoke_watch *r, void (*tell)(void *ctx, const char *id), void *ctx)
{
    while (r->at < r->size) {
        size_t want = r->size - r->at < (off_t)r->window ? (size_t)(r->size - r->at) : r->window;
        buf_reset(&r->text);
        char *to = buf_room(&r->text, want);
        ssize_t n = to ? SYS_RETRY(sys->pread(r->fd, to, want, r->at)) : -1;
        if (n <= 0) {
            r->size = r->at; /* the next look tries again */
            return;
        }
        const char *last = memrchr(to, '\n', (size_t)n);
        if (!last && r->window < LOG_LINE_MAX && (size_t)n == r->window) {
            r->window = LOG_LINE_MAX;
            continue;
        }
        if (!last && (size_t)n < r->window)
            return; /* the line is being written */
        size_t len = last ? (size_t)(last + 1 - to) : (size_t)n;
        if (last)
            read_lines(r, len, tell, ctx);
        r->at += (off_t)len;
        r->window = WINDOW;
    }
}

void
revoke_watch_look(struct revoke_watch *r, void (*tell)(void *ctx, const char *id), void *ctx)
{
    struct stat st;

    if (r->fd < 0 && !open_log(r))
        return;
    do {
        if (sys->fstatat(r->fd, "", &st, AT_EMPTY_PATH) != 0) /* without its times: see there */
            return;
        if (st.st_size < r->at)
            r->at = st.st_size; /* another program cut it short */
        if (st.st_size != r->size) {
            r->size = st.st_size;
            read_new(r, tell, ctx);
        }
    } while ((r->is_ending || st.st_nlink == 0) && open_log(r));
}

bool
revoke_watch_has(const struct revoke_watch *r, const char *id)
{
    for (const struct revoke_watch_id *one = r->first; one; one = one->next)
        if (strcmp(one->id, id) == 0)
            return true;
    return false;
}

void
revoke_watch_forget(struct revoke_watch *r)
{
    r->first = NULL;
    arena_reset(&r->arena);
}
