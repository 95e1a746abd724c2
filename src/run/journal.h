/*
 * journal - run/journal.jsonl: what happened to a run, one event a line, durable.
 *
 * `cliq run --resume` is this file replayed through sched_apply; so an event is written
 * before what it leads to is done. Lines are those of log/log.h (docs/formats/log.md).
 *
 *     {"at":"2026-05-29T06:04:14.222Z","ev":"begin","run":"r-1f3a","team":"@local/x",
 *      "workflow":"9f86d081","jobs":4,"fail_fast":false,"agent":"claude-code"}  (one line)
 *     {"at":"…","ev":"started","phase":"build","attempt":1,"agent":"script"}
 *     {"at":"…","ev":"result","phase":"build","attempt":1,"outcome":"error","text":"no disk"}
 *     {"at":"…","ev":"gone","phase":"build","attempt":1}
 *     {"at":"…","ev":"due","phase":"build","attempt":1}
 *     {"at":"…","ev":"result","phase":"build","attempt":2,"outcome":"crash","final":true}
 *     {"at":"…","ev":"result","phase":"review","attempt":1,"outcome":"complete",
 *      "verdict":{"outcome":"ROUTE","target":"build"},"text":"tests fail",
 *      "usage":{"model":"gpt-5","input_tokens":5210,"output_tokens":830,"cost_usd":0.0148}}
 *      (one line)
 *     {"at":"…","ev":"end","status":"ESCALATED","reason":"…"}
 *     {"at":"…","ev":"rerun","phase":"build","workflow":"4fc82b26","jobs":4,"fail_fast":true}
 *
 *     field      in                         is
 *     at         every line                 when it was written, UTC, milliseconds
 *     ev         every line                 begin started result gone skip due cancel escalate
 *                                           abort rerun; end and note are the driver's own
 *     run, team  begin                      see struct journal_head
 *     above      begin                      of the run of a team phase: the run above and its
 *                                           attempt, "<run>/<phase>.<n>"; absent: of the run itself
 *                rerun                      the same, when that attempt goes on with an earlier run
 *     below      rerun                      "test" of `retry build/test`: where the team of the
 *                                           phase goes on; absent: all of it runs again
 *     jobs, fail_fast  begin rerun          the options from here on; absent: as before
 *     agent      begin rerun                --agent, from here on; absent: none was given
 *                started                    the agent of this attempt; older versions: absent
 *     workflow   begin rerun                its hash from here on: it was mended, or is the same
 *     phase      all but begin cancel abort its name
 *                escalate
 *     attempt    started result gone        from 1; in skip and due when it is known
 *     outcome    result                     complete error crash timeout
 *     verdict    result of a gate           outcome PASS ROUTE ESCALATE; target of a ROUTE
 *     final      result                     true: its phase failed, and was not to be tried again
 *     usage      result                     what its model used (context/usage.h); absent: nothing
 *     text       result cancel abort        what was said, at most JOURNAL_TEXT_MAX bytes
 *                escalate
 *
 * A reader ignores members it does not know, "end", "note", blank lines and torn ones (the
 * sealed fragments of log.h: they were never acted on). Any other line that it cannot
 * read, a kind of event or a phase it does not know make the journal useless for going on: a
 * state that misses one event is a wrong state. Who looks on passes over them.
 */
#ifndef CLIQ_RUN_JOURNAL_H
#define CLIQ_RUN_JOURNAL_H

#include "base/boot_id.h"
#include "log/log.h"
#include "run/sched.h"

#define JOURNAL_NAME "journal.jsonl"
/* bytes of an event's text; the rest is in the agent's log */
#define JOURNAL_TEXT_MAX ((size_t)16 << 10)
#define JOURNAL_NOTES    3

/* The first line: which run this is. Strings are borrowed by journal_open; those that
 * journal_replay fills in live in the arena until journal_head_release. */
struct journal_head {
    const char *run_id, *team, *workflow; /* workflow: a hash of its text; replay: the latest */
    const char *above; /* of a team phase: the attempt above, "<run>/<phase>.<n>"; NULL: none */
    const char *agent; /* the run's --agent; NULL: none was given; replay: the latest */
    struct sched_options options; /* a replay needs the same ones; replay: the latest */
    int64_t at_ms;                /* replay: when the run began */
    /* replay: the last end line, unless a rerun came after it */
    bool has_end;
    enum run_status end;
    const char *reason; /* of that end; NULL: none */
    int64_t end_ms;     /* when it was */
    /* replay: the driver's latest remarks since the begin or the latest rerun, the oldest first */
    const char *notes[JOURNAL_NOTES];
    size_t n_notes; /* how many there were: only the last JOURNAL_NOTES are kept */
    /* replay: the first line that could not be used, from 1, and why (a constant) */
    uint64_t bad_line;
    const char *problem;
    struct arena arena;
};
void journal_head_release(struct journal_head *h);

struct journal {
    struct log log;
    const struct team *team; /* borrowed */
    /* borrowed: what rerun lines tell; NULL: nothing */
    const char *workflow, *agent, *above;
    struct buf text; /* lines that wait to be written */
    size_t *ends;    /* of each in text */
    struct log_text *lines;
    size_t n, cap;
};

/* With a head: a new journal in `dir` (run/), in place of an old one; its begin line is
 * written with the first events. Without: to be continued; ST_NOT_FOUND when there is none. dir
 * must stay open. t NULL: for a line or two, none of which names a phase. */
enum status journal_open(struct journal *j, int dir, const struct team *t,
                         const struct journal_head *head, struct err *e);
/* Calls fn while what was written goes to the disk (log/log.h). */
void journal_meanwhile(struct journal *j, void (*fn)(void *ctx), void *ctx);
void journal_close(struct journal *j); /* safe on any state after journal_open, and twice */

/* All n events in one write and one sync (of at most LOG_BATCH_MAX lines each).
 * EV_BEGIN is passed over: it is in the head. */
enum status
journal_write(struct journal *j, const struct sched_event *evs, size_t n, struct err *e);
/* As journal_write, but the lines may be written together with the next ones. */
enum status journal_add(struct journal *j, const struct sched_event *evs, size_t n, struct err *e);
/* Keeps room on the disk for n events without text and the driver's last line. ST_IO: there is
 * none. */
enum status journal_make_room(struct journal *j, size_t n, const char *reason, struct err *e);
/* The driver's own last line. */
enum status
journal_end(struct journal *j, enum run_status status, const char *reason, struct err *e);
/* The driver's own remark, for people: cliq status shows it. */
enum status journal_note(struct journal *j, const char *text, struct err *e);

/* Takes one event of the past; its text lives as long as the call. False: it cannot be. */
typedef bool journal_event_fn(void *ctx, const struct sched_event *ev, int64_t at_ms);

/*
 * Gives every event to fn, EV_BEGIN first; the head is filled before that, and its arena
 * must be zero or released. ST_NOT_FOUND: there is no journal, or nothing in it.
 * ST_INVALID: it does not fit this team; the sentence says to use --force.
 */
enum status journal_replay(int dir, const struct team *t, journal_event_fn *fn, void *ctx,
                           struct journal_head *head, struct err *e);

/* Takes a line that cannot be used. */
typedef void journal_bad_fn(void *ctx, uint64_t line, const char *problem);

struct journal_taker {
    journal_event_fn *event;
    journal_bad_fn *bad;
    void *ctx;
};

/* As journal_replay, for programs that only show a run: a line that cannot be used is passed over,
 * the first one too. ST_INVALID: no line could be used. */
enum status journal_look(int dir, const struct team *t, const struct journal_taker *taker,
                         struct journal_head *head, struct err *e);

#endif
