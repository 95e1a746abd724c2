/*
 * team_file - writes a file of a team's directory: all of it, or nothing.
 *
 * Tests: test/cli/team_edit.bats
 */
#ifndef CLIQ_CMD_LIB_TEAM_FILE_H
#define CLIQ_CMD_LIB_TEAM_FILE_H

#include "base/buf.h"

/* Writes `path` in the directory `dir`, with the permissions that the old one has. is_new: it must
 * not be there, else ST_CONFLICT. */
enum status
team_file_write(int dir, const char *path, const struct buf *text, bool is_new, struct err *e);

#endif
