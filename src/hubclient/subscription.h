/*
 * subscription - signals as they come, from the files or from a server: `watch`, `signal watch` and
 * the library's cliq_next stand on it.
 *
 *     struct subscription f;
 *     struct subscription_filter want = { .filter.role = "reviewer" };
 *     s = subscription_open(&f, &client, &want, e);
 *     while (!s)
 *         if (!(s = subscription_next(&f, until_ms, &signal, e)))
 *             ... f.seq, signal ...
 *     subscription_close(&f);
 *
 * On files inotify says when there is more; a server tells its event stream. Every signal has its
 * number in the log, and the subscription's place is the last one it was told. So a connection that
 * breaks, because the server was killed or the network was, is made again behind that place:
 * nothing is left out, nothing comes twice. The pause before that doubles from
 * SUBSCRIPTION_PAUSE_MS to SUBSCRIPTION_PAUSE_MAX. A first connection that fails is told at once,
 * for that is mostly a wrong URL. A server that says nothing for SUBSCRIPTION_SILENCE_MS, not even
 * that it is alive, is taken for gone.
 *
 * Ownership: a signal lives until the next call. The filter's texts stay the caller's, as long as
 * the subscription is open.
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
#define SUBSCRIPTION_SILENCE_MS 45000 /* three times what a server lets pass */

struct subscription_filter { /* zero: everything, from now on */
    struct signal_filter filter;
    bool is_broadcast; /* {id,type,source,data?,createdAt} instead of the hub's form */
    bool is_inbox;     /* only what is in the caller's inbox */
    bool has_since;    /* begin behind the line `since`; 0: with the first signal */
    uint64_t since;
};

struct subscription {
    struct hubclient *hub;
    struct subscription_filter want;
    uint64_t seq; /* of the last signal told: its place */
    uint64_t bad; /* lines that could not be read, so far; files only */
    /* Told when the connection is lost (why) and found again (NULL); may be NULL. */
    void (*news)(void *ctx, const char *why);
    void *ctx;
    struct arena arena; /* of one signal */
    /* files */
    struct log_tail tail;
    /* a server */
    struct http_client client;
    struct sse sse;
    bool is_up, has_place;
    int64_t pause_ms;  /* before it is tried again; 0: the connection is good */
    int64_t pause_end; /* when that is over */
    int64_t silent_at; /* when a server that said nothing until then is taken for gone */
    const char *at;
    size_t len; /* of what was read and not looked at */
    /* subscription_fd: an epoll of `watched`, the file's watch or the connection, and a timer; -1:
     * none */
    int poll, timer, watched;
};

enum status subscription_open(struct subscription *f, struct hubclient *d,
                              const struct subscription_filter *want, struct err *e);
/* ST_TIMEOUT: nothing came until then (clock_mono_ms; base/wait.h); ST_CANCELLED: the client's
 * wake.
 */
enum status subscription_next(struct subscription *f, int64_t until_ms, const struct json **signal,
                              struct err *e);
/* A descriptor that is readable when subscription_next may have more; for those who have a loop of
 * their own. It is the subscription's, and stays the same over new connections. They call
 * subscription_next with a time that has come until that is ST_TIMEOUT, and then wait. Only to make
 * a lost connection again subscription_next takes up to SUBSCRIPTION_CONNECT_MS there. */
enum status subscription_fd(struct subscription *f, int *fd, struct err *e);
void subscription_close(struct subscription *f); /* safe whatever subscription_open returned */

#endif
