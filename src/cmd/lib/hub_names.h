/*
 * hub_names - roles, rings and identities by name: does one exist, and if not, which is close?
 */
#ifndef CLIQ_CMD_LIB_HUB_NAMES_H
#define CLIQ_CMD_LIB_HUB_NAMES_H

#include "cmd/lib/hub_call.h"

/* Is `name` in the answer of HUB_ROLES, HUB_RINGS or HUB_IDENTITIES? Also true if the hub does not
 * answer. Else *near is the closest name, or NULL. */
bool hub_names_has(struct hub_call *c, enum hub_op op, const char *name, const char **near);

#endif
