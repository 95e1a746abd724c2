/*
 * admin_key - the first key: a store in which no key has the scope admin gets one when a server
 * starts, for the identity admin.
 *
 * The key is kept in <config>/admin.key (0600), for commands on this machine (net/own_server.h). It
 * is printed to a terminal only.
 *
 * Tests: test/scenario/serve*.bats
 */
#ifndef CLIQ_SERVE_ADMIN_KEY_H
#define CLIQ_SERVE_ADMIN_KEY_H

#include "base/err.h"

struct hub;

enum status admin_key_make(struct hub *hub, const char *config, struct err *e);

#endif
