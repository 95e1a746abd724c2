/*
 * s3 - objects in S3 or a compatible store.
 *
 *     sources:        - { name: report.csv, ref: "s3://bucket/2026/report.csv" }
 *                     - { name: all.json, ref: bucket/2026/, action: list }
 *     target_entries: - { name: log, file: files/build/log.txt, ref: bucket/logs/build.txt }
 *
 * Requests are signed (net/sigv4.h). Files go from and to the disk piece by piece; a file over
 * PART_MIN is sent as a multipart upload, which is aborted when a part fails, when the phase is
 * stopped, and by the next attempt when it was killed (unfinished.h). put replaces an object that
 * exists.
 *
 * The handoff's data: ref, bucket, key, file, size, etag, last_modified, content_type, version_id;
 * for a list the number of objects as `count`, and the file is a list of
 * {key,size,etag,last_modified}.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "agents/connector/unfinished.h"
#include "agents/connector/xml.h"
#include "base/clock.h"
#include "base/digest.h"
#include "cmd/cmd.h"
#include "net/query.h"
#include "net/sigv4.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PARTS_MAX = 10000,  /* S3's limits of an upload */
    PART_MIN = 8 << 20, /* bytes of a part */
    PARTS_A_NOTE = 16,  /* a progress line for so many parts */
    MEBIBYTE = 1 << 20,
};

struct s3 {
    struct sigv4_key key;
    bool is_path_style;
};

struct object {
    const char *bucket, *key;
};

/* ---- settings ---- */

static enum status
open_s3(struct connection *x, struct err *e)
{
    struct s3 *own = arena_alloc(x->c->arena, sizeof *own);
    const char *path_style = connection_setting(x, "path_style");
    bool has_base = connection_setting(x, "base_url") != NULL;

    if (!own)
        return err_nomem(e);
    *own = (struct s3){ .key = { .service = "s3" } };
    own->key.id = connection_setting(x, "access_key_id");
    if (own->key.id) { /* the keys belong together: all from the settings */
        own->key.secret = connection_setting(x, "secret_access_key");
        own->key.token = connection_setting(x, "session_token");
    } else {
        own->key.id = connection_setting_or(x, "access_key_id", "AWS_ACCESS_KEY_ID");
        own->key.secret = connection_setting_or(x, "secret_access_key", "AWS_SECRET_ACCESS_KEY");
        own->key.token = connection_setting_or(x, "session_token", "AWS_SESSION_TOKEN");
    }
    if (!own->key.id || !own->key.secret)
        return err_set(e, ST_INVALID,
                       "the agent s3 needs keys: the settings agents.s3.access_key_id and "
                       "agents.s3.secret_access_key, or AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY in the environment");
    own->key.region = connection_setting_or(x, "region", "AWS_REGION");
    if (!own->key.region)
        own->key.region = connection_setting_or(x, "region", "AWS_DEFAULT_REGION");
    if (!own->key.region)
        own->key.region = "us-east-1";
    own->is_path_style = path_style ? strcmp(path_style, "true") == 0 : has_base;
    x->own = own;
    x->secrets[0] = own->key.secret;
    x->secrets[1] = own->key.token;
    const char *base = connection_text(x, "https://s3.%.100s.amazonaws.com", own->key.region);
    return base ? connection_set_base(x, base, e) : err_nomem(e);
}

static enum status
sign(struct connection *x, const struct connection_request *q, const char *method,
     struct fetch_header *to, size_t *n, struct err *e)
{
    const struct s3 *own = x->own;
    char hash[DIGEST_HEX_SIZE];
    enum status s = ST_OK;

    if (q->file)
        s = digest_sha256_file(hash, q->file->fd, q->file->at, q->file->len, e);
    else
        digest_sha256_hex(hash, q->body && q->body->p ? q->body->p : "",
                          q->body ? q->body->len : 0);
    return s ? s
             : sigv4_sign(x->c->arena, to, n, &own->key, method, q->url, hash,
                          clock_wall_ns() / 1000000000, e);
}

/* ---- names ---- */

