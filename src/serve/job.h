/*
 * job - a request that waits for the worker, or, a claim with wait_seconds, for something to claim.
 *
 *     job_new --> intake (a round) --> worker --> job_tell, job_free
 *                    ^                   |
 *                    `------ parked <----'  a claim that found nothing yet
 *
 * Ownership: a job belongs to the round it is in, or to `parked`.
 */
#ifndef CLIQ_SERVE_JOB_H
#define CLIQ_SERVE_JOB_H

#include "serve/auth.h"
#include "serve/reply.h"

struct job {
    struct serve *s;
    struct http_conn *conn; /* until it is answered; NULL: one of our own, which nobody waits for */
    struct route route;
    char request_id[REQUEST_ID_SIZE];
    struct arena arena;            /* of what is below */
    struct http_text method, path; /* for the access log; p NULL: there is none */
    struct hub_request request;
    size_t bytes;              /* of its body */
    char key[SERVE_KEY_SIZE];  /* the id of the caller's; "": none */
    uint64_t claim_epoch;      /* as they were known when it was tried */
    int64_t wait_until_ms;     /* monotonic; 0: does not wait */
    struct loop_source *timer; /* for that */
    struct job *next, *prev;   /* in `parked`, or of those that are spare */
    bool is_waiting;
};

/* The request as a job; NULL: refused and answered. */
struct job *
job_new(const struct reply_to *to, const struct http_request *r, const struct caller *by);
/* One of our own: `r` without its arguments, which are this text; its identity is copied. NULL: no
 * memory. */
struct job *job_new_own(struct serve *s, const struct hub_request *r, const struct buf *args);
void job_free(struct job *j);
void job_end(struct serve *s); /* nobody makes any more */

/* Answers; the job is still there. False: the client will not hear it. */
bool job_tell(struct job *j, const struct hub_reply *reply);
/* Answers that its key is none any more, and frees it. */
void job_refuse(struct job *j);

#endif
