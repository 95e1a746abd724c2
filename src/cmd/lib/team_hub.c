#include "cmd/lib/team_hub.h"

#include "base/digest.h"
#include "net/fetch.h"
#include "team/package.h"
#include "team/settings.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 300 };

/* One request to the hub. */
struct asking {
    struct settings settings;
    struct buf url, authorization;
    struct fetch_header headers[2];
    struct fetch_request q;
    struct fetch_response r;
};

static enum status
set_key(struct asking *k, struct err *e)
{
    const char *key = getenv("CLIQ_KEY");

    if (!key || !*key)
        key = settings_text(&k->settings, "hub.token");
    if (!key || !*key)
        return err_set(e, ST_REFUSED,
                       "the hub wants a key: set CLIQ_KEY, or cliq settings hub.token (cliq key "
                       "create makes one)");
    buf_addf(&k->authorization, "Bearer %s", key);
    k->headers[0] = (struct fetch_header){ "Authorization", k->authorization.p };
    k->headers[1] = (struct fetch_header){ "Content-Type", "application/gzip" };
    return buf_status(&k->authorization, "the key", e);
}

static enum status
begin(struct asking *k, const char *path, struct err *e)
{
    enum status s = settings_load(&k->settings, NULL, e);
    const char *base = s ? NULL : settings_text(&k->settings, "hub.url");

    if (!s && (!base || !*base))
        s = err_set(e, ST_INVALID,
                    "no hub is set: cliq settings --global hub.url URL says where teams are found");
    if (s)
        return s;
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        n--;
    buf_add(&k->url, base, n);
    buf_adds(&k->url, path);
    s = buf_status(&k->url, "the URL", e);
    if (!s)
        s = set_key(k, e);
    k->q = (struct fetch_request){
        .url = k->url.p, .headers = k->headers, .n_headers = 1, .max_bytes = PACKAGE_PACKED_MAX + 1
    };
    return s;
}

static void
end(struct asking *k)
{
    fetch_response_release(&k->r);
    settings_release(&k->settings);
    buf_release(&k->url);
    buf_release(&k->authorization);
}

/* The hub's own sentence, as a status of ours. */
static enum status
refused(const struct asking *k, struct err *e)
{
    struct arena a = { 0 };
    struct json *doc = NULL;
    const char *says = NULL;
    int code = k->r.status;
    enum status s = code == 400 || code == 413   ? ST_INVALID
                    : code == 401 || code == 403 ? ST_REFUSED
                    : code == 404                ? ST_NOT_FOUND
                    : code == 409                ? ST_CONFLICT
                                                 : ST_IO;

    if (json_parse(&a, k->r.body.p, k->r.body.len, &doc, NULL))
        says = json_dup_text(&a, json_path(doc, "error.message"));
    if (says)
        err_say(e, "the hub says: %.*s", MESSAGE_MAX, says);
    else
        err_say(e, "the hub answered %d, and it is no hub of teams by that", code);
    arena_release(&a);
    return s;
}

static enum status
ask(struct asking *k, struct err *e)
{
    enum status s = fetch(&k->q, &k->r, e);

    return s || k->r.status == 200 ? s : refused(k, e);
}

static enum status
read_data(struct arena *a, const struct asking *k, const struct json **data, struct err *e)
{
    const char *text = arena_dup(a, k->r.body.p, k->r.body.len);
    struct json *doc = NULL;

    if (!text)
        return err_nomem(e);
    if (!json_parse(a, text, k->r.body.len, &doc, NULL) || !(*data = json_get(doc, "data")))
        return err_set(e, ST_IO, "the hub's answer cannot be read: is hub.url a cliq serve?");
    return ST_OK;
}

enum status
team_hub_get(struct arena *a, const char *path, const struct json **data, struct err *e)
{
    struct asking k = { 0 };
    enum status s = begin(&k, path, e);

    if (!s)
        s = ask(&k, e);
    if (!s)
        s = read_data(a, &k, data, e);
    end(&k);
    return s;
}

static void
add_escaped(struct buf *to, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        buf_addf(to, "%%%02X", *p);
}

enum status
team_hub_list(struct arena *a, const char *words, const struct json **teams, struct err *e)
{
    struct buf path = { 0 };

    buf_adds(&path, "/teams");
    if (words && *words) {
        buf_adds(&path, "?query=");
        add_escaped(&path, words);
    }
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = team_hub_get(a, path.p, teams, e);
    buf_release(&path);
    return s;
}

enum status
team_hub_versions(struct arena *a, const struct team_ref *r, const struct json **versions,
                  struct err *e)
{
    struct buf path = { 0 };

    buf_addf(&path, "/teams/%s", r->at.p);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = team_hub_get(a, path.p, versions, e);
    buf_release(&path);
    return s;
}

/* ---- a package ---- */

/* The newest version that fits, and the SHA-256 of its package. */
static enum status
choose(struct arena *a, const struct team_ref *r, const char **version, const char **sum,
       struct err *e)
{
    const struct json *all = NULL;
    enum status s = team_hub_versions(a, r, &all, e);

    *version = NULL;
    json_each (one, all) {
        const char *v = json_dup_text(a, json_get(one, "version"));
        if (!*version && v && team_ref_fits(r, v)) {
            *version = v;
            *sum = json_dup_text(a, json_get(one, "sha256"));
        }
    }
    if (!s && !*version)
        s = err_set(e, ST_NOT_FOUND, "the hub has no version %s of %s: cliq team info hub://%s",
                    r->version.len ? r->version.p : "", r->at.p, r->at.p);
    if (!s && !*sum)
        s = err_set(e, ST_IO, "the hub does not say what %s should be", r->at.p);
    return s;
}

static enum status
fetch_package(const struct team_ref *r, const char *version, const char *sum, struct buf *package,
              struct err *e)
{
    struct asking k = { 0 };
    struct buf path = { 0 };
    char got[DIGEST_HEX_SIZE];

    buf_addf(&path, "/teams/%s/", r->at.p);
    add_escaped(&path, version);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = begin(&k, path.p, e);
    if (!s)
        s = ask(&k, e);
    if (!s && strcmp(digest_sha256_hex(got, k.r.body.p, k.r.body.len), sum) != 0)
        s = err_set(e, ST_REFUSED, "%s %s is not what the hub says it is: SHA-256 %s, not %s",
                    r->at.p, version, got, sum);
    if (!s) {
        buf_add(package, k.r.body.p, k.r.body.len);
        s = buf_status(package, "the package", e);
    }
    end(&k);
    buf_release(&path);
    return s;
}

enum status
team_hub_download(const struct team_ref *r, struct buf *package, struct err *e)
{
    struct arena a = { 0 };
    const char *version, *sum = NULL;
    enum status s = choose(&a, r, &version, &sum, e);

    if (!s)
        s = fetch_package(r, version, sum, package, e);
    arena_release(&a);
    return s;
}

enum status
team_hub_publish(struct arena *a, const struct buf *package, const struct json **team,
                 struct err *e)
{
    struct asking k = { 0 };
    enum status s = begin(&k, "/teams", e);

    k.q.method = "POST";
    k.q.body = package->p;
    k.q.body_len = package->len;
    k.q.n_headers = 2;
    if (!s)
        s = ask(&k, e);
    if (!s)
        s = read_data(a, &k, team, e);
    end(&k);
    return s;
}
