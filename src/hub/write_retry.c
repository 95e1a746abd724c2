/*
 * write_retry - the log's lock, and back-off after failures.
 *
 *     failed sync     all writes are refused until log_repair worked: tried at the next hub_lock
 *                     after 100 ms, 200 ms, ... 10 s
 *     failed append   every round tries to write; a look for free space clears /health
 *     failed commit   of the index: every round folds again; without rounds after 100 ms ... 2 s
 *
 * Tests: test/unit/test_hub_*.c test/fault/test_hub.c
 */
#include "hub/hub_impl.h"

#include "hub/hub_writer.h"

#include <string.h>

enum {
    RETRY_MIN_MS = 100, /* after the first failure; doubled with each one that follows */
    RETRY_MAX_MS = 10000,
    ROOM_BYTES = 64 << 10, /* free space from which a disk is no longer called full */
    FOLD_MAX_MS = 2000,    /* for the index, which streams wait for */
};

static int64_t
next_wait_ms(int64_t ms, int64_t max_ms)
{
    return ms == 0 ? RETRY_MIN_MS : ms < max_ms / 2 ? 2 * ms : max_ms;
}

static int64_t
in_ms(int64_t at_ms)
{
    int64_t in = at_ms - hub_clock_ms(CLOCK_BOOTTIME);

    return in > 0 ? in : 0;
}

void
hub_note_trouble(struct hub *h, const struct err *why)
{
    h->retry_wait_ms = next_wait_ms(h->retry_wait_ms, RETRY_MAX_MS);
    h->retry_at_ms = hub_clock_ms(CLOCK_BOOTTIME) + h->retry_wait_ms;
    h->trouble = *why;
}

/* Every round tries to write anyway: only the look for free space is put off. */
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

/* Clients learn the reason, but not where the store is. */
static const char *
without_path(const struct hub *h, const char *why)
{
    size_t n = strlen(h->index_path);
    const char *at = strstr(why, h->index_path);

    return at && strncmp(at + n, ": ", 2) == 0 ? at + n + 2 : why;
}

/* Rounds fold, too: a failure meanwhile does not put off the next try. */
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

/* Without rounds only this look finds that the disk has room again. */
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
            return err_set(
                e, ST_IO,
                "writes are paused after a failed fdatasync (%s); next attempt within 10 s",
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
