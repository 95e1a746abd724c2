/*
 * gdrive - files, documents and sheets in Google Drive, as a service account.
 *
 *     sources:        - { name: plan.txt, ref: 1AbC… }           a document becomes text
 *                     - { name: files.json, ref: folder/1XyZ… }  a folder is listed
 *                     - { name: found.json, ref: "name contains 'plan'", action: search }
 *     target_entries: - { name: report, ref: folder/1XyZ…, file: report.pdf, title: Report.pdf }
 *                     - { name: plan, ref: 1AbC…, file: plan.txt }
 *
 * The account's key signs a token request (RS256); the token is asked for when it is first needed,
 * and again after a 401. A file over MULTIPART_MAX is sent as a resumable upload, in chunks.
 */
#include "agents/agent_main.h"
#include "agents/connector/connection.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "net/rs256.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MULTIPART_MAX = 5 << 20, /* Drive's limit of an upload in one request */
    CHUNK = 8 << 20,         /* of a resumable upload: a multiple of 256 KiB */
    TOKEN_S = 3600,
    KEY_FILE_MAX = 64 * 1024,
};

#define FIELDS "id,name,mimeType,size,modifiedTime,md5Checksum,webViewLink"
#define SCOPE  "https://www.googleapis.com/auth/drive"

struct gdrive {
    const char *email, *private_key, *key_id, *token_url; /* of the service account */
    const char *subject;                                  /* whom it acts for; NULL: itself */
    bool has_token;
};

/* ---- the token ---- */

static enum status
read_credentials(struct connection *x, const char *path, struct gdrive *own, struct err *e)
{
    struct arena *a = x->c->arena;
    struct buf file = BUF_MAX(KEY_FILE_MAX);
    struct json *doc = NULL;
    const char *dir = x->c->project_dir;
    const char *full = path[0] == '/' || !dir ? path : connection_text(x, "%s/%s", dir, path);
    enum status s = full ? path_read_file(AT_FDCWD, full, &file, e) : err_nomem(e);
    const char *text = s ? NULL : arena_dup(a, file.p ? file.p : "", file.len);

    if (!s)
        s = text ? json_parse_named(a, path, text, file.len, &doc, e) : err_nomem(e);
    buf_release(&file);
    if (s)
        return s;
    own->email = json_dup_text(a, json_get(doc, "client_email"));
    own->private_key = json_dup_text(a, json_get(doc, "private_key"));
    own->key_id = json_dup_text(a, json_get(doc, "private_key_id"));
    own->token_url = json_dup_text(a, json_get(doc, "token_uri"));
    if (!own->token_url)
        own->token_url = "https://oauth2.googleapis.com/token";
    return own->email && own->private_key
               ? ST_OK
               : err_set(e, ST_INVALID,
                         "the setting agents.gdrive.credentials_file names no key of a service "
                         "account: it has no client_email or no private_key");
}

static enum status
open_gdrive(struct connection *x, struct err *e)
{
    struct gdrive *own = arena_alloc(x->c->arena, sizeof *own);
    const char *path;

    if (!own)
        return err_nomem(e);
    *own = (struct gdrive){ .subject = connection_setting(x, "subject") };
    x->own = own;
    enum status s = connection_set_base(x, "https://www.googleapis.com", e);
    if (!s)
        s = connection_need_setting(x, "credentials_file", &path, e);
    return s ? s : read_credentials(x, path, own, e);
}

static void
add_segment(struct buf *to, const struct buf *json)
{
    digest_base64url(to, json->p ? json->p : "", json->len);
}

/* The signed request for a token: header.claims.signature */
static enum status
write_assertion(const struct gdrive *own, struct buf *to, struct err *e)
{
    int64_t now = clock_wall_ns() / 1000000000;
    struct buf head = { 0 }, claims = { 0 }, signature = { 0 };

    json_open(&head, '{');
    json_key_str(&head, "alg", "RS256");
    json_key_str(&head, "typ", "JWT");
    json_key_str(&head, "kid", own->key_id);
    json_close(&head, '}');
    json_open(&claims, '{');
    json_key_str(&claims, "iss", own->email);
    json_key_str(&claims, "sub", own->subject);
    json_key_str(&claims, "scope", SCOPE);
    json_key_str(&claims, "aud", own->token_url);
    json_key_int(&claims, "iat", now);
    json_key_int(&claims, "exp", now + TOKEN_S);
    json_close(&claims, '}');
    add_segment(to, &head);
    buf_addc(to, '.');
    add_segment(to, &claims);
    enum status s = buf_status(to, "the token request", e);
    if (!s)
        s = rs256_sign(own->private_key, to->p, to->len, &signature, e);
    buf_addc(to, '.');
    add_segment(to, &signature);
    buf_release(&head);
    buf_release(&claims);
    buf_release(&signature);
    return s ? s : buf_status(to, "the token request", e);
}

