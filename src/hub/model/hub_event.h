/*
 * hub_event - one line of events.jsonl, in memory.
 *
 * Two kinds of lines: signals, and bookkeeping, which has an `op` (events.def). A struct hub_event
 * holds either; members that are not set are NULL or 0 and are not written. The format, with
 * an example of every kind, is docs/formats/events.md.
 *
 * Reading accepts any spacing and order, and ignores unknown members and members of a wrong type:
 * foreign programs may write the log, and one bad member is no reason to lose a signal. A line that
 * lacks a member its kind needs is no event.
 *
 * Ownership: texts live in the arena given or in what was parsed; JSON values are borrowed.
 * Pure code: no file, no clock.
 *
 * Tests: test/unit/test_hub_render.c test/fuzz/fuzz_event.c
 */
#ifndef CLIQ_HUB_MODEL_HUB_EVENT_H
#define CLIQ_HUB_MODEL_HUB_EVENT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum hub_event_kind {
    EV_NONE,
    EV_SIGNAL,
#define EVENT(id, ...) EV_##id,
#include "hub/model/events.def"
#undef EVENT
    EV_KINDS
};

enum hub_event_flag { FLAG_UNSET, FLAG_NO, FLAG_YES };

#define EVENT_ID_LEN   24   /* of the ids we make */
#define EVENT_TEXT_MAX 4096 /* bytes of ids, names and the like; longer ones are ignored */

struct hub_event {
    enum hub_event_kind kind;
    const char *id;     /* a signal's own, bare; of what a bookkeeping line makes */
    const char *signal; /* the bare id of the signal that a bookkeeping line is about */
    const char *by;     /* who; a signal's from_identity */
    int64_t at;         /* when, ms; a signal's createdAt */

    /* signals, and what is scheduled to be one */
    const char *type;
    const struct json *source, *data;
    const struct json *content, *urgency, *tags, *resources, *attachments, *metadata;
    const char *from_role, *to_role, *to_ring, *to_identity, *parent, *thread;
    const char *task_status; /* signals: "open" makes a task of any type; op status: the new one */
    const char *delayed;     /* the schedule that brought it */
    int64_t expires_at;      /* signals: not to be worked on after that time; 0: ever */
    const char *dedup_key, *dedup_hash;
    int64_t dedup_lines; /* of the batch that the key is for */

    /* leases and retries: a wall time, and the same on the clock of one boot */
    const char *claim;
    int64_t until;
    const char *boot;
    int64_t boot_until;
    const struct json *error;

    /* receipts, subscriptions, schedules */
    const char *state, *pattern, *repeat_key;
    enum hub_event_flag silent;
    int64_t deliver_at;

    /* identities, roles, rings, keys */
    const char *identity, *role, *ring, *name, *purpose, *type_of, *agent, *dir, *hash;
    const struct json *scopes;
    /* leases of files */
    const char *project, *reason;
    const struct json *paths;
    int64_t from, upto; /* woken: the last line that its agent was given; cut: the lost lines */
};

const char *hub_event_name(enum hub_event_kind kind); /* "claim"; "emit" for signals */

/* False: the line is no event of ours (unknown op, or a member that its kind needs is
 * missing). `scratch` also holds the copied texts; false without memory, too. */
bool hub_event_read(struct hub_event *ev, const struct json *line, struct arena *scratch);
/* The same from the line's text, which must live as long as the event. */
bool hub_event_parse(struct hub_event *ev, const char *text, size_t len, struct arena *scratch);

/* The line's text, without '\n' and seal. */
void hub_event_write(struct buf *to, const struct hub_event *ev);

/* Who a signal comes from:
 *
 *     {"type":"system"}                      cliq itself
 *     {"type":"agent","id":"builder"}        the id is required
 *     {"type":"webhook","id":"github"}       the id may be left out
 *     {"type":"process","id":"ci-4711"}      the id may be left out
 */
enum signal_source_kind { SOURCE_SYSTEM, SOURCE_AGENT, SOURCE_WEBHOOK, SOURCE_PROCESS };

struct signal_source { /* zero: the system */
    enum signal_source_kind kind;
    struct text id; /* trimmed; length 0: none */
};

/* Strict: another key is ST_INVALID, and so is an id that is not UTF-8. Borrows from v; NULL: the
 * system. */
enum status signal_source_read(const struct json *v, struct signal_source *out, struct err *e);
/* A kind alone, by its name. */
enum status
signal_source_read_kind(const struct json *v, enum signal_source_kind *out, struct err *e);
/* Borrows from s; NULL without memory. */
struct json *signal_source_json(struct arena *a, const struct signal_source *s);

/* The id of a foreign signal that has none: by its line's number, so every reader agrees. */
void hub_event_line_id(char to[EVENT_ID_LEN + 1], uint64_t seq);
/* "signal:abc" -> "abc" */
const char *hub_event_bare_id(const char *id);
/* Is the signal one to be claimed? */
bool hub_event_is_task(const struct hub_event *ev);

#endif
