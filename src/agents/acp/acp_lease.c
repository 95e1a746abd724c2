#include "agents/acp/acp_lease.h"

#include "context/checkout.h"
#include "hubclient/file_lease.h"
#include "net/fetch.h"
#include "net/libcurl.h"

enum { LOCK_WAIT_MS = 2000 };

bool
acp_lease_forbids(const struct context *c, const char *path, struct buf *says)
{
    struct hubclient_options o = { .identity = c->phase,
                                   .hub.lock_wait_ms = LOCK_WAIT_MS,
                                   .hub.may_be_read_only = true,
                                   .secure = fetch_secure };
    const struct json *others = NULL, *lease = NULL;
    const char *name = NULL;
    struct arena a = { 0 };
    struct checkout here;
    struct hubclient hub;
    enum status s = checkout_of_file(&here, c->work_dir ? c->work_dir : ".", path, &a, &name, NULL);

    if (!s && !hubclient_open(&hub, &o, NULL)) {
        s = hub.place.is_tls ? libcurl_load(NULL) : ST_OK;
        if (!s && !file_lease_others(&hub, &a, here.project, &others, NULL))
            lease = file_lease_over(others, name);
        if (lease) {
            file_lease_says(says, path, lease);
            buf_adds(says, ": nothing was written. Work on other files, or wait until it is free");
        }
        hubclient_close(&hub);
    }
    arena_release(&a);
    return lease != NULL;
}