/* Is a segment of the key "." or ".."? Servers and libcurl would take it out of the path. */
static bool
has_dots(const char *key)
{
    for (const char *p = key; *p; p += *p == '/') {
        size_t n = strcspn(p, "/");
        if ((n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return true;
        p += n;
    }
    return false;
}

static enum status
split_ref(struct connection *x, const struct transfer *n, struct object *o, struct err *e)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t len = strspn(n->ref, letters);

    if (len < 3 || len > 63 || (n->ref[len] && n->ref[len] != '/'))
        return transfer_wrong(n, "its ref must be s3://bucket/key or bucket/key", e);
    o->bucket = arena_dup(x->c->arena, n->ref, len);
    o->key = n->ref + len + (n->ref[len] == '/');
    if (has_dots(o->key))
        return transfer_wrong(n, "its key has a segment . or .., which no URL can name", e);
    record_text(x, "bucket", o->bucket);
    record_text(x, "key", *o->key ? o->key : NULL);
    return o->bucket ? ST_OK : err_nomem(e);
}

static enum status
split_object(struct connection *x, const struct transfer *n, struct object *o, struct err *e)
{
    enum status s = split_ref(x, n, o, e);

    return s || *o->key ? s : transfer_wrong(n, "its ref names a bucket, but no key in it", e);
}

/* The object's URL with this query; NULL: out of memory. A name with dots is no name below the
 * certificate's wildcard, so such buckets are in the path. */
static const char *
object_url(struct connection *x, const struct object *o, const char *query)
{
    const struct s3 *own = x->own;
    const char *host = strstr(x->base_url, "://") + 3;
    bool is_in_path =
        own->is_path_style || (strncmp(x->base_url, "https", 5) == 0 && strchr(o->bucket, '.'));
    struct buf url = { 0 };

    if (is_in_path)
        buf_addf(&url, "%s/%s/", x->base_url, o->bucket);
    else
        buf_addf(&url, "%.*s%s.%s/", (int)(host - x->base_url), x->base_url, o->bucket, host);
    connection_encode(&url, o->key, "/");
    buf_adds(&url, query);
    const char *text = buf_failed(&url) ? NULL : arena_dup(x->c->arena, url.p, url.len);
    buf_release(&url);
    return text;
}

/* A bucket of another region: S3 says which in a header, or in the words of the error. */
static void
advise(struct connection *x, const struct fetch_response *r, struct buf *to)
{
    struct xml_part doc = { r->body.p, r->body.p + r->body.len };
    struct buf region = { 0 };

    (void)x;
    if (!fetch_response_header(r, "x-amz-bucket-region", &region))
        xml_text(&doc, "Region", &region);
    bool is_name = region.len && region.len < 64 &&
                   strspn(region.p, "abcdefghijklmnopqrstuvwxyz0123456789-") == region.len;
    if (is_name && (r->status / 100 == 3 || r->status == 400))
        buf_addf(to, "; the bucket is in %s: cliq settings agents.s3.region %s", region.p,
                 region.p);
    buf_release(&region);
}

/* ---- sources ---- */

static enum status
get(struct connection *x, const struct transfer *n, struct err *e)
{
    struct connection_request q = { 0 };
    struct fetch_response r = { 0 };
    struct object o;
    enum status s = split_object(x, n, &o, e);

    if (s)
        return s;
    q.url = object_url(x, &o, "");
    s = connection_download(x, &q, &r, e);
    if (!s) {
        record_header(x, "etag", &r, "ETag");
        record_header(x, "last_modified", &r, "Last-Modified");
        record_header(x, "version_id", &r, "x-amz-version-id");
    }
    fetch_response_release(&r);
    return s;
}

/* Keys are percent-encoded in the answer (encoding-type=url), since XML cannot hold all bytes. */
static struct json *
decoded_key(struct connection *x, const struct buf *text)
{
    const char *key = NULL;
    char *plain = text->p ? arena_dup(x->c->arena, text->p, text->len) : NULL;

    for (char *p = plain; p && *p; p++)
        if (*p == '+')
            *p = ' ';
    if (!plain || url_decode(x->c->arena, plain, text->len, "the key", &key, NULL))
        key = plain;
    return key ? json_new_str(x->c->arena, key, strlen(key)) : NULL;
}

static enum status
add_object(struct connection *x, const struct xml_part *part, struct json *to, struct json **last,
           struct err *e)
{
    static const char *const names[][2] = { { "Size", "size" },
                                            { "ETag", "etag" },
                                            { "LastModified", "last_modified" } };
    struct json *o = json_new(x->c->arena, JSON_OBJECT);
    struct buf text = { 0 };

    xml_text(part, "Key", &text);
    bool ok = o && json_set(o, "key", decoded_key(x, &text));
    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
        buf_reset(&text);
        if (!xml_text(part, names[i][0], &text))
            continue;
        bool is_quoted = text.len > 1 && text.p[0] == '"';
        struct json *v = buf_failed(&text) ? NULL
                                           : json_new_copy(x->c->arena, text.p + is_quoted,
                                                           text.len - 2 * (size_t)is_quoted);
        if (v && i == 0)
            v->type = JSON_NUMBER;
        ok = json_set(o, names[i][1], v);
    }
    buf_release(&text);
    if (ok)
        json_add_behind(to, last, o);
    return ok ? ST_OK : err_nomem(e);
}

