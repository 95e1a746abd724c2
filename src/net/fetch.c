/*
 * fetch - the HTTP client for any server, over libcurl (net/libcurl.h).
 *
 *     fetch          retries with back-off
 *     `- follow      one try: follows redirects, with one deadline
 *        `- hop      one request
 *
 * libcurl does not follow redirects itself, because it would send all headers
 * except Authorization and Cookie to another host, for example X-Api-Key.
 */
#include "net/fetch.h"

#include "base/clock.h"
#include "base/sys.h"
#include "cliq.h"
#include "net/libcurl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    METHOD_SIZE = 24,
    HEAD_MAX = 256 * 1024, /* bytes of a response's head; libcurl's own limit is a little higher */
    URL_FLAGS = CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE | CURLU_URLENCODE,
};

/* The state of one call of fetch and of its current try. */
struct fetch_job {
    const struct fetch_request *q;
    struct fetch_response *r;
    CURL *curl;
    char error[CURL_ERROR_SIZE];
    char method[METHOD_SIZE];
    bool has_body;   /* this hop sends it */
    bool is_foreign; /* this hop's origin differs from the request's */
    bool is_unsent;  /* the last hop failed before a byte was sent */
    bool is_broken;  /* the last hop failed, and a retry may succeed */
    bool has_given;  /* a piece of this try's body was given to on_body */
    uint64_t sent;   /* bytes of the file that this hop has read */
};

/* ---- URLs ---- */

static char *
part(CURLU *u, CURLUPart what)
{
    char *text = NULL;

    return curl.url_get(u, what, &text, CURLU_DEFAULT_PORT) ? NULL : text;
}

static bool
is_part(CURLU *u, CURLUPart what, const char *text)
{
    char *own = part(u, what);
    bool is_same = own && text && strcasecmp(own, text) == 0;

    curl.free(own);
    return is_same;
}

static bool
has_scheme(CURLU *u, const char *scheme)
{
    return is_part(u, CURLUPART_SCHEME, scheme);
}

static bool
is_same_origin(CURLU *u, CURLU *v)
{
    static const CURLUPart parts[] = { CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT };
    bool is_same = true;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && is_same; i++) {
        char *text = part(v, parts[i]);
        is_same = is_part(u, parts[i], text);
        curl.free(text);
    }
    return is_same;
}

/* The error does not contain the URL: a malformed one may have a password anywhere. */
static enum status
parse_url(const char *url, CURLU **out, struct err *e)
{
    *out = curl.url();
    if (!*out)
        return err_nomem(e);
    CURLUcode c = curl.url_set(*out, CURLUPART_URL, url, URL_FLAGS);
    if (c == CURLUE_OUT_OF_MEMORY)
        return err_nomem(e);
    if (c)
        return err_set(e, ST_INVALID, "bad URL: %s; write https://host/path", curl.url_strerror(c));
    if (!has_scheme(*out, "http") && !has_scheme(*out, "https")) {
        char *scheme = part(*out, CURLUPART_SCHEME);
        err_say(e, "the URL scheme %.20s is not supported, only http and https",
                scheme ? scheme : "");
        curl.free(scheme);
        return ST_INVALID;
    }
    return ST_OK;
}

/* Shows the URL without the first n of its parts that may be secret. */
static void
show(struct buf *to, const char *url, size_t n)
{
    static const CURLUPart hidden[] = { CURLUPART_USER,     CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                        CURLUPART_FRAGMENT, CURLUPART_QUERY,    CURLUPART_PATH };
    CURLU *u = libcurl_load(NULL) ? NULL : curl.url();
    char *text = NULL;

    if (u && !curl.url_set(u, CURLUPART_URL, url, URL_FLAGS)) {
        for (size_t i = 0; i < n; i++)
            curl.url_set(u, hidden[i], NULL, 0);
        curl.url_get(u, CURLUPART_URL, &text, 0);
    }
    buf_adds(to, text ? text : "(not a URL)");
    if (u) {
        curl.free(text);
        curl.url_cleanup(u);
    }
}

void
fetch_show_url(struct buf *to, const char *url)
{
    show(to, url, 5);
}

void
fetch_public_url(struct buf *to, const char *url)
{
    show(to, url, 4);
}

void
fetch_show_origin(struct buf *to, const char *url)
{
    show(to, url, 6);
}

