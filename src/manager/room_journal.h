/*
 * room_journal - journal.jsonl of a room: what the manager did with it, one event a line. The
 * state of a room is a fold of these lines over its channel.
 *
 *     {"ev":"begin","at":…,"state":"developing","after":0}
 *     {"ev":"start","at":…,"visit":1,"n":1,"role":"engineer","player":"command"}
 *     {"ev":"result","at":…,"visit":1,"n":1,"type":"done","id":"engineer-done-…"}
 *     {"ev":"move","at":…,"visit":2,"from":"developing","to":"review","retries":0,
 *      "by":"engineer-done-…","after":812}                                        (one line)
 *     {"ev":"move","at":…,"visit":3,"from":"review","to":"optimize","retries":1,
 *      "by":"qa-fail-…","after":1630,"posts":"fix","to_role":"engineer","id":"manager-fix-…"}
 *
 *     ev       is written
 *     begin    before the first role starts
 *     start    before the process of an attempt is started: attempt n of this visit of a state
 *     result   before the message that an attempt's process amounts to is posted, under that id
 *     crash    when its process died without a result
 *     stop     when its process was stopped, or never began: it does not count
 *     stall    when what it said is nothing that the state answers to
 *     move     when the room enters a state: `by` is the message that led there, or `late` is true.
 *              Messages count from byte `after` of the channel on; behind the message `id`, when
 *              the manager opens the state with one of its own
 *     blocked, free   when a dependency failed for good, and when it is well again
 *
 * Every message that the manager posts has its id here first. After a kill, a message whose id is
 * not in the channel is posted, and one that is there is not posted again. An attempt that was
 * started has an attempt file (proc/proc.h); one that was not is made impossible. So nothing is
 * done twice.
 *
 * Lines that change the state are synced before what they lead to. Those of an attempt are not:
 * they outlive the manager, and a power cut ends the processes that they are about, too. What an
 * attempt posted before it counts by itself then.
 *
 * Tests: test/unit/test_room_journal.c test/scenario/room_resume.bats
 */
#ifndef CLIQ_MANAGER_ROOM_JOURNAL_H
#define CLIQ_MANAGER_ROOM_JOURNAL_H

#include "log/log.h"
#include "room/lifecycle.h"

#define ROOM_JOURNAL "journal.jsonl"

enum room_event_kind {
    ROOM_BEGIN,
    ROOM_START,
    ROOM_RESULT,
    ROOM_CRASH,
    ROOM_STOP,
    ROOM_STALL,
    ROOM_MOVE,
    ROOM_BLOCKED_EVENT,
    ROOM_FREE,
};

/* NULL and 0 leave members out. */
struct room_event {
    enum room_event_kind kind;
    unsigned visit, n, retries;
    const char *from, *to;     /* states; begin: `to` */
    const char *role, *player; /* start */
    const char *id, *type;     /* result; move: of the manager's message */
    const char *to_role, *by;  /* move */
    bool is_late, adds_notes;  /* move */
    int64_t after;             /* begin, move */
};

/* Must its line be on disk before the next step? */
bool room_event_is_durable(enum room_event_kind kind);
void room_event_write(struct buf *to, const struct room_event *ev, int64_t at_ms);

/* The fold. Strings live in the arena. */
struct room_past {
    bool has_begun, is_blocked;
    struct life life;
    off_t after;        /* messages behind it count */
    int64_t moved_ms;   /* when the state was entered */
    int64_t started_ms; /* when its role was started first; 0: not yet */
    unsigned n;         /* attempts of this visit */
    bool is_open;       /* attempt n has no end */
    const char *player; /* of attempt n */
    /* a message that was announced; NULL: none */
    const char *result_id, *result_type;       /* of attempt n */
    const char *open_id, *open_type, *open_to; /* of the manager, which opens the state */
    const char *by, *from;                     /* how the state was entered */
    bool is_late, adds_notes;
    uint64_t bad; /* lines that could not be used */
};

/* Starts a fold at the first state of `c`. */
void room_past_init(struct room_past *p, const struct lifecycle *c);
/* One line. False: it cannot be used. */
bool room_past_apply(struct room_past *p, struct arena *a, const struct json *line);
/* Reads the journal in the directory; without one the past is empty. */
enum status room_past_read(struct room_past *p, struct arena *a, int dir, const struct lifecycle *c,
                           struct err *e);

#endif
