/*
 * mend - the log's lock, and what is to be done before it is had when a sync failed; when a full
 * disk is looked at again, and when to try again with an index that could not be written.
 */
#include "hub/hub_impl.h"

#include <string.h>

enum {
    MEND_MIN_MS = 100, /* after a failed sync; doubled with every one that follows */
    MEND_MAX_MS = 10000,
    ROOM_BYTES = 64 << 10, /* so much must fit before a disk is no longer full */
    FOLD_MAX_MS = 2000,    /* the same for the index, which streams wait for */
};

static int64_t
next_wait_ms(int64_t ms, int64_t max_ms)
{
    return ms == 0 ? MEND_MIN_MS : ms < max_ms / 2 ? 2 * ms : max_ms;
}

static int64_t
in_ms(int64_t at_ms)
{
    int64_t in = at_ms - hub_clock_ms(CLOCK_BOOTTIME);

    return in > 0 ? in : 0;
}

/* A disk that fails is asked again, but ever more rarely until it has taken a round. */
void
hub_note_trouble(struct hub *h, const struct err *why)
{
    h->retry_wait_ms = next_wait_ms(h->retry_wait_ms, MEND_MAX_MS);
    h->retry_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + h->retry_wait_ms;
    h->trouble = *why;
}

/* Every round tries to write: what is put off is only the look that tells that one would do. */
void
hub_note_full(struct hub *h, const struct err *why)
{
    if (h->is_full && in_ms(h->retry_at_ms) > 0)
        return;
    h->is_full = true;
    hub_note_trouble(h, why);
}

void
hub_note_room(struct hub *h)
{
    h->is_full = false;
    h->retry_wait_ms = 0;
}

int64_t
hub_write_retry_in_ms(const struct hub *h)
{
    return h->log.is_refusing || h->is_full ? in_ms(h->retry_at_ms) : -1;
}

/* Whoever may ask for it is told the reason, but not where the store is. */
static const char *
without_path(const struct hub *h, const char *why)
{
    size_t n = strlen(h->index_path);
    const char *at = strstr(why, h->index_path);

    return at && strncmp(at + n, ": ", 2) == 0 ? at + n + 2 : why;
}

/* Every round tries it, too: that puts off nothing. */
void
hub_note_behind(struct hub *h, const struct err *why)
{
    if (h->is_behind && in_ms(h->fold_at_ms) > 0)
        return;
    h->is_behind = true;
    h->fold_wait_ms = next_wait_ms(h->fold_wait_ms, FOLD_MAX_MS);
    h->fold_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + h->fold_wait_ms;
    err_say(&h->behind, "the index is behind the log, and streams with it: %s",
            without_path(h, why->text));
}

void
hub_note_level(struct hub *h)
{
    h->is_behind = false;
    h->fold_wait_ms = 0;
}

int64_t
hub_fold_in_ms(const struct hub *h)
{
    return h->is_behind ? in_ms(h->fold_at_ms) : -1;
}

const char *
hub_trouble(const struct hub *h)
{
    return h->log.is_refusing || h->is_full ? h->trouble.text
           : h->is_behind                   ? h->behind.text
                                            : NULL;
}

/* Nobody may write for hours: a disk that is no longer full is not to be called that. */
static void
look_for_room(struct hub *h)
{
    struct err why = h->trouble;

    if (!h->is_full || in_ms(h->retry_at_ms) > 0)
        return;
    if (log_has_room(&h->log, ROOM_BYTES))
        hub_note_room(h);
    else
        hub_note_full(h, &why);
}

enum status
hub_lock(struct hub *h, struct err *e)
{
    struct err why;

    if (h->log.is_refusing) {
        if (hub_write_retry_in_ms(h) > 0)
            return err_set(e, ST_IO, "a sync failed earlier (%s), and is tried again soon",
                           h->trouble.text);
        enum status s = log_repair(&h->log, &why);
        if (s) {
            hub_note_trouble(h, &why);
            err_say(e, "%s", why.text);
            return s;
        }
    }
    enum status s = log_lock(&h->log, e);
    if (!s)
        look_for_room(h);
    return s;
}