static enum status
renew(struct connection *x, struct err *e)
{
    struct gdrive *own = x->own;
    struct buf assertion = { 0 }, body = { 0 };
    struct connection_request q = { .url = own->token_url,
                                    .body = &body,
                                    .is_foreign = true,
                                    .type = "application/x-www-form-urlencoded",
                                    .is_repeatable = true };
    const struct json *doc;
    enum status s = write_assertion(own, &assertion, e);

    buf_addf(&body,
             "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer&assertion=%s",
             assertion.p ? assertion.p : "");
    if (!s)
        s = buf_status(&body, "the token request", e);
    if (!s)
        s = connection_json(x, &q, &doc, e);
    const char *token = s ? NULL : json_dup_text(x->c->arena, json_get(doc, "access_token"));
    if (!s)
        s = token ? connection_set_bearer(x, token, e)
                  : err_set(e, ST_FAILED, "Google gave no access_token");
    own->has_token = !s;
    buf_release(&assertion);
    buf_release(&body);
    return s;
}

/* The first request gets a token first. */
static enum status
sign(struct connection *x, const struct connection_request *q, const char *method,
     struct fetch_header *to, size_t *n, struct err *e)
{
    struct gdrive *own = x->own;

    (void)q;
    (void)method;
    (void)to;
    *n = 0;
    return own->has_token ? ST_OK : renew(x, e);
}

/* ---- sources ---- */

static void
record_drive_file(struct connection *x, const struct json *doc)
{
    RECORD(x, doc, "id", "id", "title", "name", "mime_type", "mimeType", "modified", "modifiedTime",
           "md5", "md5Checksum", "url", "webViewLink");
}

static const char *
folder_of(const char *ref)
{
    return strncmp(ref, "folder/", 7) == 0 ? ref + 7 : NULL;
}

