/*
 * room_actor - one room at work: reads its channel, applies what counts, keeps its journal, posts,
 * and has its role started.
 *
 * room_actor_look is the one way forward. It reads what is new in the channel; the latest message
 * that the state answers to, behind the line that opened the state, moves the room; then it reads
 * again for the new state. Journal first, then what it announces, then the files for other tools.
 *
 * What follows is told by fields: is_over, wants_start (its role's process may begin: the manager
 * has a place to give), awaits_person.
 *
 * Errors end the room's work here, not its life: it stays where its journal says, and the manager
 * tells why (failed). But where another program holds the lock of the channel, the other rooms must
 * not wait for it: the room is left alone and taken up again (retry), as by a later manager, and
 * fails only after CHANNEL_LOCKED_MAX_MS.
 *
 * Tests: test/scenario/room_run.bats test/scenario/room_resume.bats
 */
#ifndef CLIQ_MANAGER_ROOM_ACTOR_H
#define CLIQ_MANAGER_ROOM_ACTOR_H

#include "manager/manager_tell.h"
#include "manager/role_process.h"
#include "manager/room_journal.h"
#include "room/room_graph.h"
#include "run/hub_publisher.h"

#define ROLE_LINGER_MS        5000 /* for a process whose role has answered by itself */
#define CHANNEL_WAIT_MS       100  /* for its lock; other writers hold it while they sync */
#define CHANNEL_RETRY_MS      200
#define CHANNEL_LOCKED_MAX_MS 10000

/* What all rooms of a manager share. */
struct actor_host {
    void *ctx;
    const struct rooms *rooms;
    struct players *players;
    struct loop *loop;
    struct hub_publisher *publisher; /* NULL: none */
    struct manager_voice voice;
    size_t max_body;
    bool is_ending; /* processes are being stopped: nothing new begins */
    /* Something changed at the end of a callback: the host may start what waits. */
    void (*settle)(void *ctx);
};

struct room_actor {
    struct actor_host *host;
    const char *room;
    struct arena arena;
    struct room_config config;
    struct lifecycle lifecycle;
    struct room_past past;
    int dir, fd;                       /* the room; its channel, for reading */
    struct channel channel;            /* for posting */
    struct log journal, quick_journal; /* the same file, synced or not (room_journal.h) */
    off_t seen;                        /* told and published up to here */
    off_t scanned;                     /* nothing between past.after and here counts */
    int watch;                         /* of the channel; see base/watch_group.h */
    bool needs_watch;
    struct player player;      /* of the present state's role */
    struct role_process *role; /* NULL: no process */
    bool is_stale;             /* it was started for an earlier visit, or is being stopped */
    bool is_interrupted;       /* stopped with the manager: its attempt does not count */
    struct loop_source *late, *linger;
    struct loop_source *retry; /* the channel was locked: when it is tried again */
    int64_t locked_ms;         /* since when; 0: it is not */
    enum room_readiness readiness;
    bool is_over; /* in a final state, or blocked */
    bool wants_start, awaits_person, has_told_person;
    enum status failed;
    struct err why;
};

/* Reads the room. Posts and starts nothing. */
enum status
room_actor_open(struct room_actor *a, struct actor_host *host, const char *room, struct err *e);
void room_actor_close(struct room_actor *a);

/* After open: does what an earlier manager announced, takes over its process. */
void room_actor_recover(struct room_actor *a);
/* How its dependencies are. */
void room_actor_set_readiness(struct room_actor *a, enum room_readiness r);
void room_actor_look(struct room_actor *a);
/* It has wants_start: begins the room if need be, and starts the process. */
void room_actor_start(struct room_actor *a);
/* Stops the process; the attempt does not count. */
void room_actor_interrupt(struct room_actor *a);

bool room_actor_is_there(const struct room_actor *a); /* its directory */
bool room_actor_has_begun(const struct room_actor *a);
bool room_actor_has_passed(const struct room_actor *a);
/* "passed", "blocked", ..., for rooms that depend on it. */
const char *room_actor_state(const struct room_actor *a);

#endif
