#include "serve/file_route.h"

#include "serve/reviews.h"
#include "serve/room_routes.h"
#include "serve/runs.h"
#include "serve/teams.h"

#include <assert.h>
#include <stddef.h>

enum { ROWS_MAX = 64 };

/* All rows in one array, made at the first call: a server finds a route for every request. */
static const struct file_route *rows[ROWS_MAX + 1];

static void
gather(void)
{
    static const struct file_route *const tables[] = { reviews_routes, room_routes, runs_routes,
                                                       teams_routes };
    size_t n = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct file_route *r = tables[i]; r->path; r++) {
            assert(n < ROWS_MAX);
            rows[n++] = r;
        }
}

const struct file_route *
file_route_nth(size_t i)
{
    if (!rows[0])
        gather();
    return i < ROWS_MAX ? rows[i] : NULL;
}
