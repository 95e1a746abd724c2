/*
 * mend - the log's lock, and what is to be done before it is had when a sync failed.
 */
#include "hub/hub_impl.h"

enum {
    MEND_MIN_MS = 100, /* after a failed sync; doubled with every one that follows */
    MEND_MAX_MS = 10000,
};

/* A disk that fails is asked again, but ever more rarely until it has taken a round. */
void
hub_note_trouble(struct hub *h, const struct err *why)
{
    h->mend_wait_ms = h->mend_wait_ms == 0                ? MEND_MIN_MS
                      : h->mend_wait_ms < MEND_MAX_MS / 2 ? 2 * h->mend_wait_ms
                                                          : MEND_MAX_MS;
    h->mend_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + h->mend_wait_ms;
    h->trouble = *why;
}

int64_t
hub_mend_in_ms(const struct hub *h)
{
    if (!h->log.is_refusing)
        return -1;
    int64_t in = h->mend_at_ms - hub_clock_ms(CLOCK_BOOTTIME);
    return in > 0 ? in : 0;
}

const char *
hub_trouble(const struct hub *h)
{
    return h->log.is_refusing ? h->trouble.text : NULL;
}

enum status
hub_lock(struct hub *h, struct err *e)
{
    struct err why;

    if (h->log.is_refusing) {
        if (hub_mend_in_ms(h) > 0)
            return err_set(e, ST_IO, "a sync failed earlier (%s), and is tried again soon",
                           h->trouble.text);
        enum status s = log_mend(&h->log, &why);
        if (s) {
            hub_note_trouble(h, &why);
            err_say(e, "%s", why.text);
            return s;
        }
    }
    return log_lock(&h->log, e);
}
