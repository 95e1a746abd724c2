/*
 * help - texts made from the command table: --help, `cliq help`, man pages.
 */
#ifndef CLIQ_CMD_HELP_H
#define CLIQ_CMD_HELP_H

#include "cmd/cmd.h"

/* Prints a command's help on standard output. */
enum status help_command(const struct cmd *c, struct err *e);
/* Adds "try cliq NAME --help" to a sentence about wrong usage. */
void help_hint(const char *name, struct err *e);
/* argv names no command: --help, --version, a group, a misspelling or nothing. */
enum status help_without_command(int argc, char **argv, struct err *e);

#endif
