#include "room/room_graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum room_readiness
room_readiness(const char *const *states, size_t n)
{
    enum room_readiness r = ROOM_READY;

    for (size_t i = 0; i < n; i++) {
        if (states[i] &&
            (strcmp(states[i], "failed-final") == 0 || strcmp(states[i], "blocked") == 0))
            return ROOM_BLOCKED;
        if (!states[i] || strcmp(states[i], "passed") != 0)
            r = ROOM_WAITING;
    }
    return r;
}

const char *
room_readiness_name(enum room_readiness r)
{
    static const char *const names[] = { "ready", "waiting", "blocked" };

    return names[r];
}

/* ---- circles ---- */

/* A walk in depth; a node on the path that is met again closes a circle. */
struct circle_walk {
    const struct room_node *nodes;
    size_t n;
    enum { FRESH, ON_PATH, DONE } * marks;
    size_t *path;
    size_t *next; /* of each node on the path, which dependency comes next */
};

static size_t
find(const struct circle_walk *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->nodes[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static void
tell(const struct circle_walk *w, size_t depth, size_t again, struct buf *to)
{
    size_t i = depth;

    while (w->path[i] != again)
        i--;
    for (; i <= depth; i++)
        buf_addf(to, "%s -> ", w->nodes[w->path[i]].name);
    buf_adds(to, w->nodes[again].name);
}

static bool
walk_from(struct circle_walk *w, size_t root, struct buf *to)
{
    size_t depth = 0;

    w->path[0] = root;
    w->next[0] = 0;
    w->marks[root] = ON_PATH;
    for (;;) {
        const struct room_node *node = &w->nodes[w->path[depth]];
        if (w->next[depth] == node->n_depends_on) {
            w->marks[w->path[depth]] = DONE;
            if (depth-- == 0)
                return false;
            continue;
        }
        size_t to_visit = find(w, node->depends_on[w->next[depth]++]);
        if (to_visit == SIZE_MAX || w->marks[to_visit] == DONE)
            continue;
        if (w->marks[to_visit] == ON_PATH) {
            tell(w, depth, to_visit, to);
            return true;
        }
        depth++;
        w->path[depth] = to_visit;
        w->next[depth] = 0;
        w->marks[to_visit] = ON_PATH;
    }
}

bool
room_graph_cycle(const struct room_node *nodes, size_t n, struct buf *to)
{
    struct circle_walk w = { .nodes = nodes, .n = n };
    bool is_found = false;

    w.marks = calloc(n + 1, sizeof *w.marks);
    w.path = calloc(n + 1, sizeof *w.path);
    w.next = calloc(n + 1, sizeof *w.next);
    if (!w.marks || !w.path || !w.next)
        to->is_starved = true;
    for (size_t i = 0; i < n && !is_found && !to->is_starved; i++)
        if (w.marks[i] == FRESH)
            is_found = walk_from(&w, i, to);
    free(w.marks);
    free(w.path);
    free(w.next);
    return is_found;
}
