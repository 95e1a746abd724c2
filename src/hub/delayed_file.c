/*
 * delayed_file - delayed.json: the queue of delayed signals, for people and other programs.
 *
 * The file is always written whole: by commands after every change of the queue, by a server once a
 * second and when it stops. The index holds the number of the change that the file shows, and is
 * committed after the file is renamed: when a server is killed in between, the next process that
 * opens the store writes the file. It also holds a mark of the file: a file that another program
 * removed or changed is written again by the next writer.
 *
 * Tests: test/unit/test_hub_delayed_file.c
 */
#include "hub/hub_impl.h"

#include "base/hash.h"
#include "base/sys.h"
#include "hub/hub_writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_EVERY_MS = 1000 };

static const char FILE_NAME[] = "delayed.json", TEMP_NAME[] = "delayed.json.tmp";

/* Changes whenever the file is replaced or written; never 0. */
static int64_t
mark_of(const struct stat *st)
{
    const int64_t parts[] = { (int64_t)st->st_ino, st->st_size, st->st_mtim.tv_sec,
                              st->st_mtim.tv_nsec };

    return (int64_t)(hash_bytes((const char *)parts, sizeof parts) >> 1 | 1);
}

/* With the log's lock, so there is one writer; a crash may have left the temporary file. */
static enum status
replace_file(struct hub *h, const struct buf *text, int64_t *mark, struct err *e)
{
    enum status s = ST_OK;
    struct stat st;
    int fd = SYS_RETRY(sys->openat(h->dir, TEMP_NAME,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd < 0)
        return err_sys(e, "open %s", TEMP_NAME);
    if (SYS_RETRY(sys->write(fd, text->p, text->len)) != (ssize_t)text->len)
        s = err_sys(e, "write %s", TEMP_NAME);
    else if (fstat(fd, &st) != 0) /* that of sys has no times */
        s = err_sys(e, "look at %s", TEMP_NAME);
    else
        *mark = mark_of(&st);
    close(fd);
    if (!s && sys->renameat(h->dir, TEMP_NAME, h->dir, FILE_NAME) != 0)
        s = err_sys(e, "rename %s", TEMP_NAME);
    if (s)
        unlinkat(h->dir, TEMP_NAME, 0);
    return s;
}

static enum status
write_file(struct hub *h, struct err *e)
{
    struct arena a = { 0 };
    struct buf b = { 0 }, text = { 0 };
    struct json *v;
    struct row *r = index_run(h->ix, "SELECT body FROM delayed ORDER BY at, type, id", "");
    bool is_whole = true;

    buf_adds(&text, "{\"version\":1,\"events\":[");
    while (index_next(h->ix, r)) {
        json_sep(&text);
        arena_reset(&a);
        is_whole = render_broadcast_line(&text, row_text(r, 0), false, &a) && is_whole;
    }
    buf_adds(&text, "]}");
    enum status s = index_status(h->ix, e);
    if (!s && (!is_whole || buf_failed(&text) || !json_parse(&a, text.p, text.len, &v, NULL)))
        s = err_nomem(e);
    if (!s) {
        json_write_pretty(&b, v, 0);
        buf_addc(&b, '\n');
        s = buf_status(&b, FILE_NAME, e);
    }
    if (!s)
        s = replace_file(h, &b, &h->fold.place.view, e);
    buf_release(&b);
    buf_release(&text);
    arena_release(&a);
    return s;
}

/* In a transaction. */
static enum status
write_and_note(struct hub *h, struct err *e)
{
    enum status s = write_file(h, e);

    if (!s)
        h->fold.place.shown = h->fold.place.delayed;
    hub_postpone_delayed_file(h);
    return s;
}

void
hub_postpone_delayed_file(struct hub *h)
{
    h->delayed_file_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + WRITE_EVERY_MS;
}

bool
hub_is_delayed_file_due(const struct hub *h)
{
    const struct index_place *p = &h->fold.place;

    return p->shown != p->delayed &&
           (!h->o.is_lasting || hub_clock_ms(CLOCK_BOOTTIME) >= h->delayed_file_at_ms);
}

void
hub_doubt_delayed_file(struct hub *h)
{
    struct index_place *p = &h->fold.place;
    struct stat st;

    if (p->delayed && p->shown == p->delayed &&
        (fstatat(h->dir, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0 || mark_of(&st) != p->view))
        p->shown = p->delayed - 1;
}

void
hub_refresh_delayed_file(struct hub *h)
{
    if (hub_is_delayed_file_due(h))
        write_and_note(h, NULL);
    h->is_delayed_file_old = h->fold.place.shown != h->fold.place.delayed;
}

enum status
hub_write_delayed_file(struct hub *h, struct err *e)
{
    enum status s = hub_begin(h, e);

    if (s)
        return s;
    s = write_and_note(h, e);
    fold_leave(&h->fold);
    enum status committed = index_commit(h->ix, s ? NULL : e);
    if (committed)
        fold_forget(&h->fold);
    h->is_delayed_file_old = s || committed;
    return s ? s : committed;
}

int64_t
hub_delayed_file_in_ms(const struct hub *h)
{
    int64_t in_ms = h->delayed_file_at_ms - hub_clock_ms(CLOCK_BOOTTIME);

    if (!h->is_delayed_file_old || !h->o.is_lasting || hub_write_retry_in_ms(h) >= 0)
        return -1;
    return in_ms > 0 ? in_ms : 0;
}
