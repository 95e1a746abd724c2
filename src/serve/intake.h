/*
 * intake - the round that is gathering: jobs go in, until it is given to the worker.
 */
#ifndef CLIQ_SERVE_INTAKE_H
#define CLIQ_SERVE_INTAKE_H

#include "serve/job.h"

/* False: no memory, or it is full; the job stays the caller's. */
bool intake_add(struct serve *s, struct job *j);
/* One of our own (job_new_own), if there is memory for it. */
void intake_add_own(struct serve *s, const struct hub_request *r, const struct buf *args);
/* Refuses those of that key: it was good when they were read, and is not now. */
void intake_revoke(struct serve *s, const char *key);
void intake_free(struct serve *s);

#endif
