/*
 * store_health - the hub's files: may we read and write them, and only we? Is there an index that
 * can be used? What takes long, comparing the index with every line of the log, is `cliq hub
 * check`.
 */
#include "doctor/doctor.h"

#include "base/path.h"
#include "doctor/file_mode.h"
#include "doctor/stale_files.h"
#include "hub/hub.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 300 };

static const char *const names[] = { "events.jsonl", "index.db", "delayed.json", "events.ahead" };

enum { N_NAMES = sizeof names / sizeof *names };

static const char *
below(struct doctor *d, const char *name)
{
    return doctor_text(d, "%s/signals%s%s", d->config, *name ? "/" : "", name);
}

/* Others may not write the store (hub/store_guard.c), and we must. */
static bool
look_at_modes(struct doctor *d)
{
    bool is_good = file_mode_look(d, "store", below(d, ""), DIR_OWN);

    for (size_t i = 0; i < N_NAMES; i++)
        if (access(below(d, names[i]), F_OK) == 0)
            is_good &= file_mode_look(d, names[i], below(d, names[i]), FILE_OWN);
    if (is_good && access(below(d, ""), W_OK) != 0) {
        doctor_add(d, DOCTOR_ERROR, "store", NULL,
                   "%s cannot be written: the disk is mounted read-only", below(d, ""));
        is_good = false;
    }
    return is_good;
}

/* delayed.json is JSON, and there when signals are delayed. */
static void
look_at_delayed(struct doctor *d, uint64_t delayed)
{
    struct buf text = { 0 };
    struct json *doc = NULL;
    enum status s = path_read_file(AT_FDCWD, below(d, "delayed.json"), &text, NULL);

    if (s == ST_NOT_FOUND && delayed)
        doctor_add_mendable(d, DOCTOR_WARNING, "delayed.json", "cliq hub rebuild",
                            "it is missing, and %" PRIu64 " signals are delayed", delayed);
    else if (!s && !json_parse(&d->arena, text.p ? text.p : "", text.len, &doc, NULL))
        doctor_add_mendable(d, DOCTOR_WARNING, "delayed.json", "cliq hub rebuild",
                            "it is damaged; the signals themselves are in the log");
    buf_release(&text);
}

static bool
has_index(struct doctor *d)
{
    struct hub *h = NULL;
    bool is_ready =
        hub_open(&h, d->config, &(struct hub_options){ .never_waits = true }, NULL) == ST_OK &&
        hub_is_ready(h);

    hub_close(h);
    return is_ready;
}

static void
look_inside(struct doctor *d)
{
    struct hub *h = NULL;
    struct hub_stats stats = { 0 };
    struct err e;
    enum status s =
        hub_open(&h, d->config, &(struct hub_options){ .lock_wait_ms = LOCK_WAIT_MS }, &e);

    if (!s)
        s = hub_stats(h, &stats, &e);
    if (s)
        doctor_add(d, DOCTOR_ERROR, "store", "cliq hub check", "%s", e.text);
    else if (stats.bad_lines)
        doctor_add(d, DOCTOR_ERROR, "store", "cliq hub check",
                   "%" PRIu64 " bad line%s in events.jsonl, which every reader passes over",
                   stats.bad_lines, stats.bad_lines == 1 ? "" : "s");
    else
        doctor_add(d, DOCTOR_OK, "store", NULL, "%" PRIu64 " signal%s, %" PRIu64 " KiB",
                   stats.signals, stats.signals == 1 ? "" : "s", stats.log_bytes / 1024);
    if (!s && stats.dead_letter)
        doctor_add(d, DOCTOR_NOTE, "dead letters", "cliq signal list --delivery-state dead_letter",
                   "%" PRIu64 " task%s failed too often", stats.dead_letter,
                   stats.dead_letter == 1 ? "" : "s");
    if (!s)
        look_at_delayed(d, stats.delayed);
    hub_close(h);
}

void
store_health_look(struct doctor *d)
{
    if (!d->config || access(below(d, "events.jsonl"), F_OK) != 0) {
        doctor_add(d, DOCTOR_OK, "store", NULL, "no signals yet");
        return;
    }
    stale_files_look(d, below(d, ""));
    if (!look_at_modes(d))
        return;
    if (!has_index(d))
        doctor_add_mendable(d, DOCTOR_WARNING, "index", "cliq hub rebuild",
                            "index.db is missing or cannot be used: the next command makes it "
                            "again from the log");
    else
        look_inside(d);
}

void
store_health_mend(struct doctor *d)
{
    struct hub *h = NULL;

    if (!d->config)
        return;
    file_mode_mend(below(d, ""), DIR_OWN);
    for (size_t i = 0; i < N_NAMES; i++)
        file_mode_mend(below(d, names[i]), FILE_OWN);
    stale_files_mend(below(d, ""));
    if (hub_open(&h, d->config, NULL, NULL) == ST_OK) /* this makes an index that is not there */
        hub_rebuild(h, NULL);
    hub_close(h);
}
