/*
 * delayed_file - delayed.json: the queue of delayed signals, for people and other programs.
 *
 * The file is always written whole: by commands after every change of the queue, by a server once a
 * second and when it stops. The index holds the number of the change that the file shows, and is
 * committed after the file is renamed: when a server is killed in between, the next process that
 * opens the store writes the file.
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "hub/hub_writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WRITE_EVERY_MS = 1000 };

static const char FILE_NAME[] = "delayed.json", TEMP_NAME[] = "delayed.json.tmp";

/* With the log's lock, so there is one writer; a crash may have left the temporary file. */
static enum status
replace_file(struct hub *h, const struct buf *text, struct err *e)
{
    enum status s = ST_OK;
    int fd = SYS_RETRY(sys->openat(h->dir, TEMP_NAME,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));

    if (fd < 0)
        return err_sys(e, "open %s", TEMP_NAME);
    if (SYS_RETRY(sys->write(fd, text->p, text->len)) != (ssize_t)text->len)
        s = err_sys(e, "write %s", TEMP_NAME);
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
        s = replace_file(h, &b, e);
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
