/*
 * hooks - POST /hooks/claude: an event of Claude Code's HTTP hooks, answered as cliq hook does
 * (hook/hook.h). The key says who the agent is.
 *
 * The client goes on whatever happens: what cannot be read or done is answered with {}.
 *
 * Tests: test/scenario/hooks_http.bats
 */
#ifndef CLIQ_SERVE_HOOKS_H
#define CLIQ_SERVE_HOOKS_H

#include "serve/file_route.h"

extern const struct file_route hooks_routes[];

#endif
