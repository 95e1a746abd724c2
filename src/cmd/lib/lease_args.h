/*
 * lease_args - the paths of a command line as the arguments of a lease: which project, and which
 * paths there (context/checkout.h).
 */
#ifndef CLIQ_CMD_LIB_LEASE_ARGS_H
#define CLIQ_CMD_LIB_LEASE_ARGS_H

#include "cmd/lib/hub_show.h"

extern const struct hub_column lease_columns[];

/* Adds "project" and, of the words, "paths" to the arguments. The paths are relative to the working
 * directory and belong to one project. Without words only the project of the working directory. */
enum status
lease_args_add(struct hub_call *c, struct json *args, const struct args *a, struct err *e);

#endif
