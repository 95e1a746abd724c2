#include "run/past.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool
take(void *ctx, const struct event *ev, int64_t at_ms)
{
    struct past *p = ctx;

    if (!p->sched) { /* the first event: the head is known now */
        p->sched = sched_new(p->team, &p->head.options);
        p->started_ms = calloc(p->team->n_phases + 1, sizeof *p->started_ms);
        if (!p->sched || !p->started_ms)
            return false;
    }
    if (ev->kind == EV_STARTED)
        p->started_ms[ev->phase] = at_ms;
    if (ev->kind == EV_CANCEL || ev->kind == EV_ABORT)
        p->is_cancelled = true;
    if (ev->kind == EV_RERUN)
        p->is_cancelled = false;
    return sched_apply(p->sched, ev, NULL);
}

/* A journal that does not fit the team tells nothing else, but whether it ended. */
static bool
is_ended(int dir)
{
    struct log_reader r;
    struct log_record rec;
    int fd = SYS_RETRY(sys->openat(dir, JOURNAL_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));

    if (fd < 0)
        return false;
    log_reader_init(&r, fd, 0);
    bool is_it = log_prev(&r, &rec) && json_eq(json_get(rec.json, "ev"), "end");
    log_reader_release(&r);
    close(fd);
    return is_it;
}

enum status
past_load(struct past *p, int dir, const struct team *t, struct err *e)
{
    *p = (struct past){ .team = t };
    enum status s = journal_replay(dir, t, take, p, &p->head, e);
    if (s == ST_INVALID)
        p->head.has_end = is_ended(dir);
    return s;
}

void
past_release(struct past *p)
{
    sched_free(p->sched);
    free(p->started_ms);
    journal_head_release(&p->head);
    *p = (struct past){ 0 };
}
