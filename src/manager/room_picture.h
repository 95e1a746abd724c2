/*
 * room_picture - a room as people see it: what it is for, its state, who is awaited, what was said
 * last. For cliq room list and status, GET /rooms, and the tools of MCP.
 *
 *     {"room":"room-001","ref":"EPIC-001","title":"Sign in","state":"review","retries":0,
 *      "max_retries":3,"role":"qa","player":"person","readiness":"ready","depends_on":[],
 *      "messages":3,"last":{…},"roles":[…],"signed":["qa"],"unsigned":["engineer"]}
 *
 * Tests: test/cli/room.bats
 */
#ifndef CLIQ_MANAGER_ROOM_PICTURE_H
#define CLIQ_MANAGER_ROOM_PICTURE_H

#include "manager/players.h"
#include "manager/room_journal.h"
#include "manager/rooms.h"

struct room_picture {
    const char *project, *path; /* where it is, when there are several; set by the caller */
    struct room_config config;
    struct lifecycle lifecycle;
    struct room_past past;
    const char *state; /* pending and blocked, too */
    unsigned retries;
    int64_t since_ms;       /* the state; 0: unknown */
    const char *role;       /* the role that the state awaits; NULL: none */
    struct player player;   /* of that role */
    bool is_running;        /* its process runs */
    const char *readiness;  /* "ready", "waiting", "blocked", by its dependencies */
    const char **waits_for; /* of depends_on, those that did not pass */
    size_t n_waits_for;
    uint64_t messages, bad;  /* lines of the channel */
    const struct json *last; /* the last message; NULL: none */
    const char **done_by;    /* roles that signed it off since it passed */
    size_t n_done_by;
};

/* Reads the room; everything lives in the arena. */
enum status room_picture_read(const struct rooms *r, struct players *players, struct arena *a,
                              const char *room, struct room_picture *p, struct err *e);
/* As JSON; `is_whole`: with roles, life cycle, criteria and the task. */
void room_picture_json(const struct room_picture *p, bool is_whole, struct buf *to);
/* The role that must sign it off and did not, i from 0; NULL: none left. */
const char *room_picture_unsigned(const struct room_picture *p, size_t i);

#endif
