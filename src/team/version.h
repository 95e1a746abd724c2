/*
 * version - semantic versions (1.2.3) and ranges of them (cliq_version of a team).
 *
 *     >=0.1 <2     both must hold (a comma may stand between them)
 *     ^0.1.0       the leftmost number that is not 0 stays: 0.1.x
 *     ~1.2         1.2.x
 *     1.x  1  *    any of these
 *     1.2 - 1.4    from 1.2.0 to 1.4.x
 *     A || B       one must hold
 *
 * What stands after - or + of a version (a pre-release, a build) does not count in a range.
 *
 * Tests: test/unit/test_version.c
 */
#ifndef CLIQ_TEAM_VERSION_H
#define CLIQ_TEAM_VERSION_H

#include "base/err.h"

#include <stdbool.h>

struct version {
    unsigned n[3]; /* major, minor, patch */
    bool is_pre;   /* text follows, after a - */
};

/* 1.2.3, and any text after - or +; numbers of at most 9 digits. False: s is no version. */
bool version_parse(const char *s, struct version *out);
int version_compare(const struct version *a, const struct version *b); /* of the numbers */

/* Is the version in the range? ST_INVALID: the range cannot be read. */
enum status
version_in_range(const struct version *v, const char *range, bool *is_in, struct err *e);

enum version_part { VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH };
/* The next version: of a pre-release, the release that it leads to when that is enough. */
struct version version_bump(const struct version *v, enum version_part part);

#endif