/* Adds a page's objects; *next is the token of the next page, or empty. */
static enum status
read_page(struct connection *x, const struct buf *body, size_t limit, struct json *to,
          struct json **last, struct buf *next, struct err *e)
{
    struct xml_part part, doc = { body->p, body->p + body->len };
    const char *at = doc.p;
    enum status s = ST_OK;

    while (!s && to->kids.count < limit && xml_next(&at, doc.end, "Contents", &part))
        s = add_object(x, &part, to, last, e);
    buf_reset(next);
    xml_text(&doc, "NextContinuationToken", next);
    return s ? s : buf_status(next, "the next page", e);
}

static enum status
list(struct connection *x, const struct transfer *n, struct err *e)
{
    struct json *all = json_new(x->c->arena, JSON_ARRAY), *last = NULL;
    const size_t limit = connection_limit(x, CONNECTION_ITEMS_MAX);
    struct buf next = { 0 };
    struct object o;
    enum status s = split_ref(x, n, &o, e);
    struct object bucket = { o.bucket, "" };

    do {
        struct fetch_response r = { 0 };
        struct connection_request q = { 0 };
        if (s || !all)
            break;
        const char *query = ENCODED(x, "?encoding-type=url&list-type=2&prefix=", o.key,
                                    next.len ? "&continuation-token=" : "", next.len ? next.p : "");
        q.url = query ? object_url(x, &bucket, query) : NULL;
        s = connection_ask(x, &q, &r, e);
        if (!s)
            s = read_page(x, &r.body, limit, all, &last, &next, e);
        fetch_response_release(&r);
    } while (next.len && all->kids.count < limit);
    if (!s && all && next.len)
        s = connection_tell_more(x, all->kids.count, CONNECTION_ITEMS_MAX, e);
    buf_release(&next);
    if (!s)
        s = all ? connection_keep_json(x, all, e) : err_nomem(e);
    if (!s)
        record_int(x, "count", (int64_t)all->kids.count);
    return s;
}

/* ---- targets ---- */

/* S3 may answer a CompleteMultipartUpload with 200 and an error in the body. */
static enum status
ask_xml(struct connection *x, struct connection_request *q, struct buf *body, struct err *e)
{
    struct fetch_response r = { 0 };
    struct xml_part error, doc;
    struct buf text = { 0 };
    enum status s = connection_ask(x, q, &r, e);

    if (!s) {
        doc = (struct xml_part){ r.body.p, r.body.p + r.body.len };
        if (xml_next(&(const char *){ doc.p }, doc.end, "Error", &error)) {
            xml_text(&error, "Message", &text);
            s = err_set(e, ST_FAILED, "S3 answered 200 with an error: %.300s",
                        text.p ? text.p : "no message");
        }
        buf_add(body, r.body.p, r.body.len);
    }
    buf_release(&text);
    fetch_response_release(&r);
    return s ? s : buf_status(body, "the answer", e);
}

/* Begins an upload: *id is its UploadId, percent-encoded. */
static enum status
begin_upload(struct connection *x, const struct object *o, const char *type, const char **id,
             struct err *e)
{
    struct buf none = { 0 }, body = { 0 }, text = { 0 };
    struct connection_request q = { .method = "POST",
                                    .url = object_url(x, o, "?uploads"),
                                    .body = &none,
                                    .type = type,
                                    .is_repeatable = true };
    enum status s = ask_xml(x, &q, &body, e);

