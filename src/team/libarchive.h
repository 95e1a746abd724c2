/*
 * libarchive - the functions of libarchive, loaded at first use: its libraries (libxml2, ICU,
 * OpenSSL or nettle, six compressors) would take more of a start than all of cliq. Nothing links
 * it. `ar.read_new` is libarchive's archive_read_new.
 *
 * Only package_read.c and package_pack.c include this header.
 *
 * Tests: test/cli/team_pack.bats
 */
#ifndef CLIQ_TEAM_LIBARCHIVE_H
#define CLIQ_TEAM_LIBARCHIVE_H

#include "base/err.h"

#include <archive.h>
#include <archive_entry.h>

/* clang-format off */
#define LIBARCHIVE_FUNCTIONS(F)                                                                    \
    F(error_string)                                                                                \
    F(read_new) F(read_free) F(read_support_filter_gzip) F(read_support_format_tar)                \
    F(read_open_memory) F(read_next_header) F(read_data)                                           \
    F(write_new) F(write_free) F(write_close) F(write_open) F(write_add_filter_gzip)               \
    F(write_set_format_pax_restricted) F(write_set_options) F(write_set_bytes_in_last_block)       \
    F(write_header) F(write_data)                                                                  \
    F(entry_new) F(entry_free) F(entry_clear)                                                      \
    F(entry_pathname) F(entry_filetype) F(entry_perm) F(entry_size) F(entry_hardlink)              \
    F(entry_symlink)                                                                               \
    F(entry_set_pathname) F(entry_set_filetype) F(entry_set_perm) F(entry_set_size)                \
    F(entry_set_symlink) F(entry_set_mtime)
/* clang-format on */

struct libarchive {
#define LIBARCHIVE_DECLARE(name) __typeof__(archive_##name) *name;
    LIBARCHIVE_FUNCTIONS(LIBARCHIVE_DECLARE)
#undef LIBARCHIVE_DECLARE
};

extern struct libarchive ar; /* usable after libarchive_load succeeded */

/* ST_IO: the library cannot be loaded; the message names the package to install. */
enum status libarchive_load(struct err *e);

#endif
