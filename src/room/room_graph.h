/*
 * room_graph - rooms that depend on rooms: which may begin, which never will, and circles. Pure.
 *
 * Tests: test/unit/test_room_graph.c
 */
#ifndef CLIQ_ROOM_ROOM_GRAPH_H
#define CLIQ_ROOM_ROOM_GRAPH_H

#include "base/buf.h"

struct room_node {
    const char *name;
    const char *const *depends_on;
    size_t n_depends_on;
};

enum room_readiness { ROOM_READY, ROOM_WAITING, ROOM_BLOCKED };

/* By the states of the rooms it depends on ("passed", "failed-final", "blocked"; NULL: there is no
 * such room yet). All passed: ready. One failed for good or is blocked: blocked. */
enum room_readiness room_readiness(const char *const *states, size_t n);
const char *room_readiness_name(enum room_readiness r);

/* Appends the first circle, "a -> b -> a"; false: there is none. Names that are no nodes are
 * passed over. */
bool room_graph_cycle(const struct room_node *nodes, size_t n, struct buf *to);

#endif
