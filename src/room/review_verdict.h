/*
 * review_verdict - the verdict in what a role wrote: pass or fail, fix or reject, approved or not.
 *
 * Looked for in this order:
 *     the last line that begins with "VERDICT:"      VERDICT: PASS
 *     the last "VERDICT:" anywhere                   I am done. VERDICT: FAIL
 *     a line with nothing but the word, among the first 20
 * Decoration of Markdown around it (**, ##, `, >) does not count, nor does the case of the letters.
 * A template that was copied, "VERDICT: PASS|FAIL", is no verdict.
 *
 * Tests: test/unit/test_review_verdict.c
 */
#ifndef CLIQ_ROOM_REVIEW_VERDICT_H
#define CLIQ_ROOM_REVIEW_VERDICT_H

#include <stddef.h>

#define REVIEW_VERDICT_LINES 20 /* that may hold the bare word */

/* The index of the word (upper-case) that is the verdict; SIZE_MAX: there is none. */
size_t review_verdict(const char *text, size_t len, const char *const *words, size_t n_words);

#endif