/* Fills the error "GET https://host/path: what"; returns s. */
static enum status
fail(struct fetch_job *j, const char *url, enum status s, const char *what, struct err *e)
{
    struct buf shown = { 0 };

    if (j->q->is_url_secret)
        fetch_show_origin(&shown, url);
    else
        fetch_show_url(&shown, url);
    err_say(e, "%s %.300s: %s", j->method, shown.p ? shown.p : "", what);
    buf_release(&shown);
    return s;
}

/* ---- checks of the request ---- */

static bool
has_body(const struct fetch_request *q)
{
    return q->body || q->file;
}

static bool
is_token(const char *s)
{
    return *s && !s[strspn(s, "!#$%&'*+-.^_`|~0123456789"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")];
}

/* A line break in a value would inject a header or a request. */
static bool
is_one_line(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7F)
            return false;
    return true;
}

static enum status
check_headers(const struct fetch_request *q, struct err *e)
{
    static const char *const ours[] = { "Content-Length", "Transfer-Encoding", "Connection",
                                        "Upgrade" };

    if (q->n_headers > FETCH_HEADERS)
        return err_set(e, ST_INVALID, "%zu headers are too many; the limit is %d", q->n_headers,
                       FETCH_HEADERS);
    for (size_t i = 0; i < q->n_headers; i++) {
        const char *name = q->headers[i].name;
        if (!is_token(name))
            return err_set(e, ST_INVALID, "header number %zu has a bad name", i + 1);
        if (!is_one_line(q->headers[i].value))
            return err_set(e, ST_INVALID,
                           "the value of header %.100s holds a line break or another control "
                           "character",
                           name);
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (strcasecmp(name, ours[k]) == 0)
                return err_set(e, ST_INVALID, "the header %s is set by cliq: remove it", ours[k]);
    }
    return ST_OK;
}

static enum status
check_method(const struct fetch_request *q, char to[METHOD_SIZE], struct err *e)
{
    const char *m = q->method ? q->method : has_body(q) ? "POST" : "GET";
    size_t n = strspn(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");

    if (!n || m[n] || n >= METHOD_SIZE)
        return err_set(e, ST_INVALID, "\"%.40s\" is not a method like GET or POST", m);
    for (size_t i = 0; i <= n; i++)
        to[i] = (char)(m[i] >= 'a' && m[i] <= 'z' ? m[i] - 'a' + 'A' : m[i]);
    if (strcmp(to, "CONNECT") == 0 || strcmp(to, "TRACE") == 0)
        return err_set(e, ST_INVALID, "the method %s is not supported", to);
    return ST_OK;
}

static bool
is_without_secret(const char *name)
{
    static const char *const names[] = { "Accept", "Accept-Language", "Content-Type",
                                         "User-Agent" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Makes the header lines of this hop; false: out of memory. */
static bool
make_head(const struct fetch_job *j, struct curl_slist **out)
{
    /* An empty Expect header: otherwise libcurl sends "Expect: 100-continue" before a large body
     * and waits a second for servers that ignore it. */
    struct curl_slist *list = curl.slist_append(NULL, "Expect:");

    for (size_t i = 0; list && i < j->q->n_headers; i++) {
        const struct fetch_header *h = &j->q->headers[i];
        struct buf line = { 0 };
        if ((j->is_foreign && !is_without_secret(h->name)) ||
            (has_body(j->q) && !j->has_body && strcasecmp(h->name, "Content-Type") == 0))
            continue;
        buf_addf(&line, *h->value ? "%s: %s" : "%s;", h->name, h->value); /* "X;": empty value */
        struct curl_slist *longer = buf_failed(&line) ? NULL : curl.slist_append(list, line.p);
        buf_release(&line);
        if (!longer)
            curl.slist_free_all(list);
        list = longer;
    }
    *out = list;
    return list != NULL;
}

/* ---- one request ---- */

static size_t
take_body(char *p, size_t one, size_t n, void *job)
{
    struct fetch_job *j = job;
    long status = 0;

    (void)one; /* always 1 */
    if (j->q->on_body)
        curl.easy_getinfo(j->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 == 2) {
        bool is_first = !j->has_given;
        j->has_given = true;
        if (is_first && j->q->on_start && !j->q->on_start(j->q->ctx))
            return 0;
        return j->q->on_body(j->q->ctx, p, n) ? n : 0;
    }
    buf_add(&j->r->body, p, n);
    return buf_failed(&j->r->body) ? 0 : n;
}

static size_t
give_file(char *to, size_t one, size_t room, void *job)
{
    struct fetch_job *j = job;
    const struct fetch_file *file = j->q->file;
    uint64_t left = file->len - j->sent;
    size_t want = one * room < left ? one * room : (size_t)left;

    if (!want)
        return 0;
    ssize_t n = SYS_RETRY(sys->pread(file->fd, to, want, (off_t)(file->at + j->sent)));
    if (n <= 0) /* the file became shorter */
        return CURL_READFUNC_ABORT;
    j->sent += (uint64_t)n;
    return (size_t)n;
}

static int
seek_file(void *job, curl_off_t at, int whence)
{
    struct fetch_job *j = job;

    if (whence != SEEK_SET || at < 0 || (uint64_t)at > j->q->file->len)
        return CURL_SEEKFUNC_FAIL;
    j->sent = (uint64_t)at;
    return CURL_SEEKFUNC_OK;
}

static size_t
take_head(char *p, size_t one, size_t n, void *to)
{
    struct fetch_response *r = to;
    size_t len = n;

    (void)one;
    while (len && (p[len - 1] == '\r' || p[len - 1] == '\n'))
        len--;
    if (len >= 5 && memcmp(p, "HTTP/", 5) == 0)
        buf_reset(&r->head); /* drops an interim response */
    buf_add(&r->head, p, len);
    buf_addc(&r->head, '\n');
    return buf_failed(&r->head) ? 0 : n;
}

#define SET(j, option, value) (ok = !curl.easy_setopt((j)->curl, (option), (value)) && ok)

static bool
is_stopped(const struct fetch_request *q)
{
    return q->stop && *q->stop;
}

/* libcurl calls it with each piece, and once a second. */
static int
look_at_stop(void *ctx, curl_off_t down, curl_off_t got, curl_off_t up, curl_off_t sent)
{
    const struct fetch_job *j = ctx;

    (void)down, (void)got, (void)up, (void)sent;
    return is_stopped(j->q);
}

static bool
set_up(struct fetch_job *j, const char *url, int64_t left_ms, struct curl_slist *head)
{
    const struct fetch_request *q = j->q;
    bool ok = true, is_head = strcmp(j->method, "HEAD") == 0;

    curl.easy_reset(j->curl); /* open connections stay */
    SET(j, CURLOPT_ERRORBUFFER, j->error);
    SET(j, CURLOPT_URL, url);
    SET(j, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(j, CURLOPT_FOLLOWLOCATION, 0L);
    SET(j, CURLOPT_REDIR_PROTOCOLS_STR, "http,https"); /* in case libcurl ever follows one */
    SET(j, CURLOPT_PROXY, q->proxy ? q->proxy : "");   /* "": not $http_proxy either */
    SET(j, CURLOPT_NOPROXY, "");
    SET(j, CURLOPT_USERAGENT, "cliq/" CLIQ_VERSION);
    SET(j, CURLOPT_HTTPHEADER, head);
    SET(j, CURLOPT_TIMEOUT_MS, (long)left_ms);
    SET(j, CURLOPT_CONNECTTIMEOUT_MS, (long)FETCH_CONNECT_MS);
    if (!q->on_body)
        SET(j, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)j->r->body.max);
    if (q->stop) {
        SET(j, CURLOPT_NOPROGRESS, 0L);
        SET(j, CURLOPT_XFERINFOFUNCTION, look_at_stop);
        SET(j, CURLOPT_XFERINFODATA, j);
    }
    if (q->idle_ms > 0) {
        SET(j, CURLOPT_LOW_SPEED_LIMIT, 1L);
        SET(j, CURLOPT_LOW_SPEED_TIME, (long)((q->idle_ms + 999) / 1000));
    }
    SET(j, CURLOPT_WRITEFUNCTION, take_body);
    SET(j, CURLOPT_WRITEDATA, j);
    SET(j, CURLOPT_HEADERFUNCTION, take_head);
    SET(j, CURLOPT_HEADERDATA, j->r);
    if (j->has_body && q->file) {
        j->sent = 0;
        SET(j, CURLOPT_UPLOAD, 1L);
        SET(j, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->file->len);
        SET(j, CURLOPT_READFUNCTION, give_file);
        SET(j, CURLOPT_READDATA, j);
        SET(j, CURLOPT_SEEKFUNCTION, seek_file);
        SET(j, CURLOPT_SEEKDATA, j);
    } else if (j->has_body) {
        SET(j, CURLOPT_POST, 1L);
        SET(j, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
        SET(j, CURLOPT_POSTFIELDS, q->body_len ? q->body : "");
    } else if (strcmp(j->method, "POST") == 0) {
        SET(j, CURLOPT_POST, 1L);
        SET(j, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(j, CURLOPT_POSTFIELDS, "");
    }
    if (is_head)
        SET(j, CURLOPT_NOBODY, 1L);
    else
        SET(j, CURLOPT_CUSTOMREQUEST, j->method);
    return ok;
}

static bool
is_mendable(CURLcode c)
{
    switch (c) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static enum status
say_failure(struct fetch_job *j, const char *url, CURLcode c, struct err *e)
{
    char what[CURL_ERROR_SIZE + 64];
    int64_t ms = j->q->timeout_ms ? j->q->timeout_ms : FETCH_TIMEOUT_MS;
    long sent = 0;

    curl.easy_getinfo(j->curl, CURLINFO_REQUEST_SIZE, &sent);
    j->is_unsent = sent == 0;
    j->is_broken = is_mendable(c) || (c == CURLE_OPERATION_TIMEDOUT && j->is_unsent);
    if (j->r->body.is_starved || j->r->head.is_starved || c == CURLE_OUT_OF_MEMORY)
        return err_nomem(e);
    if (j->r->body.is_over || c == CURLE_FILESIZE_EXCEEDED) {
        snprintf(what, sizeof what, "the response is larger than %zu bytes", j->r->body.max);
        return fail(j, url, ST_FAILED, what, e);
    }
    if (j->r->head.is_over)
        return fail(j, url, ST_FAILED, "the response's headers are too large", e);
    if (c == CURLE_WRITE_ERROR && j->has_given)
        return fail(j, url, ST_FAILED, "the response was not accepted", e);
    if (c == CURLE_ABORTED_BY_CALLBACK && is_stopped(j->q))
        return fail(j, url, ST_CANCELLED, "stopped", e);
    if (c == CURLE_ABORTED_BY_CALLBACK)
        return fail(j, url, ST_FAILED, "the file became shorter while it was sent", e);
    if (c == CURLE_OPERATION_TIMEDOUT) {
        double total = 0;
        curl.easy_getinfo(j->curl, CURLINFO_TOTAL_TIME, &total);
        bool is_idle = j->q->idle_ms > 0 && total * 1000 < (double)ms;
        snprintf(what, sizeof what,
                 is_idle        ? "nothing arrived for %g s"
                 : j->is_unsent ? "no connection within %g s"
                                : "no response within %g s",
                 (double)(is_idle ? j->q->idle_ms : ms) / 1000);
        return fail(j, url, ST_TIMEOUT, what, e);
    }
    return fail(j, url, ST_IO, j->error[0] ? j->error : curl.easy_strerror(c), e);
}

static enum status
hop(struct fetch_job *j, const char *url, int64_t left_ms, struct err *e)
{
    struct curl_slist *head = NULL;
    CURLcode c = CURLE_OUT_OF_MEMORY;

    buf_reset(&j->r->body);
    buf_reset(&j->r->head);
    buf_adds(&j->r->body, "");
    j->error[0] = '\0';
    j->r->status = 0;
    j->is_broken = j->is_unsent = false;
    if (left_ms < 1)
        c = CURLE_OPERATION_TIMEDOUT;
    else if (make_head(j, &head) && set_up(j, url, left_ms, head))
        c = curl.easy_perform(j->curl);
    curl.slist_free_all(head);
    if (c)
        return say_failure(j, url, c, e);
    long status = 0;
    const char *type = NULL;
    curl.easy_getinfo(j->curl, CURLINFO_RESPONSE_CODE, &status);
    curl.easy_getinfo(j->curl, CURLINFO_CONTENT_TYPE, &type);
    free(j->r->content_type);
    free(j->r->url);
    j->r->status = (int)status;
    j->r->content_type = strdup(type ? type : "");
    j->r->url = strdup(url);
    return j->r->content_type && j->r->url ? ST_OK : err_nomem(e);
}

/* ---- one try ---- */

static bool
is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Prepares the next hop: checks the redirect's URL, sets the method and which headers are sent. */
static enum status
redirect(struct fetch_job *j, CURLU *from, CURLU *first, const char *where, CURLU **out,
         struct err *e)
{
    int status = j->r->status;
    char what[128];

    if (++j->r->redirects > FETCH_REDIRECTS) {
        snprintf(what, sizeof what, "more than %d redirects", FETCH_REDIRECTS);
        return fail(j, j->r->url, ST_FAILED, what, e);
    }
    struct err why = { "" };
    enum status s = parse_url(where, out, &why);
    if (s == ST_INVALID) {
        snprintf(what, sizeof what, "the redirect is not followed: %.80s", why.text);
        return fail(j, j->r->url, ST_REFUSED, what, e);
    }
    if (s)
        return err_nomem(e);
    if (has_scheme(from, "https") && !has_scheme(*out, "https"))
        return fail(j, j->r->url, ST_REFUSED, "the redirect from https to http is not followed", e);
    j->is_foreign = !is_same_origin(*out, first);
    bool is_post = strcmp(j->method, "POST") == 0, is_head = strcmp(j->method, "HEAD") == 0;
    if ((status == 303 && !is_head) || ((status == 301 || status == 302) && is_post)) {
        strcpy(j->method, "GET"); /* as browsers do */
        j->has_body = false;
    }
    return ST_OK;
}

static enum status
follow(struct fetch_job *j, struct err *e)
{
    int64_t ms = j->q->timeout_ms > 0 ? j->q->timeout_ms : FETCH_TIMEOUT_MS;
    int64_t deadline = clock_mono_ms() + ms;
    CURLU *at = NULL, *first = NULL;
    char *url = NULL;

    j->has_body = has_body(j->q);
    j->is_foreign = j->is_broken = j->has_given = false;
    j->r->redirects = 0;
    enum status s = check_method(j->q, j->method, e);
    if (!s)
        s = parse_url(j->q->url, &at, e);
    if (!s && !(first = curl.url_dup(at)))
        s = err_nomem(e);
    while (!s) {
        const char *where = NULL;
        CURLU *next = NULL;
        if (curl.url_get(at, CURLUPART_URL, &url, 0))
            s = err_nomem(e);
        if (!s)
            s = hop(j, url, deadline - clock_mono_ms(), e);
        curl.free(url);
        url = NULL;
        if (s || j->q->keeps_redirects || !is_redirect(j->r->status))
            break;
        curl.easy_getinfo(j->curl, CURLINFO_REDIRECT_URL, &where);
        if (!where)
            break;
        s = redirect(j, at, first, where, &next, e);
        curl.url_cleanup(at);
        at = next;
    }
    curl.url_cleanup(at);
    curl.url_cleanup(first);
    return s;
}

/* ---- all tries ---- */

int64_t
fetch_wait_ms(unsigned tries, int64_t retry_after_s, int64_t wait_ms, int64_t wait_max)
{
    int64_t ms = wait_ms > 0 ? wait_ms : FETCH_WAIT_MS,
            max = wait_max > 0 ? wait_max : FETCH_WAIT_MAX;

    if (retry_after_s > 0)
        return retry_after_s < max / 1000 ? retry_after_s * 1000 : max;
    for (; tries > 1 && ms < max; tries--)
        ms *= 2;
    return ms < max ? ms : max;
}

static bool
is_idempotent(const char *method)
{
    static const char *const names[] = { "GET", "HEAD", "PUT", "DELETE", "OPTIONS" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method, names[i]) == 0)
            return true;
    return false;
}

/* May and should the request be sent again after a try with status s? */
static bool
should_retry(const struct fetch_job *j, const char *method, enum status s)
{
    bool is_safe = j->q->is_repeatable || (is_idempotent(method) && !j->q->is_single);
    int status = s ? 0 : j->r->status;

    if ((!is_safe && j->r->redirects > 0) || (j->has_given && !j->q->on_start))
        return false; /* the first hop may have taken effect; the caller has a part */
    if (s)
        return j->is_broken && (is_safe || j->is_unsent);
    if (status == 429 || status == 503)
        return true; /* the server did not process the request */
    return is_safe && (status == 500 || status == 502 || status == 504);
}

/* Adds up to a quarter at random, so that clients that failed together do not retry together. */
static int64_t
add_jitter(int64_t ms)
{
    uint16_t chance = 0;

    if (sys->getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        chance = 0;
    return ms + ms / 4 * chance / UINT16_MAX;
}

/* False: it was stopped. */
static bool
wait_before_retry(const struct fetch_request *q, int64_t ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    while (!is_stopped(q) && nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
    return !is_stopped(q);
}

enum status
fetch(const struct fetch_request *q, struct fetch_response *r, struct err *e)
{
    struct fetch_job j = { .q = q, .r = r };
    char method[METHOD_SIZE];

    *r = (struct fetch_response){
        .body.max = q->max_bytes ? q->max_bytes : FETCH_MAX_BYTES,
        .head.max = HEAD_MAX,
    };
    enum status s = check_method(q, method, e);
    if (!s)
        s = check_headers(q, e);
    if (!s)
        s = libcurl_load(e);
    if (s)
        return s;
    j.curl = curl.easy_init();
    if (!j.curl)
        return err_nomem(e);
    for (;;) {
        curl_off_t after_s = 0;
        s = follow(&j, e);
        r->tries++;
        if (!s)
            curl.easy_getinfo(j.curl, CURLINFO_RETRY_AFTER, &after_s);
        r->retry_after_s = after_s;
        if (r->tries >= (q->tries ? q->tries : FETCH_TRIES) || !should_retry(&j, method, s))
            break;
        int64_t ms = fetch_wait_ms(r->tries, after_s, q->wait_ms, q->wait_max);
        ms = after_s > 0 ? ms : add_jitter(ms);
        if (q->on_wait && !q->on_wait(q->ctx, ms, s ? 0 : r->status))
            break;
        if (!wait_before_retry(q, ms))
            break;
    }
    curl.easy_cleanup(j.curl);
    return s;
}

void
fetch_response_release(struct fetch_response *r)
{
    free(r->url);
    free(r->content_type);
    buf_release(&r->head);
    buf_release(&r->body);
    r->url = r->content_type = NULL;
}

bool
fetch_response_header(const struct fetch_response *r, const char *name, struct buf *to)
{
    size_t n = strlen(name);

    for (const char *p = r->head.p, *end; p && *p; p = *end ? end + 1 : end) {
        end = p + strcspn(p, "\n");
        if ((size_t)(end - p) <= n || p[n] != ':' || strncasecmp(p, name, n) != 0)
            continue;
        p += n + 1;
        p += strspn(p, " \t");
        while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        buf_add(to, p, (size_t)(end - p));
        return true;
    }
    return false;
}

/* ---- TLS as a transport ---- */

static ssize_t
tls_result(CURLcode code, size_t n)
{
    errno = code == CURLE_AGAIN ? EAGAIN : EIO;
    return code == CURLE_OK ? (ssize_t)n : -1;
}

static ssize_t
tls_send(struct transport *w, const void *p, size_t n)
{
    size_t sent = 0;
    CURLcode code = curl.easy_send(w->tls, p, n, &sent);

    return tls_result(code, sent);
}

static ssize_t
tls_recv(struct transport *w, void *p, size_t n)
{
    size_t got = 0;
    CURLcode code = curl.easy_recv(w->tls, p, n, &got);

    return tls_result(code, got);
}

static void
tls_close(struct transport *w)
{
    curl.easy_cleanup(w->tls);
}

enum status
fetch_secure(struct transport *w, const struct transport_place *at, int64_t until_ms, struct err *e)
{
    static const struct transport_ops ops = { tls_send, tls_recv, tls_close };
    int64_t left = until_ms == WAIT_FOREVER ? FETCH_CONNECT_MS : until_ms - clock_mono_ms();
    char url[sizeof at->authority + 16], why[CURL_ERROR_SIZE] = "";
    curl_socket_t fd = CURL_SOCKET_BAD;

    enum status s = libcurl_load(e);
    if (s)
        return s;
    snprintf(url, sizeof url, "https://%s/", at->authority);
    CURL *tls = curl.easy_init();
    if (!tls)
        return err_nomem(e);
    curl.easy_setopt(tls, CURLOPT_URL, url);
    curl.easy_setopt(tls, CURLOPT_CONNECT_ONLY, 1L);
    curl.easy_setopt(tls, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(tls, CURLOPT_PROXY, "");
    curl.easy_setopt(tls, CURLOPT_ERRORBUFFER, why);
    curl.easy_setopt(tls, CURLOPT_SSL_ENABLE_ALPN, 0L); /* HTTP/1.1 only */
    curl.easy_setopt(tls, CURLOPT_TIMEOUT_MS, (long)(left > 1 ? left : 1));
    CURLcode code = curl.easy_perform(tls);
    if (code == CURLE_OK)
        code = curl.easy_getinfo(tls, CURLINFO_ACTIVESOCKET, &fd);
    if (code != CURLE_OK || fd == CURL_SOCKET_BAD) {
        err_say(e, "connect to %s: %s", at->authority, *why ? why : curl.easy_strerror(code));
        curl.easy_cleanup(tls);
        return code == CURLE_OPERATION_TIMEDOUT ? ST_TIMEOUT : ST_IO;
    }
    curl.easy_setopt(tls, CURLOPT_TIMEOUT_MS, 0L);
    *w = (struct transport){ .fd = fd, .ops = &ops, .tls = tls };
    return ST_OK;
}
