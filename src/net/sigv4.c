/* sigv4 - AWS Signature Version 4. The names below are those of AWS's description of it. */
#include "net/sigv4.h"

#include "base/digest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PARAMETERS = 100, /* of a query */
    DATE = sizeof "20130524",
    TIME = sizeof "20130524T000000Z",
};

/* ---- the canonical request ---- */

struct url_parts {
    const char *host, *path, *query; /* query is NULL or begins behind the '?' */
    size_t host_len, path_len;
};

static bool
split_url(const char *url, struct url_parts *u)
{
    const char *host = strstr(url, "://");

    if (!host)
        return false;
    u->host = host + 3;
    u->host_len = strcspn(u->host, "/?");
    u->path = u->host + u->host_len;
    u->path_len = strcspn(u->path, "?");
    u->query = u->path[u->path_len] ? u->path + u->path_len + 1 : NULL;
    return u->host_len > 0;
}

/* The host as libcurl sends it: without the scheme's own port. */
static size_t
host_len(const char *url, const struct url_parts *u)
{
    const char *port = strncmp(url, "https", 5) == 0 ? ":443" : ":80";
    size_t n = strlen(port);

    return u->host_len > n && memcmp(u->host + u->host_len - n, port, n) == 0 ? u->host_len - n
                                                                              : u->host_len;
}

struct parameter {
    const char *p;
    size_t name_len, len;
};

static int
compare(const struct parameter *x, const struct parameter *y, size_t from_x, size_t len_x,
        size_t from_y, size_t len_y)
{
    int order = memcmp(x->p + from_x, y->p + from_y, len_x < len_y ? len_x : len_y);

    return order ? order : (len_x > len_y) - (len_x < len_y);
}

static int
by_name(const void *a, const void *b)
{
    const struct parameter *x = a, *y = b;
    int order = compare(x, y, 0, x->name_len, 0, y->name_len);

    return order ? order
                 : compare(x, y, x->name_len, x->len - x->name_len, y->name_len,
                           y->len - y->name_len);
}

/* Appends the parameters in the order of their names; one without a value gets "=". */
static enum status
add_query(struct buf *to, const char *query, struct err *e)
{
    struct parameter v[PARAMETERS];
    size_t n = 0;

    for (const char *p = query; p && *p; p += *p == '&') {
        size_t len = strcspn(p, "&"), name = strcspn(p, "=&");
        if (n == PARAMETERS)
            return err_set(e, ST_INVALID, "a query of more than %d parameters", PARAMETERS);
        if (len)
            v[n++] = (struct parameter){ p, name, len };
        p += len;
    }
    if (n)
        qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++)
        buf_addf(to, "%s%.*s%s", i ? "&" : "", (int)v[i].len, v[i].p,
                 v[i].name_len == v[i].len ? "=" : "");
    return ST_OK;
}

static const char *
signed_names(const struct sigv4_key *key)
{
    return key->token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                      : "host;x-amz-content-sha256;x-amz-date";
}

static enum status
canonical_request(struct buf *to, const struct sigv4_key *key, const char *method, const char *url,
                  const char *hash, const char *time, struct err *e)
{
    struct url_parts u;

    if (!split_url(url, &u))
        return err_set(e, ST_INVALID, "a URL without a host cannot be signed");
    buf_addf(to, "%s\n%.*s\n", method, u.path_len ? (int)u.path_len : 1, u.path_len ? u.path : "/");
    enum status s = add_query(to, u.query, e);
    buf_addf(to, "\nhost:%.*s\nx-amz-content-sha256:%s\nx-amz-date:%s\n", (int)host_len(url, &u),
             u.host, hash, time);
    if (key->token)
        buf_addf(to, "x-amz-security-token:%s\n", key->token);
    buf_addf(to, "\n%s\n%s", signed_names(key), hash);
    return s ? s : buf_status(to, "the request to sign", e);
}

/* ---- the signature ---- */

/* The chain of keys: the secret's, the day's, the region's, the service's; then the text. */
static enum status
signature(char to[DIGEST_HEX_SIZE], const struct sigv4_key *key, const char *date,
          const struct buf *text, struct err *e)
{
    const char *const steps[] = { date, key->region, key->service, "aws4_request" };
    unsigned char mac[DIGEST_BYTES];
    struct buf secret = { 0 };

    buf_addf(&secret, "AWS4%s", key->secret);
    enum status s = buf_status(&secret, "the key", e);
    const void *with = secret.p;
    size_t len = secret.len;
    for (size_t i = 0; !s && i < sizeof steps / sizeof *steps; i++) {
        digest_hmac_sha256(mac, with, len, steps[i], strlen(steps[i]));
        with = mac;
        len = sizeof mac;
    }
    if (!s) {
        digest_hmac_sha256(mac, mac, sizeof mac, text->p, text->len);
        digest_hex(to, mac);
    }
    buf_release(&secret);
    return s;
}

static enum status
sign(struct buf *header, const struct sigv4_key *key, const struct buf *request, const char *time,
     struct err *e)
{
    char date[DATE] = "", hash[DIGEST_HEX_SIZE], mac[DIGEST_HEX_SIZE];
    struct buf text = { 0 }, scope = { 0 };

    memcpy(date, time, sizeof date - 1);
    digest_sha256_hex(hash, request->p, request->len);
    buf_addf(&scope, "%s/%s/%s/aws4_request", date, key->region, key->service);
    enum status s = buf_status(&scope, "the scope", e);
    if (!s) {
        buf_addf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", time, scope.p, hash);
        s = buf_status(&text, "the text to sign", e);
    }
    if (!s)
        s = signature(mac, key, date, &text, e);
    if (!s)
        buf_addf(header, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                 key->id, scope.p, signed_names(key), mac);
    buf_release(&text);
    buf_release(&scope);
    return s ? s : buf_status(header, "the signature", e);
}

enum status
sigv4_sign(struct arena *a, struct fetch_header to[SIGV4_HEADERS], size_t *n,
           const struct sigv4_key *key, const char *method, const char *url,
           const char hash[DIGEST_HEX_SIZE], int64_t now_s, struct err *e)
{
    struct buf request = { 0 }, header = { 0 };
    time_t now = (time_t)now_s;
    char time[TIME];
    struct tm utc;

    *n = 0;
    if (!gmtime_r(&now, &utc) || !strftime(time, sizeof time, "%Y%m%dT%H%M%SZ", &utc))
        return err_set(e, ST_INVALID, "a time that cannot be signed");
    enum status s = canonical_request(&request, key, method, url, hash, time, e);
    if (!s)
        s = sign(&header, key, &request, time, e);
    const struct fetch_header all[SIGV4_HEADERS] = { { "Authorization", header.p },
                                                     { "x-amz-date", time },
                                                     { "x-amz-content-sha256", hash },
                                                     { "x-amz-security-token", key->token } };
    for (size_t i = 0; !s && i < SIGV4_HEADERS && all[i].value; i++) {
        const char *value = arena_dup(a, all[i].value, strlen(all[i].value));
        if (value)
            to[(*n)++] = (struct fetch_header){ all[i].name, value };
        else
            s = err_nomem(e);
    }
    buf_release(&request);
    buf_release(&header);
    return s;
}
