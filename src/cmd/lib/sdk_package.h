/*
 * sdk_package - the SDKs for JavaScript and Python as files that come with cliq, and copies of
 * them.
 *
 * They are in the share directory: $CLIQ_SHARE, else PREFIX/share/cliq for PREFIX/bin/cliq, else
 * the source tree of a program that was built there (build/cliq, build/sanitize/cliq).
 *
 *     <share>/sdk-js/                the package @cliqhub/cliq-sdk
 *     <share>/sdk-python/cliq_sdk/   the package cliq_sdk
 *     <share>/examples/starter/      first agents in shell and C
 *
 * Tests: test/scenario/sdk_install.bats
 */
#ifndef CLIQ_CMD_LIB_SDK_PACKAGE_H
#define CLIQ_CMD_LIB_SDK_PACKAGE_H

#include "base/buf.h"

struct sdk_package {
    const char *language; /* "js", "python" */
    const char *search;   /* below the share directory: where programs look for the package */
    const char *source;   /* its files; flat */
    const char *target;   /* where a copy goes, below the directory of the agent */
};

/* ST_INVALID: there is no package for that language. */
enum status sdk_package_find(const char *language, const struct sdk_package **out, struct err *e);
/* Appends the path of `name` in the share directory. ST_NOT_FOUND: there is no share directory. */
enum status sdk_share_path(const char *name, struct buf *to, struct err *e);
/* Copies the package's files below `dir`, which exists. Files of an older copy are replaced, one at
 * a time. */
enum status sdk_package_copy(const struct sdk_package *p, const char *dir, struct err *e);

#endif
