/*
 * path_glob - patterns of file paths, and whether two of them can mean the same file.
 *
 *     src/main.c     that file
 *     src/?[a-c]*.c  ? is one character, [a-c] one of these, [!a-c] one that is not, * any number;
 *                    none of them is a /
 *     src/x/(two stars)/y.c   a segment of two stars is any number of segments, also none; at the
 *                    end of a pattern it stands for all that is below, and the directory itself
 *     a\*b           \ takes the special meaning from the next character
 *
 * A pattern is relative to the root of a project and in normal form: no / at either end, no empty
 * segment, no . and no .. (path_glob_check). Case counts, and a leading dot is a character like any
 * other.
 *
 * path_glob_overlap answers for the sets of paths, not for files that exist now: two agents that
 * are to create the same file conflict before it is there. Pure: no file, no memory.
 *
 * Tests: test/unit/test_path_glob.c test/fuzz/fuzz_path_glob.c
 */
#ifndef CLIQ_BASE_PATH_GLOB_H
#define CLIQ_BASE_PATH_GLOB_H

#include "base/buf.h"

#include <stdbool.h>

#define PATH_GLOB_MAX          512 /* bytes */
#define PATH_GLOB_SEGMENTS_MAX 64
#define PATH_GLOB_RANGES_MAX   32 /* in one [] */

/* ST_INVALID: not a pattern, or not in normal form; the sentence says what is wrong with it. */
enum status path_glob_check(const char *pattern, struct err *e);

/* Is there a path that both cover? Both have passed path_glob_check. */
bool path_glob_overlap(const char *a, const char *b);

/* Appends the path as a pattern that means it alone. */
void path_glob_escape(struct buf *to, const char *path);

#endif
