#include "log/log_snapshot.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 5 };

/* Inserts the file at the front of the list. Takes ownership of fd. */
static enum status
add(struct log_snapshot *f, int fd, const char *name, uint64_t first, struct err *e)
{
    struct log_snapshot_file one = { .fd = fd, .first = first };
    struct log_snapshot_file *list = realloc(f->list, (f->n + 1) * sizeof *list);
    enum status s = ST_OK;

    if (!list)
        s = err_nomem(e);
    else if (sys->fstat(fd, &one.st) != 0)
        s = err_sys(e, "look at %s", name);
    f->list = list ? list : f->list;
    if (s) {
        close(fd);
        return s;
    }
    snprintf(one.name, sizeof one.name, "%s", name);
    memmove(list + 1, list, f->n++ * sizeof *list);
    list[0] = one;
    return ST_OK;
}

/* *is_gone: the segment was removed after it was found. Creates the current file (first 0) if it is
 * missing: the process that rotated the log may have been killed before it created the file. */
static enum status
open_file(struct log_snapshot *f, int dir, const char *name, uint64_t first, bool *is_gone,
          struct err *e)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (first ? 0 : O_CREAT);
    int fd = SYS_RETRY(sys->openat(dir, name, flags, 0600));

    if (fd >= 0)
        return add(f, fd, name, first, e);
    *is_gone = errno == ENOENT;
    return err_sys(e, "open %s", name);
}

/* Closes the files of lines before `first`. */
static void
drop(struct log_snapshot *f, uint64_t first)
{
    size_t n = 0;

    while (n + 1 < f->n && f->list[n].first < first)
        close(f->list[n++].fd);
    f->n -= n;
    memmove(f->list, f->list + n, f->n * sizeof *f->list);
}

static enum status
open_segments(struct log_snapshot *f, const struct log *l, bool *is_gone, struct err *e)
{
    struct err why;
    char name[SEGMENT_NAME_SIZE];
    uint64_t first = UINT64_MAX;
    enum status s = ST_OK;

    while (!s && first > 1) {
        s = segment_find(l->dir, l->name, first - 1, name, &first, &why);
        if (s == ST_NOT_FOUND)
            return ST_OK; /* no older segment */
        if (s)
            err_say(e, "%s", why.text);
        else
            s = open_file(f, l->dir, name, first, is_gone, e);
    }
    return s;
}

static enum status
open_kept(struct log_snapshot *f, const struct log *l, bool *is_gone, struct err *e)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t first;
    enum status s = segment_find_kept(l->dir, l->name, &first, e);

    if (s || !first)
        return s;
    drop(f, first); /* segments that were dropped after they were opened */
    segment_kept_name(name, l->name, first);
    s = open_file(f, l->dir, name, 1, is_gone, e);
    if (!s)
        f->list[0].is_kept = true;
    return s;
}

enum status
log_snapshot_open(struct log_snapshot *f, const struct log *l, struct err *e)
{
    bool is_gone = true;
    enum status s = ST_OK;

    for (int tries = 0; is_gone && tries < TRIES; tries++) {
        *f = (struct log_snapshot){ 0 };
        is_gone = false;
        s = open_file(f, l->dir, l->name, 0, &is_gone, e);
        if (!s && l->is_locked)
            f->list[0].st.st_size = l->end;
        if (!s)
            s = open_segments(f, l, &is_gone, e);
        if (!s)
            s = open_kept(f, l, &is_gone, e);
        if (s)
            log_snapshot_close(f);
    }
    return s;
}

void
log_snapshot_close(struct log_snapshot *f)
{
    for (size_t i = 0; i < f->n; i++)
        close(f->list[i].fd);
    free(f->list);
    *f = (struct log_snapshot){ 0 };
}

enum status
log_snapshot_drop(struct log_snapshot *f, uint64_t first, int fd, const char *name, struct err *e)
{
    drop(f, first);
    enum status s = add(f, fd, name, 1, e);
    if (!s)
        f->list[0].is_kept = true;
    return s;
}

size_t
log_snapshot_find(const struct log_snapshot *f, uint64_t seq)
{
    size_t i = 0;

    while (i + 1 < f->n && f->list[i + 1].first && f->list[i + 1].first <= seq)
        i++;
    return f->n > 1 && f->list[0].first <= seq ? i : f->n - 1;
}

const struct log_snapshot_file *
log_snapshot_last(const struct log_snapshot *f)
{
    return &f->list[f->n - 1];
}
