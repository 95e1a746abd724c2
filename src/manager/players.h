/*
 * players - what plays the role of a room: an agent, a command, or people.
 *
 *     roles.<name>.command   a shell command: the message that starts it on standard input, its
 *                            standard output is what it says
 *     roles.<name>.agent     an agent of cliq (agents/agents.def, or the project's own)
 *     neither                a person, who posts into the room
 *
 * Tests: test/scenario/room_run.bats test/scenario/room_agents.bats
 */
#ifndef CLIQ_MANAGER_PLAYERS_H
#define CLIQ_MANAGER_PLAYERS_H

#include "manager/rooms.h"
#include "team/agent.h"

enum player_kind { PLAYER_PERSON, PLAYER_COMMAND, PLAYER_AGENT };

struct player {
    enum player_kind kind;
    const char *name;    /* the agent; "command"; "person" */
    const char *command; /* of a command */
};

/* The settings of a project, in which roles are looked up. */
struct players {
    struct settings settings;
    const struct json *agents_json; /* the project's own agents; NULL: none */
    const char *state_dir;          /* borrowed */
    struct arena arena;
};

/* ST_INVALID: the settings are bad. players_close is safe after any outcome. */
enum status players_open(struct players *p, const struct rooms *r, struct err *e);
void players_close(struct players *p);

/* What plays the role; strings live in p. ST_INVALID: agent and command are both set. */
enum status players_find(struct players *p, const char *role, struct player *out, struct err *e);
/* The program of an agent. ST_NOT_FOUND, ST_REFUSED (not trusted): it cannot be started. */
enum status players_agent(struct players *p, struct arena *a, const char *name, struct agent *out,
                          struct err *e);

#endif
