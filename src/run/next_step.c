#include "run/next_step.h"

static size_t
nth(const struct next_step *n, size_t k)
{
    return n->dag ? n->dag->order[k] : k;
}

static bool
is_open(const struct sched_phase *ph)
{
    return ph->state != PS_DONE && ph->state != PS_SKIPPED;
}

/* The first phase in the order of the graph that failed; SIZE_MAX: none. *more: how many others. */
static size_t
find_failed(const struct next_step *n, size_t *more)
{
    size_t found = SIZE_MAX;

    *more = 0;
    for (size_t k = 0; k < n->team->n_phases; k++) {
        size_t i = nth(n, k);
        if (n->phases[i].state != PS_FAILED)
            continue;
        if (found == SIZE_MAX)
            found = i;
        else
            ++*more;
    }
    return found;
}

/* The first phase that would have run next, or was cut off; SIZE_MAX: all is done. */
static size_t
find_open(const struct next_step *n)
{
    for (size_t k = 0; k < n->team->n_phases; k++) {
        size_t i = nth(n, k);
        if (!n->team->phases[i].is_support && is_open(&n->phases[i]))
            return i;
    }
    return SIZE_MAX;
}

/* Only a gate runs a support phase: the one that waits for it, else the first that is not done. */
static size_t
find_gate(const struct next_step *n)
{
    size_t found = SIZE_MAX;

    for (size_t k = 0; k < n->team->n_phases; k++) {
        size_t i = nth(n, k);
        if (n->team->phases[i].type != PHASE_GATE || n->team->phases[i].is_support)
            continue;
        if (n->phases[i].state == PS_ROUTING)
            return i;
        if (found == SIZE_MAX && is_open(&n->phases[i]))
            found = i;
    }
    return found;
}

static bool
has_done(const struct next_step *n)
{
    for (size_t i = 0; i < n->team->n_phases; i++)
        if (n->phases[i].state == PS_DONE)
            return true;
    return false;
}

static void
write_failed(struct buf *to, const struct next_step *n, size_t failed, size_t more)
{
    const struct phase *phases = n->team->phases;
    const struct next_step *sub = n->subs ? n->subs[failed] : NULL;
    size_t from = phases[failed].is_support ? find_gate(n) : failed;
    size_t more_below = 0, below = sub ? find_failed(sub, &more_below) : SIZE_MAX;
    const char *way = n->way ? n->way : "";

    if (below != SIZE_MAX) { /* its team is told of instead */
        write_failed(to, sub, below, more + more_below);
        return;
    }
    if (from == SIZE_MAX)
        buf_addf(to, "cliq log %s%s (shows what it said; cliq run starts anew", way,
                 phases[failed].name);
    else
        buf_addf(to, "cliq retry %s%s (mend the cause first: cliq log %s%s shows what it said", way,
                 phases[from].name, way, phases[failed].name);
    if (more)
        buf_addf(to, "; %zu more phase%s failed", more, more > 1 ? "s" : "");
    buf_adds(to, ")\n");
}

static void
write_open(struct buf *to, const struct next_step *n)
{
    size_t open = find_open(n);

    if (open == SIZE_MAX || (n->status == RUN_CANCELLED && !has_done(n)))
        buf_adds(to, "cliq run (starts anew)\n");
    else if (n->status == RUN_CANCELLED)
        buf_addf(to, "cliq retry %s (keeps what is done; cliq run starts anew)\n",
                 n->team->phases[open].name);
    else
        buf_addf(to, "cliq retry %s (when the cause is mended; it keeps what is done)\n",
                 n->team->phases[open].name);
}

void
next_step_write(struct buf *to, const struct next_step *n)
{
    size_t more, failed = find_failed(n, &more);

    if (n->status == RUN_COMPLETED)
        return;
    buf_adds(to, NEXT_STEP_WORD);
    if (n->is_damaged && (n->status == RUN_ACTIVE || n->is_unwritten))
        buf_adds(to, "cliq run --force (starts anew; cliq cancel ends it)\n");
    else if (n->status == RUN_ACTIVE)
        buf_adds(to, "cliq run --resume (goes on with it; cliq cancel ends it)\n");
    else if (n->is_unwritten)
        buf_adds(to, "cliq run --resume (goes on when the cause is mended)\n");
    else if (n->status == RUN_ESCALATED && failed != SIZE_MAX)
        write_failed(to, n, failed, more);
    else
        write_open(to, n);
}
