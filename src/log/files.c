#include "log/files.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before those that are there. */
static enum status
add(struct log_files *f, int dir, const char *name, uint64_t first, struct err *e)
{
    struct log_file *list = realloc(f->list, (f->n + 1) * sizeof *list);

    if (!list)
        return err_set(e, ST_IO, "out of memory");
    f->list = list;
    struct log_file one = { .first = first };
    snprintf(one.name, sizeof one.name, "%s", name);
    one.fd = SYS_RETRY(sys->openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    if (one.fd < 0)
        return err_sys(e, "open %s", name);
    if (sys->fstat(one.fd, &one.st) != 0) {
        enum status s = err_sys(e, "look at %s", name);
        close(one.fd);
        return s;
    }
    memmove(list + 1, list, f->n++ * sizeof *list);
    list[0] = one;
    return ST_OK;
}

enum status
log_files_open(struct log_files *f, const struct log *l, struct err *e)
{
    struct err why;
    char name[SEGMENT_NAME_SIZE];
    uint64_t first = UINT64_MAX;

    *f = (struct log_files){ 0 };
    enum status s = add(f, l->dir, l->name, 0, e);
    if (!s && l->is_locked)
        f->list[0].st.st_size = l->end;
    while (!s && first > 1) {
        s = segment_find(l->dir, l->name, first - 1, name, &first, &why);
        if (s == ST_NOT_FOUND)
            return ST_OK; /* these are all */
        if (s)
            err_say(e, "%s", why.text);
        else
            s = add(f, l->dir, name, first, e);
    }
    if (s)
        log_files_close(f);
    return s;
}

void
log_files_close(struct log_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        close(f->list[i].fd);
    free(f->list);
    *f = (struct log_files){ 0 };
}

const struct log_file *
log_files_find(const struct log_files *f, uint64_t seq)
{
    const struct log_file *best = NULL;

    for (size_t i = 0; i + 1 < f->n && f->list[i].first <= seq; i++)
        best = &f->list[i];
    return best;
}

const struct log_file *
log_files_last(const struct log_files *f)
{
    return &f->list[f->n - 1];
}