    *id = NULL;
    if (!s) {
        struct xml_part doc = { body.p, body.p + body.len };
        xml_text(&doc, "UploadId", &text);
        *id = text.len ? ENCODED(x, "", text.p) : NULL;
        if (!*id)
            s = err_set(e, ST_FAILED, "S3 began no upload: its answer has no UploadId");
    }
    buf_release(&body);
    buf_release(&text);
    return s;
}

/* Sends part number `number`, and adds it to the list that ends the upload. */
static enum status
send_part(struct connection *x, const struct object *o, const char *id, int number,
          const struct fetch_file *part, struct buf *list, struct err *e)
{
    const char *query = connection_text(x, "?partNumber=%d&uploadId=%s", number, id);
    struct connection_request q = { .method = "PUT",
                                    .url = query ? object_url(x, o, query) : NULL,
                                    .file = part };
    struct fetch_response r = { 0 };
    struct buf etag = { 0 };
    enum status s = connection_ask(x, &q, &r, e);

    if (!s) {
        if (!fetch_response_header(&r, "ETag", &etag))
            s = err_set(e, ST_FAILED, "S3 took part %d without an ETag", number);
        buf_addf(list, "<Part><PartNumber>%d</PartNumber><ETag>", number);
        xml_escape(list, etag.p ? etag.p : "");
        buf_adds(list, "</ETag></Part>");
    }
    buf_release(&etag);
    fetch_response_release(&r);
    return s;
}

