/*
 * review - what people decide at a gate: .cliq/reviews/<id>.json, and beside it
 * .cliq/reviews/<id>/.
 *
 *     {"v":1,"id":"accept-1-3fa9c2","run":"cliq-a1b2c3-18af…","gate":"accept","attempt":1,
 *      "iteration":1,"max_iterations":3,"state":"open","require":"any",
 *      "reviewers":[{"ref":"slack:elan","identity":"elan","task":"signal:…"}],
 *      "created_ms":…,"expires_ms":…,"remind_ms":…,"told_ms":…,"route_targets":["build"],
 *      "checks":[…],"handoffs":[…],"artifacts":[…],"answers":[{"by":"elan","verdict":"approve",…}]}
 *
 *     open --answers decide--> approve | changes | reject
 *      |  `--expires_ms--> expired
 *      `--the gate's attempt is stopped--> cancelled --it goes on--> open
 *
 * The gate's agent makes the file, tells the reviewers (told_ms: the last time), and ends an
 * expired one; then it ends, too, and no process waits: its orchestrator starts it again when the
 * file changes or review_due_ms has come (attempt.c). `cliq review` and HTTP add answers. All
 * change it under the lock .cliq/reviews/.lock, and each change is a new file: written, synced,
 * renamed, and the directory synced. So of two answers one is first, and one that was given is
 * never lost. Readers take no lock.
 *
 * The id is made of run, gate and attempt: an agent that is started again finds its review. A
 * retry is another attempt, and so another review.
 *
 * A document is a JSON tree in the caller's arena.
 *
 * Tests: test/unit/test_review.c test/scenario/review.bats
 */
#ifndef CLIQ_RUN_REVIEW_H
#define CLIQ_RUN_REVIEW_H

#include "base/json.h"
#include "context/state_dir.h"

#define REVIEW_ID_SIZE  64
#define REVIEW_TEXT_MAX ((size_t)16 << 10) /* of an answer */

enum review_verdict { REVIEW_NONE, REVIEW_APPROVE, REVIEW_CHANGES, REVIEW_REJECT, REVIEW_VERDICTS };
const char *review_verdict_name(enum review_verdict v);  /* "approve" */
enum review_verdict review_verdict_of(const char *name); /* REVIEW_NONE: it is no verdict */

struct review_answer {
    const char *by; /* an identity */
    enum review_verdict verdict;
    const char *to;   /* changes: the phase; NULL: the first route target */
    const char *text; /* NULL: none */
};

/* "accept-1-3fa9c2" */
void review_make_id(char to[REVIEW_ID_SIZE], const char *run, const char *gate, int64_t attempt);
/* Who "slack:elan", "@elan" or "elan" is: elan. */
const char *review_identity(const char *ref);

/* ---- documents: pure ---- */

/* The texts of a document; "" when it has none. They live in the arena. */
const char *review_text(struct arena *a, const struct json *doc, const char *key);
bool review_is(const struct json *doc, const char *state);
bool review_is_reviewer(const struct json *doc, const char *identity);
/* Has this one of its reviewers answered? */
bool review_has_answer_of(const struct json *doc, const struct json *reviewer);
/* "elan, ops": the reviewers who have not answered. */
void review_awaited(struct arena *a, const struct json *doc, struct buf *to);
/* The answer that decides: with require all an approval counts when every reviewer approved.
 * NULL: none yet. */
const struct json *review_decision(const struct json *doc);
/* When the gate's agent has something to do, in wall time: the next reminder or the end of the
 * review; 0: now, because it is decided, or its reviewers were not told. */
int64_t review_due_ms(const struct json *doc);
/* May this be answered so, at that time? ST_CONFLICT: it was answered, or is over. ST_REFUSED: not
 * by that identity. ST_INVALID: no such route target. Sets to of `changes`. */
enum status review_check(struct arena *a, const struct json *doc, struct review_answer *given,
                         int64_t now_ms, struct err *e);

/* ---- files ---- */

/* ST_NOT_FOUND: there is no such review. */
enum status review_load(const struct state_dir *f, struct arena *a, const char *id,
                        struct json **doc, struct err *e);
/* The review whose id begins with `prefix`. ST_NOT_FOUND suggests; ST_INVALID: more than one. */
enum status review_find(const struct state_dir *f, struct arena *a, const char *prefix,
                        struct json **doc, struct err *e);
/* All of them, the oldest first: an array. Files that are no reviews are left out. */
enum status
review_list(const struct state_dir *f, struct arena *a, struct json **docs, struct err *e);

/* Writes a new review. The caller is the gate's agent, before anything else knows of it. */
enum status review_make(const struct state_dir *f, const struct json *doc, struct err *e);
/* Adds the answer, and ends the review when that decides it. *doc is the review then. */
enum status review_answer(const struct state_dir *f, struct arena *a, const char *id,
                          struct review_answer *given, struct json **doc, struct err *e);
/* Sets its state, when that is `from`; *doc is the review then, in whatever state it is. */
enum status review_move(const struct state_dir *f, struct arena *a, const char *id,
                        const char *from, const char *to, struct json **doc, struct err *e);
/* Notes that its reviewers were told, at that time. */
enum status review_note_told(const struct state_dir *f, struct arena *a, const char *id,
                             int64_t now_ms, struct err *e);
/* Notes the task of a reviewer in the hub. */
enum status review_note_task(const struct state_dir *f, struct arena *a, const char *id,
                             const char *identity, const char *task, struct err *e);

#endif
