/* serve_impl - shared by the files of the server: its state. */
#ifndef CLIQ_SERVE_SERVE_IMPL_H
#define CLIQ_SERVE_SERVE_IMPL_H

#include "base/async_out.h"
#include "base/watch.h"
#include "hub/hub_writer.h"
#include "serve/admission.h"
#include "serve/batch_window.h"
#include "serve/rate.h"
#include "serve/revoke_watch.h"
#include "serve/serve.h"
#include "serve/stream.h"
#include "serve/worker.h"

#include <stdio.h>

#define SERVE_HOSTS     64
#define SERVE_LISTENERS 16
#define SERVE_TICKETS   1024
#define TICKETS_EACH    64 /* that one identity may have at a time */
#define SERVE_KEYS      256
#define SERVE_KEY_SIZE  64
#define REQUEST_ID_SIZE 32
#define TICKET_MS       60000
#define TICKET_LEN      32

/* Opens one stream, or hands over one key, within a minute. */
struct ticket {
    char text[TICKET_LEN + 1], identity[65],
        key[SERVE_KEY_SIZE];    /* key: the id of the key it was made with */
    char hands[SERVE_KEY_SIZE]; /* the text of the key that it hands over; "": it opens a stream */
    bool is_admin, reads_all;
    uint64_t who;         /* that key in `rates` */
    int64_t key_until_ms; /* when the key expires; 0: never */
    int64_t until_ms;
};

/* A key that was looked up. Forgotten when any key changes. */
struct known_key {
    char text[SERVE_KEY_SIZE], identity[65], id[SERVE_KEY_SIZE];
    unsigned scopes;
    int64_t key_until_ms; /* when it expires; 0: never */
};

/* Claims that wait (claim_waiters.h), in the order in which they were last tried. */
struct claim_waiters {
    struct job *first, *last;
    size_t n;
};

struct serve {
    const struct serve_options *o;
    struct loop *loop;
    struct http_server *http;
    struct hub *writer; /* the loop's, or the worker's while it has a round (worker.h) */
    struct hub *reader; /* the loop's: never waits */
    struct worker *worker;
    struct streams *streams;
    int log_dir;
    int clock;                 /* readable when the wall clock was set; -1: none */
    struct job *spare;         /* free jobs (job.h) */
    size_t n_spare;            /* how many */
    struct buf body;           /* of the answer that is being made */
    struct buf last_words;     /* without memory (reply.h) */
    struct presence *presence; /* identities that listen */
    struct respawn *respawns;  /* supervisors of agents that live */
    size_t n_file_answers;     /* file_answer.h: on their way */
    bool is_over;              /* the loop has ended: no request is answered any more */
    bool is_stopping;
    size_t files; /* that may be open */

    /* rounds.h */
    struct round *round;        /* gathers requests */
    struct round *given;        /* the worker has it, and the store; NULL: the loop has */
    int64_t given_ms;           /* since then */
    struct round *spare_rounds; /* free ones: they are large */
    size_t n_spare_rounds;      /* how many */
    struct claim_waiters claim_waiters;
    struct batch_window window;
    size_t gathered;             /* requests of this round when it was last looked at */
    struct loop_source *nap_end; /* ends the wait for more requests */
    int64_t slow_until_ns;       /* until then the worker does rounds, because a sync was slow */
    bool is_unsettled;           /* the loop's rounds are not committed yet */
    struct loop_source *settle_timer;
    bool wants_look;  /* a round without requests: others may have written */
    bool wants_check; /* the log's directory changed while the worker had the store */
    struct loop_source *look_timer;
    int64_t look_timer_ms; /* when it fires */
    int64_t look_at_ms;    /* when the store needs a look: then, or later */
    bool wants_compact;    /* the next round is the worker's, and drops old segments */
    struct loop_source *compact_timer;
    struct watch watch;              /* of the log's directory */
    struct loop_source *watching;    /* calls when it changed */
    struct loop_source *watch_pause; /* resumes that; NULL: it is not paused */
    bool had_round;                  /* since the pause was last prolonged */
    bool wants_wake;                 /* agents are started at its end */
    struct hub_news news;            /* after the last round */
    uint64_t bad_told;               /* bad lines that standard error was told of */
    char trouble[200];               /* why the store cannot be written; "": it can */
    uint64_t committed_seq;          /* the last line in the index, if there is no trouble */
    uint64_t commits;                /* of the index, so far */
    uint64_t looked_at;              /* committed_seq when streams and claims were last told */

    /* auth.h, admission.h */
    struct known_key *keys;           /* SERVE_KEYS of them, by a hash of their text */
    struct revoke_watch revoke_watch; /* revoked keys that the index may still have */
    uint64_t revoked_until;           /* commits after which it has not */
    char host_texts[SERVE_HOSTS][176];
    const char *hosts[SERVE_HOSTS + 1];
    size_t n_hosts;
    char listening[SERVE_LISTENERS][160]; /* addresses, as in struct listener */
    size_t n_listening;
    struct admission_rules rules;
    struct ticket tickets[SERVE_TICKETS];
    struct rate_rule rate;
    struct rates rates;

    /* reply.h */
    char id_prefix[9];
    uint64_t n_ids;
    uint64_t answers[6]; /* by hundreds */
    uint64_t limited;    /* answers 429 */
    bool has_access;
    struct async_out access; /* its log */
    bool is_access_told;     /* that it cannot be written */
};

#define SERVE_NO_KEY "the key is not known, or was revoked"

#endif
