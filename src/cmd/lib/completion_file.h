/*
 * completion_file - the completion script of each shell, and the file in which that shell finds it.
 *
 *     struct completion_file f = { 0 };
 *     if (completion_file_find(&f) && !f.is_there)      by $SHELL
 *         s = completion_file_write(&f, e);
 *     completion_file_release(&f);
 *
 * zsh has no such file in a home directory: find is false for it, and f.shell is set.
 *
 * Tests: test/scenario/setup.bats test/scenario/help.bats
 */
#ifndef CLIQ_CMD_LIB_COMPLETION_FILE_H
#define CLIQ_CMD_LIB_COMPLETION_FILE_H

#include "base/buf.h"

struct completion_file {
    const char *shell; /* "bash"; NULL: another one */
    struct buf path;
    bool is_there;
};

const char *completion_script(const char *shell); /* NULL: none for that shell */
bool completion_file_find(struct completion_file *f);
enum status completion_file_write(const struct completion_file *f, struct err *e);
void completion_file_release(struct completion_file *f);

#endif