/* 'text' of a query, with \ and ' escaped. */
static const char *
quoted(struct connection *x, const char *text)
{
    struct buf b = { 0 };

    buf_addc(&b, '\'');
    for (; *text; text++)
        buf_addf(&b, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
    buf_addc(&b, '\'');
    const char *kept = buf_failed(&b) ? NULL : arena_dup(x->c->arena, b.p, b.len);
    buf_release(&b);
    return kept;
}

static const char *
query_url(struct connection *x, const char *query)
{
    return URL(x,
               "/drive/v3/files?pageSize=1000&supportsAllDrives=true&includeItemsFromAllDrives=true"
               "&fields=nextPageToken,files(" FIELDS ")&q=",
               query);
}

static enum status
list_query(struct connection *x, const char *query, struct err *e)
{
    static const struct paging how = { .items = "files",
                                       .next = "nextPageToken",
                                       .parameter = "pageToken" };
    struct connection_request q = { .url = query ? query_url(x, query) : NULL };

    return connection_keep_list(x, &q, &how, e);
}

static enum status
list(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *folder = folder_of(n->ref), *id = quoted(x, folder ? folder : n->ref);

    return list_query(x, id ? connection_text(x, "%s in parents and trashed = false", id) : NULL,
                      e);
}

static enum status
search(struct connection *x, const struct transfer *n, struct err *e)
{
    return list_query(x, n->ref, e);
}

/* The format that one of Google's own documents is exported in; NULL: it has no content. */
static const char *
export_format(const char *type)
{
    static const char *const formats[][2] = {
        { "application/vnd.google-apps.document", "text/plain" },
        { "application/vnd.google-apps.presentation", "text/plain" },
        { "application/vnd.google-apps.spreadsheet", "text/csv" },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(type, formats[i][0]) == 0)
            return formats[i][1];
    return NULL;
}

static enum status
get(struct connection *x, const struct transfer *n, struct err *e)
{
    struct fetch_response r = { 0 };
    const struct json *doc;

    if (folder_of(n->ref))
        return list(x, n, e);
    enum status s = connection_get(
        x, URL(x, "/drive/v3/files/", n->ref, "?supportsAllDrives=true&fields=" FIELDS), &doc, e);
    if (s)
        return s;
    const char *type = json_dup_text(x->c->arena, json_get(doc, "mimeType"));
    const char *format = type ? export_format(type) : NULL;
    if (type && !format && strncmp(type, "application/vnd.google-apps.", 28) == 0)
        return err_set(e, ST_FAILED, "%s is a %s, which has no content to fetch", n->ref, type);
    struct connection_request q = {
        .url = format ? URL(x, "/drive/v3/files/", n->ref, "/export?mimeType=", format)
                      : URL(x, "/drive/v3/files/", n->ref, "?alt=media&supportsAllDrives=true"),
    };
    s = connection_download(x, &q, &r, e);
    if (!s)
        record_drive_file(x, doc);
    fetch_response_release(&r);
    return s;
}

/* ---- targets ---- */

/* Where a file goes: a new one in a folder, or the content of one that exists. */
struct upload {
    const char *id;     /* NULL: a new file */
    const char *folder; /* of a new one */
    const char *title;  /* of a new one */
    const char *type;
    struct fetch_file file;
};

static const char *
upload_url(struct connection *x, const struct upload *u, const char *kind)
{
    const char *rest =
        connection_text(x, "?uploadType=%s&supportsAllDrives=true&fields=" FIELDS, kind);

    if (!rest)
        return NULL;
    return u->id ? URL(x, "/upload/drive/v3/files/", u->id, rest)
                 : URL(x, "/upload/drive/v3/files", "", rest);
}

/* {"name":…,"parents":[…]} of a new file, {} of one that exists. */
static void
write_metadata(struct buf *to, const struct upload *u)
{
    json_open(to, '{');
    if (!u->id) {
        json_key_str(to, "name", u->title);
        json_key_strs(to, "parents", &u->folder, 1);
    }
    json_close(to, '}');
}

static enum status
send_multipart(struct connection *x, const struct upload *u, const struct json **doc, struct err *e)
{
    static const char boundary[] = "cliq-7c1f0d9ea25b4683b1f0";
    struct buf body = { 0 };
    struct connection_request q = { .method = u->id ? "PATCH" : "POST",
                                    .url = upload_url(x, u, "multipart"),
                                    .body = &body,
                                    .type = connection_text(x, "multipart/related; boundary=%s",
                                                            boundary) };

    buf_addf(&body, "--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n", boundary);
    write_metadata(&body, u);
    buf_addf(&body, "\r\n--%s\r\nContent-Type: %s\r\n\r\n", boundary, u->type);
    enum status s = path_read_fd(u->file.fd, "the file", &body, e);
    buf_addf(&body, "\r\n--%s--\r\n", boundary);
    if (!s)
        s = buf_status(&body, "the upload", e);
    if (!s)
        s = connection_json(x, &q, doc, e);
    buf_release(&body);
    return s;
}

/* Begins a resumable upload: *url is its session. */
static enum status
begin_upload(struct connection *x, const struct upload *u, const char **url, struct err *e)
{
    struct buf body = { 0 }, where = { 0 };
    struct fetch_response r = { 0 };
    const struct fetch_header headers[] = {
        { "X-Upload-Content-Type", u->type },
        { "X-Upload-Content-Length", connection_text(x, "%ju", (uintmax_t)u->file.len) },
    };
    struct connection_request q = { .method = u->id ? "PATCH" : "POST",
                                    .url = upload_url(x, u, "resumable"),
                                    .body = &body,
                                    .headers = headers,
                                    .n_headers = 2,
                                    .is_repeatable = true };

    write_metadata(&body, u);
    enum status s = headers[1].value ? buf_status(&body, "the upload", e) : err_nomem(e);
    if (!s)
        s = connection_ask(x, &q, &r, e);
    if (!s && (!fetch_response_header(&r, "Location", &where) || buf_failed(&where)))
        s = err_set(e, ST_FAILED, "Google Drive began no upload: its answer has no Location");
    *url = s ? NULL : arena_dup(x->c->arena, where.p, where.len);
    if (!s && !*url)
        s = err_nomem(e);
    buf_release(&body);
    buf_release(&where);
    fetch_response_release(&r);
    return s;
}

/* How many bytes the service has, from "Range: bytes=0-8388607". */
static uint64_t
bytes_kept(const struct fetch_response *r)
{
    struct buf range = { 0 };
    uint64_t n = 0;

    if (fetch_response_header(r, "Range", &range) && !buf_failed(&range)) {
        const char *dash = strchr(range.p, '-');
        n = dash ? strtoull(dash + 1, NULL, 10) + 1 : 0;
    }
    buf_release(&range);
    return n;
}

/* Sends the chunk at `at`; *at is then what the service has, and at the end *doc the file. */
static enum status
send_chunk(struct connection *x, const struct upload *u, const char *url, uint64_t *at,
           const struct json **doc, struct err *e)
{
    uint64_t left = u->file.len - *at, size = left < CHUNK ? left : CHUNK;
    struct fetch_file part = { u->file.fd, *at, size };
    struct fetch_header range = {
        "Content-Range", connection_text(x, "bytes %ju-%ju/%ju", (uintmax_t)*at,
                                         (uintmax_t)(*at + size - 1), (uintmax_t)u->file.len)
    };
    struct connection_request q = { .method = "PUT",
                                    .url = url,
                                    .file = &part,
                                    .headers = &range,
                                    .n_headers = 1,
                                    .takes_status = 308,
                                    .is_foreign = true };
    struct fetch_response r = { 0 };
    struct json *answer = NULL;
    enum status s = range.value ? connection_ask(x, &q, &r, e) : err_nomem(e);

    if (!s && r.status == 308) {
        uint64_t kept = bytes_kept(&r);
        if (kept <= *at || kept > *at + size)
            s = err_set(e, ST_FAILED, "Google Drive kept nothing of the bytes from %ju on",
                        (uintmax_t)*at);
        *at = kept;
    } else if (!s) {
        const char *text = arena_dup(x->c->arena, r.body.p, r.body.len);
        if (text && json_parse(x->c->arena, text, r.body.len, &answer, NULL))
            *doc = answer;
        *at = u->file.len;
    }
    fetch_response_release(&r);
    return s;
}

static enum status
send_chunks(struct connection *x, const struct upload *u, const struct json **doc, struct err *e)
{
    const char *url;
    uint64_t at = 0;
    enum status s = begin_upload(x, u, &url, e);

    while (!s && at < u->file.len) {
        s = send_chunk(x, u, url, &at, doc, e);
        if (!s && at < u->file.len) {
            char note[160];
            snprintf(note, sizeof note, "target %.100s: %ju of %ju bytes", x->entry->name,
                     (uintmax_t)at, (uintmax_t)u->file.len);
            s = context_progress(x->c, note, e);
        }
    }
    return s;
}

/* Of mode replace in a folder: the file that has the title already. */
static enum status
find_old(struct connection *x, struct upload *u, struct err *e)
{
    const char *folder = quoted(x, u->folder), *title = quoted(x, u->title);
    const struct json *doc;
    struct buf query = { 0 };

    if (!folder || !title)
        return err_nomem(e);
    buf_addf(&query, "%s in parents and name = %s and trashed = false", folder, title);
    enum status s = buf_status(&query, "the query", e);
    if (!s)
        s = connection_get(x, query_url(x, query.p), &doc, e);
    if (!s)
        u->id = json_dup_text(x->c->arena, json_path(doc, "files[0].id"));
    buf_release(&query);
    return s;
}

static enum status
put(struct connection *x, const struct transfer *n, struct err *e)
{
    const char *slash = strrchr(n->file, '/'), *title = transfer_member(x->c, n, "title");
    struct upload u = { .folder = folder_of(n->ref), .type = transfer_type(n->file) };
    const struct json *doc = NULL;

    if (n->mode && strcmp(n->mode, "append") == 0)
        return transfer_wrong(n, "Google Drive cannot append to a file: use mode replace", e);
    u.id = u.folder ? NULL : n->ref;
    u.title = title ? title : slash ? slash + 1 : n->file;
    enum status s = transfer_open(x->c, n, &u.file, e);
    if (s)
        return s;
    if (u.folder && n->mode && strcmp(n->mode, "replace") == 0)
        s = find_old(x, &u, e);
    if (!s)
        s = (u.file.len > MULTIPART_MAX ? send_chunks : send_multipart)(x, &u, &doc, e);
    close(u.file.fd);
    if (!s) {
        record_drive_file(x, doc);
        record_int(x, "size", (int64_t)u.file.len);
    }
    return s;
}

/* ---- the agent ---- */

static const struct connector_action actions[] = {
    { "get", get, .needs = NEEDS_REF },
    { "list", list, .needs = NEEDS_REF },
    { "search", search, .needs = NEEDS_REF },
    { "put", put, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
    { 0 },
};

const struct connector connector_gdrive = { "gdrive",
                                            actions,
                                            open_gdrive,
                                            renew,
                                            sign,
                                            .keys = "credentials_file",
                                            .probe = "/drive/v3/about?fields=user" };

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return connector_run(&connector_gdrive, e);
}

const struct cmd cmd_agent_gdrive = {
    .name = "agent gdrive",
    .brief = "the built-in agent for files in Google Drive",
    .about =
        "Reads an AgentMessage on standard input. A ref is a file's id, or folder/ID. Actions of\n"
        "sources: get (the default; a document becomes text, a sheet CSV, a folder its list), "
        "list\n"
        "(ref: folder/ID), search (ref: a query of Drive; limit). Action of targets: put; into a\n"
        "folder it makes a new file (title, else the file's name; mode replace: of the same "
        "title),\n"
        "with a file's id it replaces the content.\n"
        "\n"
        "Settings: agents.gdrive.credentials_file (the JSON key of a service account, with which\n"
        "the files are shared), subject (whom the account acts for), base_url, timeout, "
        "max_bytes,\n"
        "proxy.\n"
        "\n"
        "The handoff's data by name: ref, id, title, url, mime_type, modified, md5, file, size;\n"
        "count of a list.",
    .examples = "cliq settings agents.gdrive.credentials_file /home/eve/drive-key.json",
    .opts = agent_no_opts,
    .run = run,
};