static enum status
send_parts(struct connection *x, const struct object *o, const char *id,
           const struct fetch_file *file, struct buf *list, struct err *e)
{
    uint64_t size = (file->len + PARTS_MAX - 1) / PARTS_MAX;
    enum status s = ST_OK;

    size = size < PART_MIN ? PART_MIN : (size + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE;
    int n_parts = (int)((file->len + size - 1) / size);
    buf_adds(list, "<CompleteMultipartUpload>");
    for (int i = 0; !s && i < n_parts; i++) {
        uint64_t at = (uint64_t)i * size;
        struct fetch_file part = { file->fd, at, file->len - at < size ? file->len - at : size };
        s = send_part(x, o, id, i + 1, &part, list, e);
        if (!s && (i + 1) % PARTS_A_NOTE == 0) {
            char note[160];
            snprintf(note, sizeof note, "target %.100s: part %d of %d", x->entry->name, i + 1,
                     n_parts);
            s = context_progress(x->c, note, e);
        }
    }
    buf_adds(list, "</CompleteMultipartUpload>");
    return s ? s : buf_status(list, "the list of parts", e);
}

/* Without it the parts stay in the bucket, unseen and paid for. */
static void
abort_upload(struct connection *x, const struct object *o, const char *query)
{
    struct connection_request q = { .method = "DELETE", .url = object_url(x, o, query) };
    struct fetch_response r = { 0 };

    connection_ask(x, &q, &r, NULL);
    fetch_response_release(&r);
}

/* What a killed attempt left. */
static void
abort_leftover(struct connection *x)
{
    const struct json *left = unfinished_take(x);
    struct object o = { json_dup_text(x->c->arena, json_get(left, "bucket")),
                        json_dup_text(x->c->arena, json_get(left, "key")) };
    const char *query = json_dup_text(x->c->arena, json_get(left, "query"));

    if (!o.bucket || !o.key || !query)
        return;
    context_progress(x->c, "aborts the upload that a killed attempt left", NULL);
    abort_upload(x, &o, query);
}

/* Notes the upload before its first part is sent. */
static enum status
begin_parts(struct connection *x, const struct object *o, const char *query, struct err *e)
{
    struct arena *a = x->c->arena;
    struct json *names = query ? json_new(a, JSON_OBJECT) : NULL;

    if (!names || !json_set(names, "bucket", json_new_copy(a, o->bucket, strlen(o->bucket))) ||
        !json_set(names, "key", json_new_copy(a, o->key, strlen(o->key))) ||
        !json_set(names, "query", json_new_copy(a, query, strlen(query))))
        return err_nomem(e);
    return unfinished_begin(x, names, e);
}

static enum status
put_parts(struct connection *x, const struct object *o, const struct fetch_file *file,
          const char *type, struct err *e)
{
    struct buf list = { 0 }, body = { 0 }, etag = { 0 };
    const char *id;
    enum status s = begin_upload(x, o, type, &id, e);
    const char *query = s ? NULL : connection_text(x, "?uploadId=%s", id);

    if (s)
        return s;
    s = begin_parts(x, o, query, e);
    if (!s)
        s = send_parts(x, o, id, file, &list, e);
    if (!s) {
        struct connection_request q = { .method = "POST",
                                        .url = object_url(x, o, query),
                                        .body = &list,
                                        .type = "application/xml",
                                        .is_repeatable = true };
        s = ask_xml(x, &q, &body, e);
    }
    unfinished_stop_listening(x);
    if (s && query)
        abort_upload(x, o, query);
    s = unfinished_end(x, s, e);
    if (!s) {
        struct xml_part doc = { body.p, body.p + body.len };
        xml_text(&doc, "ETag", &etag);
        size_t is_quoted = etag.len > 1 && etag.p[0] == '"';
        if (etag.len && !buf_failed(&etag)) {
            buf_cut(&etag, etag.len - is_quoted);
            record_text(x, "etag", etag.p + is_quoted);
        }
    }
    buf_release(&list);
    buf_release(&body);
    buf_release(&etag);
    return s;
}

static enum status
put_whole(struct connection *x, const struct object *o, const struct fetch_file *file,
          const char *type, struct err *e)
{
    struct connection_request q = {
        .method = "PUT", .url = object_url(x, o, ""), .file = file, .type = type
    };
    struct fetch_response r = { 0 };
    enum status s = connection_ask(x, &q, &r, e);

    if (!s) {
        record_header(x, "etag", &r, "ETag");
        record_header(x, "version_id", &r, "x-amz-version-id");
    }
    fetch_response_release(&r);
    return s;
}

static enum status
put(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *type = transfer_type(n->file);
    struct fetch_file file;
    struct object o;
    enum status s = split_object(x, n, &o, e);

    if (!s && n->mode && strcmp(n->mode, "append") == 0)
        s = transfer_wrong(n, "S3 cannot append to an object: use mode replace", e);
    if (!s)
        s = transfer_open(x->c, n, &file, e);
    if (s)
        return s;
    abort_leftover(x);
    s = (file.len > PART_MIN ? put_parts : put_whole)(x, &o, &file, type, e);
    close(file.fd);
    if (!s) {
        record_text(x, "url", object_url(x, &o, ""));
        record_int(x, "size", (int64_t)file.len);
        record_text(x, "content_type", type);
    }
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get", get, .needs = NEEDS_REF },
    { "list", list, .needs = NEEDS_REF },
    { "put", put, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { 0 },
};

const struct connector connector_s3 = {
    "s3",
    actions,
    open_s3,
    .sign = sign,
    .keys = "access_key_id secret_access_key",
    .advise = advise,
    .probe = "/",
    .denied = "<Code>AccessDenied</Code>",
};

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_s3, e);
}

const struct cmd cmd_agent_s3 = {
    .name = "agent s3",
    .brief = "the built-in agent for objects in S3 or a compatible store",
    .about =
        "Reads an AgentMessage on standard input. A ref is s3://bucket/key or bucket/key.\n"
        "\n"
        "Actions of sources: get (the default) downloads an object; list writes all objects whose\n"
        "keys begin as the ref's, as JSON. Action of targets: put uploads the file, in parts of\n"
        "8 MiB or more when it is larger than one; an object that exists is replaced.\n"
        "\n"
        "Settings: agents.s3.access_key_id, secret_access_key, session_token, region, base_url,\n"
        "path_style (true when base_url is set), timeout, max_bytes, proxy. Without access_key_id\n"
        "the keys are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, without\n"
        "region it is AWS_REGION, AWS_DEFAULT_REGION, else us-east-1.\n"
        "\n"
        "The handoff's data by name: ref, bucket, key, file, size, etag, last_modified, count.",
    .examples = "cliq settings agents.s3.access_key_id AKIDEXAMPLE\n"
                "cliq settings agents.s3.secret_access_key - <secret.txt\n"
                "cliq settings agents.s3.region eu-central-1",
    .opts = agent_no_opts,
    .run = run,
};
