/* view - delayed.json: what is delayed, for people and other programs. */
#include "hub/hub_impl.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char VIEW_NAME[] = "delayed.json";

static enum status
replace_file(struct hub *h, const char *name, const struct buf *text, struct err *e)
{
    char temp[80];
    enum status s = ST_OK;

    snprintf(temp, sizeof temp, "%s.tmp-%d", name, (int)sys->getpid());
    int fd = SYS_RETRY(
        sys->openat(h->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd < 0)
        return err_sys(e, "open %s", temp);
    if (SYS_RETRY(sys->write(fd, text->p, text->len)) != (ssize_t)text->len)
        s = err_sys(e, "write %s", temp);
    close(fd);
    if (!s && sys->renameat(h->dir, temp, h->dir, name) != 0)
        s = err_sys(e, "rename %s", temp);
    if (s)
        unlinkat(h->dir, temp, 0);
    return s;
}

/* A view for people and other programs: nothing here reads it. */
enum status
hub_write_view(struct hub *h, struct err *e)
{
    struct arena a = { 0 };
    struct buf b = { 0 };
    struct json *v = json_new(&a, JSON_OBJECT), *list = json_new(&a, JSON_ARRAY), *before = NULL;
    bool is_whole = v && list;
    struct row *r = index_run(h->ix, "SELECT body FROM delayed ORDER BY at, type, id", "");

    while (list && index_next(h->ix, r)) {
        const char *body = row_dup(r, 0, &a);
        struct json *one = body ? show_delayed(body, strlen(body), &a) : NULL;
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
        s = replace_file(h, VIEW_NAME, &b, e);
    buf_release(&b);
    arena_release(&a);
    return s;
}
