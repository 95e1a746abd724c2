/*
 * file_leases - the leases of files that are in force: one row for each path.
 *
 * A lease is what one `lease` line gives one holder: some paths of one project (base/path_glob.h),
 * until a time. Two leases of different holders never overlap. A holder that takes a path again
 * moves it to the new lease. Ended by a `lease_end` line, which the holder writes, or any writer
 * when the time is over (request/timers.c).
 *
 * Tests: test/unit/test_hub_leases.c
 */
#ifndef CLIQ_HUB_INDEX_FILE_LEASES_H
#define CLIQ_HUB_INDEX_FILE_LEASES_H

#include "hub/index/index.h"
#include "hub/model/hub_event.h"

#define FILE_LEASE_PATHS_MAX   100  /* of one request */
#define FILE_LEASE_PROJECT_MAX 2000 /* paths of one project */

/* A path that is leased. Texts live in the arena given. */
struct file_lease {
    const char *id, *project, *path, *holder, *reason;
    int64_t taken, until, boot_until;
    const char *boot; /* "": none */
};

/* Behind "SELECT"; file_lease_read takes such a row. */
#define FILE_LEASE_ROW                                                                             \
    " id, project, path, holder, reason, taken, until, boot_until, coalesce(boot, '')"
/* False: out of memory. */
bool file_lease_read(struct row *r, struct arena *a, struct file_lease *out);

/* Is one of the paths leased to another holder? Then *out is the first such lease, and *path the
 * path that it overlaps. */
bool file_leases_find_other(struct index *ix, const char *project, const char *holder,
                            const struct json *paths, struct arena *a, struct file_lease *out,
                            const struct json **path);

/* EV_LEASE and EV_LEASE_END. False: not valid in the present state, nothing changed. */
bool file_leases_apply(struct index *ix, const struct hub_event *ev, uint64_t seq, struct arena *a);

#endif
