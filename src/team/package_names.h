/*
 * package_names - which names the entries of a package may have. Pure.
 *
 * A name is relative, has no component "..", and only printable ASCII: other letters have several
 * spellings that some file systems take for one. For the same reason no two names may differ in
 * upper and lower case alone: "Roles/a.md" and "roles/b.md" neither.
 *
 * Tests: test/unit/test_package_names.c test/scenario/team_hostile.bats
 */
#ifndef CLIQ_TEAM_PACKAGE_NAMES_H
#define CLIQ_TEAM_PACKAGE_NAMES_H

#include <stddef.h>

#define PACKAGE_NAME_MAX  255 /* bytes of a component */
#define PACKAGE_PATH_MAX  1024
#define PACKAGE_DEPTH_MAX 32

/* The fault of the path, as in "the name …"; NULL: nothing. */
const char *package_names_fault(const char *path);

/* Sorts the paths. The first of two neighbours that name the same file, or differ in upper and
 * lower case alone, anywhere; NULL: all are different. Directories must be given once at most. */
const char *const *package_names_clash(const char **paths, size_t n);

#endif
