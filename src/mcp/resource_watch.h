/*
 * resource_watch - tells when a resource has changed: an inbox got a signal, a room a message, a
 * handoff was written.
 *
 * An inbox is followed as `cliq watch` does (hubclient/subscription.h), on files or at a server; a
 * room or handoff by inotify (base/watch.h). A change is a hint: the client reads the resource.
 *
 * Order of calls: resource_watch_open, then resource_watch_changed whenever its descriptor is
 * readable, resource_watch_close.
 *
 * Tests: test/scenario/mcp.bats
 */
#ifndef CLIQ_MCP_RESOURCE_WATCH_H
#define CLIQ_MCP_RESOURCE_WATCH_H

#include "base/watch.h"
#include "hubclient/subscription.h"

#include <sys/stat.h>

struct resource_watch {
    char *uri;      /* a copy */
    char *listener; /* JSON: the id of its subscriptions/listen; NULL: resources/subscribe */
    int fd;
    bool is_inbox;
    char identity[HUB_NAME_MAX + 1];
    struct hubclient hub;
    struct subscription subscription;
    struct watch watch;
    struct timespec written; /* of the file: inotify also tells of opens and closes */
    off_t size;
};

/* Not movable afterwards. `o`: how the server reaches the hub. */
enum status
resource_watch_open(struct resource_watch *w, const char *uri, const struct json *listener,
                    const struct hubclient_options *o, struct err *e);
/* Reads what made the descriptor readable; never blocks for longer than a reconnection. */
bool resource_watch_changed(struct resource_watch *w);
void resource_watch_close(struct resource_watch *w);

#endif
