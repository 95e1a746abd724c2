/* serve_impl - what the files of the server share. */
#ifndef CLIQ_SERVE_SERVE_IMPL_H
#define CLIQ_SERVE_SERVE_IMPL_H

#include "base/outlet.h"
#include "base/watch.h"
#include "serve/envelope.h"
#include "serve/gate.h"
#include "serve/gather.h"
#include "serve/rate.h"
#include "serve/revoked.h"
#include "serve/serve.h"
#include "serve/stream.h"
#include "serve/worker.h"

#include <stdio.h>

#define SERVE_HOSTS     64
#define SERVE_TICKETS   1024
#define SERVE_KEYS      256
#define SERVE_KEY_SIZE  64
#define REQUEST_ID_SIZE 32
#define TICKET_MS       60000

/* A request that waits for the worker, or, a claim with wait_seconds, for something to claim. */
struct job {
    struct job *next; /* in `parked` */
    struct serve *s;
    struct http_conn *conn; /* until it is answered */
    struct route route;
    char request_id[REQUEST_ID_SIZE];
    struct arena arena;        /* of what is below */
    const char *method, *path; /* for the access log; NULL: there is none */
    struct hub_request request;
    char key[SERVE_KEY_SIZE]; /* the id of the caller's; "": none */
    int64_t wait_until_ms;    /* monotonic; 0: does not wait */
    uint64_t hopes;           /* as they were known when it was tried */
    bool is_gone;             /* the client went away */
};

/* Good for one stream, for a minute. */
struct ticket {
    char text[33], identity[65], key[SERVE_KEY_SIZE]; /* the id of the key it was made with */
    bool is_admin;
    uint64_t who; /* that key, in `rates` */
    int64_t until_ms;
};

/* A key that was looked up. Forgotten when any key changes. */
struct known_key {
    char text[SERVE_KEY_SIZE], identity[65], id[SERVE_KEY_SIZE];
    unsigned scopes;
};

/* Whom a request is from. */
struct caller {
    const char *identity;
    const char *key; /* its id; "": none */
    bool is_admin;
    uint64_t who; /* which key, in `rates`; 0: none that we know */
};

struct serve {
    const struct serve_options *o;
    struct loop *loop;
    struct http_server *http;
    struct hub *writer; /* the worker's */
    struct hub *reader; /* the loop's */
    struct worker *worker;
    struct streams *streams;
    struct watch watch;      /* of the log's directory */
    struct source *watching; /* of that, */
    struct source *lull;     /* which is paused until then (lull.h) */
    bool has_given;          /* a round, since the lull was last waited for */
    bool wants_awake;        /* agents are looked for at its end */
    struct round *round;     /* gathering */
    bool wants_look;         /* somebody else may have written */
    bool wants_check;        /* something changed while the worker worked */
    struct worker_news news;
    uint64_t looked_at; /* the last line when we looked what is new in the index */
    int log_dir;
    struct known_key *keys; /* SERVE_KEYS of them, by a hash of their text */
    struct revoked revoked; /* which the index may still have */
    uint64_t revoked_until; /* news.commits by which it has not */
    struct job *parked;
    struct awake *awake;      /* identities that listen */
    struct guard *guards;     /* supervisors of agents that live */
    struct source *wake;      /* for the first of the parked to give up */
    struct source *settle;    /* of what the loop did itself */
    struct gather gather;     /* of few requests, which the loop does itself */
    struct source *gathering; /* for one more turn */
    char host_texts[SERVE_HOSTS][176];
    const char *hosts[SERVE_HOSTS + 1];
    size_t n_hosts;
    struct gate_rules rules;
    struct ticket tickets[SERVE_TICKETS];
    size_t next_ticket;
    struct rate_rule rate;
    struct rates rates;
    char id_prefix[9];
    uint64_t n_ids;
    uint64_t answers[6]; /* by hundreds */
    uint64_t limited;    /* of those: 429 */
    bool has_access;
    struct outlet access; /* its log */
    bool is_access_told;  /* that it cannot be written */
    bool is_stopping;
};

#define SERVE_NO_KEY "the key is not known, or was revoked"

/* caller.c */
/* By the key or the ticket that the gate found; what is wrong with it goes into the verdict. */
void caller_by_key(struct serve *s, const struct route *route, struct arena *a,
                   struct gate_verdict *v, struct caller *by);
/* The ticket is used up only when the request is let in, by who calls this. */
struct ticket *caller_by_ticket(struct serve *s, struct gate_verdict *v, struct caller *by);
bool caller_make_ticket(struct serve *s, const struct caller *by, struct ticket **out);

/* front.c */
void front_request(void *ctx, struct http_conn *c, const struct http_request *r);
void front_round(void *ctx);
void front_lost(void *ctx);                        /* the index */
void front_look_for_revoked(struct serve *s);      /* keys, whoever did it */
bool front_is_gathered(const struct route *route); /* are its requests done in rounds? */
void front_done(void *ctx);                        /* the worker has something */
void front_changed(void *ctx);                     /* the log's directory changed */
void front_fault(void *ctx, const struct http_conn *c, const struct http_request *r, int status,
                 const char *reason, struct buf *headers, struct buf *body);
/* An identity was told so far by its stream. */
void front_woken(struct serve *s, const char *identity, uint64_t upto);
void front_free(struct serve *s);

/* page.c */
void page_metrics(struct serve *s, struct buf *to);
void page_health(struct serve *s, struct buf *to);
extern const char page_home[];

#endif
