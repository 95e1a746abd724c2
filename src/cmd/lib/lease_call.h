/*
 * lease_call - what the commands of leases share: the paths of a command line, which belong to one
 * project (context/checkout.h), and the columns of what the hub answers.
 */
#ifndef CLIQ_CMD_LIB_LEASE_CALL_H
#define CLIQ_CMD_LIB_LEASE_CALL_H

#include "cmd/lib/hub_show.h"

extern const struct hub_column lease_columns[];

/* HUB_LEASE_TAKE or HUB_LEASE_RELEASE with these fields, of the words as paths relative to the
 * working directory; without words of the whole project. Shows the leases of the answer. */
enum status
lease_call(const struct args *a, enum hub_op op, const struct hub_field *fields, struct err *e);

#endif
