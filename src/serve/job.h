/*
 * job - a request that waits for its round; a claim with wait_seconds also waits for a task.
 *
 *     job_new --> a round --> answered: job_tell, job_free
 *                  ^    |
 *                  |    v
 *               claim_waiters: a claim that found nothing yet
 *
 * Ownership: a job belongs to the round it is in, or to claim_waiters.
 */
#ifndef CLIQ_SERVE_JOB_H
#define CLIQ_SERVE_JOB_H

#include "serve/auth.h"
#include "serve/reply.h"

struct mcp_call;

struct job {
    struct serve *s;
    struct http_conn *conn; /* until it is answered; NULL: a request of the server itself */
    struct route route;
    char request_id[REQUEST_ID_SIZE];
    struct arena arena;            /* of the members below */
    struct http_text method, path; /* for the access log; p NULL: there is none */
    struct hub_request request;
    size_t bytes;              /* of its body */
    char key[SERVE_KEY_SIZE];  /* the id of the caller's key; "": none */
    uint64_t claim_epoch;      /* of the store when it was last tried */
    int64_t wait_until_ms;     /* monotonic; 0: does not wait */
    struct loop_source *timer; /* for that */
    struct job *next, *prev;   /* in claim_waiters, or among spare jobs */
    bool is_waiting;
    struct mcp_call *mcp; /* POST /mcp: the message that needs it (mcp_route.h); else NULL */
};

/* The request as a job; NULL: refused and answered. */
struct job *
job_new(const struct reply_to *to, const struct http_request *r, const struct caller *by);
/* The same with arguments, for a message of POST /mcp, which is the job's from then on. NULL:
 * refused and answered. */
struct job *job_new_for(const struct reply_to *to, const struct caller *by, enum hub_op op,
                        const struct json *args, struct mcp_call *mcp);
/* A request of the server itself: `r`, with these arguments; the identity is copied. NULL: no
 * memory. */
struct job *job_new_own(struct serve *s, const struct hub_request *r, const struct buf *args);
void job_free(struct job *j);
void job_end(struct serve *s); /* frees spare jobs, when the server ends */

/* Answers, and keeps the job. False: the client is gone, or got 503 instead. */
bool job_tell(struct job *j, const struct hub_reply *reply);
/* Answers 401 because the key was revoked, and frees the job. */
void job_refuse(struct job *j);

#endif
