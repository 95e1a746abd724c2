#include "serve/file_route.h"

#include "serve/hooks.h"
#include "serve/reviews.h"
#include "serve/room_routes.h"
#include "serve/runs.h"
#include "serve/teams.h"

#include <stddef.h>

const struct file_route *const file_route_tables[] = { hooks_routes, reviews_routes, room_routes,
                                                       runs_routes,  teams_routes,   NULL };
