/*
 * view - delayed.json: what is delayed, for people and other programs.
 *
 * It is written whole: by commands with every change of the queue, by who stays (a server) once a
 * second and at its end. The index knows which of the queue's changes it shows: it is committed
 * after the file has its name, so what a killed server left to do is done by the next who opens the
 * store.
 */
#include "hub/hub_impl.h"

#include "base/sys.h"
#include "hub/hub_writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { VIEW_MS = 1000 };

static const char VIEW_NAME[] = "delayed.json", TEMP_NAME[] = "delayed.json.tmp";

/* With the log's lock there is one who writes it: what a killed one left is written over. */
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
    if (!s && sys->renameat(h->dir, TEMP_NAME, h->dir, VIEW_NAME) != 0)
        s = err_sys(e, "rename %s", TEMP_NAME);
    if (s)
        unlinkat(h->dir, TEMP_NAME, 0);
    return s;
}

/* Nothing here reads it. */
static enum status
write_file(struct hub *h, struct err *e)
{
    struct arena a = { 0 };
    struct buf b = { 0 };
    struct json *v = json_new(&a, JSON_OBJECT), *list = json_new(&a, JSON_ARRAY), *before = NULL;
    bool is_whole = v && list;
    struct row *r = index_run(h->ix, "SELECT body FROM delayed ORDER BY at, type, id", "");

    while (list && index_next(h->ix, r)) {
        const char *body = row_dup(r, 0, &a);
        struct json *one = body ? render_delayed(body, strlen(body), &a) : NULL;
        if (!one) {
            is_whole = false;
            continue;
        }
        json_add_behind(list, &before, one);
    }
    enum status s = is_whole ? index_status(h->ix, e) : err_set(e, ST_IO, "out of memory");
    if (!s) {
        json_set(v, "version", json_new_int(&a, 1));
        json_set(v, "events", list);
        json_write_pretty(&b, v, 0);
        buf_addc(&b, '\n');
        s = buf_status(&b, VIEW_NAME, e);
    }
    if (!s)
        s = replace_file(h, &b, e);
    buf_release(&b);
    arena_release(&a);
    return s;
}

/* In a transaction. */
static enum status
show(struct hub *h, struct err *e)
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
    h->delayed_file_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + VIEW_MS;
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
        show(h, NULL);
    h->is_delayed_file_old = h->fold.place.shown != h->fold.place.delayed;
}

enum status
hub_write_delayed_file(struct hub *h, struct err *e)
{
    enum status s = hub_begin(h, e);

    if (s)
        return s;
    s = show(h, e);
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
