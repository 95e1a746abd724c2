/*
 * fuzz_event - events.jsonl of any bytes: no crash; folding it line by line or at once gives
 * the same index; what was read is written and read again as the same; a signal is shown the same
 * from its line as from its event, in valid JSON.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hub/hub_impl.h"
#include "log/seal.h"

#include "fuzz.h" /* after hub/model/ops.def, which defines another MUST */

/* A written event is read back the same. */
static void
check_round_trip(const struct hub_event *ev)
{
    struct arena a = { 0 };
    struct buf once = { 0 }, twice = { 0 };
    struct json *v;
    struct hub_event again;

    hub_event_write(&once, ev);
    MUST(json_parse(&a, once.p, once.len, &v, NULL));
    MUST(hub_event_read(&again, v, &a));
    hub_event_write(&twice, &again);
    MUST(strcmp(once.p, twice.p) == 0);
    buf_release(&once);
    buf_release(&twice);
    arena_release(&a);
}

static void
check_shown(const struct hub_event *ev, const char *line, size_t len)
{
    struct arena a = { 0 };
    struct buf from_event = { 0 }, from_line = { 0 };
    struct signal_row x = { .it = { .id = "id", .seq = 1 }, .body = arena_dup(&a, line, len) };
    struct json *v;

    if (ev->kind == EV_SIGNAL && !memchr(line, '\0', len)) {
        render_signal(&from_event, ev, &x.it, NULL, NULL, NULL);
        MUST(render_row(&from_line, &x, NULL, NULL, &a));
        MUST(strcmp(from_event.p, from_line.p) == 0);
        MUST(json_parse(&a, from_line.p, from_line.len, &v, NULL));
    }
    buf_release(&from_event);
    buf_release(&from_line);
    arena_release(&a);
}

/* Prints every row of every table. */
static void
dump(struct index *ix, struct buf *to)
{
    for (size_t i = 0; index_table(i); i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2, 3", index_table(i));
        struct row *r = index_run_text(ix, sql, NULL, 0);
        buf_addf(to, "%s\n", index_table(i));
        while (index_next(ix, r))
            for (int c = 0; c < row_columns(r); c++)
                buf_addf(to, "%s|", row_text(r, c) ? row_text(r, c) : "");
        index_end(r);
    }
    MUST(!index_status(ix, NULL));
}

/* Opens a directory for the log, once. */
static char place[] = "/tmp/fuzz-event-XXXXXX";
static int dir = -1;

static void
leave_place(void)
{
    unlinkat(dir, "events.jsonl", 0);
    rmdir(place);
}

static int
open_log(void)
{
    if (dir < 0) {
        MUST(mkdtemp(place));
        dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        atexit(leave_place);
    }
    return openat(dir, "events.jsonl", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Folds the log from a file; with `step`, as it grows line by line. */
static void
fold_it(struct index *ix, const char *text, size_t len, bool step, struct buf *to)
{
    struct fold f = { 0 };
    int fd = open_log();
    struct log l = { .fd = fd, .dir = dir, .name = "events.jsonl", .dev = 1, .ino = 1 };
    struct err e;

    MUST(fd >= 0 && !index_begin(ix, true, &e));
    fold_use(&f, ix);
    index_clear(ix);
    fold_enter(&f);
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t end = step && nl ? (size_t)(nl + 1 - text) : len;
        MUST(write(fd, text + at, end - at) == (ssize_t)(end - at));
        at = end;
        l.end = (off_t)at;
        MUST(!fold_log(&f, &l, &e));
    }
    dump(ix, to);
    index_rollback(ix);
    index_set_cache(ix, NULL);
    fold_release(&f);
    close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct index *ix;
    struct buf whole = { 0 }, steps = { 0 };
    struct log_reader r;
    struct log_record rec;
    struct arena a = { 0 };
    struct hub_event ev;

    if (!ix) {
        MUST(!index_create(&ix, NULL, "boot", NULL));
    }
    int fd = memfd_create("events", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, data, len) == (ssize_t)len);
    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    while (log_next(&r, &rec)) {
        arena_reset(&a);
        if (!hub_event_read(&ev, rec.json, &a))
            continue;
        check_round_trip(&ev);
        check_shown(&ev, rec.text, rec.len);
        if (seal_strip(rec.text, rec.len)) { /* as in the index */
            struct buf bare = { 0 };
            buf_add(&bare, rec.text, seal_strip(rec.text, rec.len));
            buf_addc(&bare, '}');
            check_shown(&ev, bare.p, bare.len);
            buf_release(&bare);
        }
    }
    log_reader_release(&r);
    arena_release(&a);
    fold_it(ix, (const char *)data, len, false, &whole);
    fold_it(ix, (const char *)data, len, true, &steps);
    MUST(whole.len == steps.len && memcmp(whole.p, steps.p, whole.len) == 0);
    buf_release(&whole);
    buf_release(&steps);
    close(fd);
    return 0;
}
