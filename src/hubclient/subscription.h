/*
 * subscription - a stream of signals as they are written, from files or a server.
 *
 *     struct subscription f;
 *     struct subscription_filter want = { .filter.role = "reviewer" };
 *     s = subscription_open(&f, &client, &want, e);
 *     while (!s)
 *         if (!(s = subscription_next(&f, until_ms, &signal, e)))
 *             ... f.seq, signal ...
 *     subscription_close(&f);
 *
 * On files it uses inotify, at a server the event stream. `seq`, the log's number of the last
 * signal returned, is the position. A broken connection is made again from that position, so no
 * signal is lost or repeated. The back-off doubles from SUBSCRIPTION_PAUSE_MS to
 * SUBSCRIPTION_PAUSE_MAX. If the first connection fails, subscription_open fails: the URL is
 * probably wrong. A connection without data (not even a keep-alive) for SUBSCRIPTION_SILENCE_MS
 * counts as broken.
 *
 * Used by `watch`, `signal watch` and cliq_next of the library. Ownership: a signal is valid until
 * the next call. The filter's texts are borrowed while the subscription is open.
 */
#ifndef CLIQ_HUBCLIENT_SUBSCRIPTION_H
#define CLIQ_HUBCLIENT_SUBSCRIPTION_H

#include "hub/model/signal_filter.h"
#include "hubclient/hubclient.h"
#include "log/log.h"
#include "net/sse.h"

#define SUBSCRIPTION_PAUSE_MS   100
#define SUBSCRIPTION_PAUSE_MAX  5000
#define SUBSCRIPTION_CONNECT_MS 1000
#define SUBSCRIPTION_SILENCE_MS 45000 /* three times a server's keep-alive interval */

struct subscription_filter { /* zero: everything, from now on */
    struct signal_filter filter;
    bool is_broadcast; /* {id,type,source,data?,createdAt} instead of the hub's form */
    bool is_inbox;     /* only signals in the caller's inbox */
    bool has_since;    /* start after line `since`; 0: with the first signal */
    uint64_t since;
};

struct subscription {
    struct hubclient *hub;
    struct subscription_filter want;
    uint64_t seq; /* position: the number of the last signal returned */
    /* subscription_next returned no signal: lines after the position of the caller were lost
     * (retention, or another program that cut the log short), so results of earlier signals
     * may be wrong. {"type":"reset","sequence":N,"oldest":N}. */
    bool is_reset;
    /* Called when the connection is lost (why) and restored (NULL); may be NULL. */
    void (*news)(void *ctx, const char *why);
    void *ctx;
    struct arena arena; /* of one signal */
    /* files */
    struct log_tail tail;
    uint64_t cut;  /* hub_last_cut */
    uint64_t cuts; /* how often the tail was cut short */
    /* a server */
    struct http_client client;
    struct sse sse;
    bool is_up, has_place;
    int64_t pause_ms;  /* back-off before the next connection; 0: connected */
    int64_t pause_end; /* end of the back-off */
    int64_t silent_at; /* the deadline for the next data of the server */
    const char *at;    /* received bytes that are not parsed yet */
    size_t len;
    /* subscription_fd: an epoll of `watched` (the file's watch or the connection) and a timer; -1:
     * none */
    int poll, timer, watched;
};

enum status subscription_open(struct subscription *f, struct hubclient *d,
                              const struct subscription_filter *want, struct err *e);
/* ST_TIMEOUT: no signal before until_ms (base/wait.h). ST_CANCELLED: by the client's cancellation.
 */
enum status subscription_next(struct subscription *f, int64_t until_ms, const struct json **signal,
                              struct err *e);
/* A descriptor for callers with an event loop, readable when subscription_next may have a signal.
 * It is owned by the subscription and stays the same after a reconnect. When it is readable, call
 * subscription_next with a past deadline until ST_TIMEOUT. Such a call blocks only to reconnect, up
 * to SUBSCRIPTION_CONNECT_MS. */
enum status subscription_fd(struct subscription *f, int *fd, struct err *e);
void subscription_close(struct subscription *f); /* safe after a failed open */

#endif
