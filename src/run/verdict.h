/*
 * verdict - what a gate decided: read from its complete line, and made to stand where
 * those whom it concerns read it.
 *
 *     {"verdict":{"outcome":"ROUTE","target":"developer","reason":"Tests fail."}}
 *
 * The SDK writes the envelope itself; the orchestrator does for an agent that did not.
 */
#ifndef CLIQ_RUN_VERDICT_H
#define CLIQ_RUN_VERDICT_H

#include "run/attempt_files.h"

const char *verdict_name(enum verdict v); /* "PASS"; "" for none */

/* Fills verdict, target (SIZE_MAX: none that the team knows) and text. Strings go into
 * the arena. */
void verdict_read(const struct team *t, const struct json *result, struct arena *a,
                  struct sched_event *ev);

/* PASS: the envelope for each successor; ROUTE: for the target; unless the agent put one
 * there in this attempt. *ours is the file of the gate's last one that we wrote; 0: none. */
enum status verdict_publish(const struct plan *p, const struct attempt_id *at,
                            const struct sched_event *ev, ino_t *ours, struct err *e);

#endif
