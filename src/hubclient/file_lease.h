/*
 * file_lease - may a file be written? The leases of other identities, asked once, and the first
 * that covers a path.
 *
 *     const struct json *others;
 *     s = file_lease_others(&client, &arena, checkout.project, &others, e);
 *     const struct json *lease = file_lease_over(others, "src/main.c");
 *     if (lease)
 *         file_lease_says(&b, "src/main.c", lease);   src/main.c is leased by bob until …
 *
 * Tests: test/cli/lease.bats
 */
#ifndef CLIQ_HUBCLIENT_FILE_LEASE_H
#define CLIQ_HUBCLIENT_FILE_LEASE_H

#include "hubclient/hubclient.h"

/* The answer of HUB_LEASES for a project, without the caller's own. */
enum status file_lease_others(struct hubclient *d, struct arena *a, const char *project,
                              const struct json **out, struct err *e);
/* The first of them that overlaps the path (base/path_glob.h); NULL: none. */
const struct json *file_lease_over(const struct json *leases, const char *path);
/* "src/a.c is leased by bob until 2026-11-19T02:30:00.000Z (parser)" */
void file_lease_says(struct buf *to, const char *file, const struct json *lease);

#endif
