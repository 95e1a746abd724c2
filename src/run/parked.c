#include "run/parked.h"

#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

bool
parked_look(struct parked *p, const struct state_dir *f, const char *run_id, const char *gate,
            unsigned attempt)
{
    struct arena a = { 0 };
    struct json *doc;
    uint64_t n;

    if (p->timer >= 0 && read(p->timer, &n, sizeof n) < 0)
        n = 0; /* it is not due: a clock was set, or a file changed */
    review_make_id(p->id, run_id, gate, attempt);
    bool is_there = review_load(f, &a, p->id, &doc, NULL) == ST_OK;
    p->due_ms = is_there ? review_due_ms(doc) : 0;
    arena_release(&a);
    return is_there;
}

enum status
parked_wait(struct parked *p, struct loop *loop, loop_fn *fn, void *ctx, struct err *e)
{
    struct itimerspec at = { .it_value = { .tv_sec = p->due_ms / 1000,
                                           .tv_nsec = p->due_ms % 1000 * 1000000 } };

    p->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->timer < 0 ||
        timerfd_settime(p->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) != 0)
        return err_sys(e, "wait for a review");
    p->source = loop_on_readable(loop, p->timer, fn, ctx, e);
    return p->source ? ST_OK : ST_IO;
}

bool
parked_is_file(const struct parked *p, const char *name)
{
    size_t n = strlen(p->id);

    return strncmp(name, p->id, n) == 0 && strcmp(name + n, ".json") == 0;
}

void
parked_release(struct parked *p)
{
    loop_drop(p->source);
    if (p->timer >= 0)
        close(p->timer);
    p->source = NULL;
    p->timer = -1;
}

void
parked_cancel(const struct state_dir *f, const char *run_id, const char *gate, unsigned attempt)
{
    struct arena a = { 0 };
    char id[REVIEW_ID_SIZE];
    struct json *doc;

    review_make_id(id, run_id, gate, attempt);
    review_move(f, &a, id, "open", "cancelled", &doc, NULL);
    arena_release(&a);
}
