#define _GNU_SOURCE
#include "serve/web.h"

#include "serve/web_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char home_text[] =
    "cliq: signals and tasks for agents and people.\n\n"
    "  GET /openapi.json   what can be asked\n"
    "  GET /health         is the store there?\n\n"
    "People open this address in a browser: cliq web does so, and signs them in.\n"
    "Keys: cliq key create --identity NAME. Commands: cliq help emit.\n";

#define SECURITY                                                                                   \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "    \
    "form-action 'none'\r\n"                                                                       \
    "Referrer-Policy: no-referrer\r\n"
#define FOREVER "Cache-Control: public, max-age=31536000, immutable\r\n"
#define ASK     "Cache-Control: no-cache\r\n"

enum { DEV_FILE_MAX = 4 << 20 };

/* ---- what the browser takes ---- */

/* Is the word in the comma-separated header, and not with q=0? */
static bool
takes(struct http_text header, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = header.p, *end = p + header.len; p && p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        while (p < stop && (*p == ' ' || *p == '\t'))
            p++;
        if ((size_t)(stop - p) >= n && strncasecmp(p, word, n) == 0 &&
            (p + n == stop || strchr("; \t", p[n]))) {
            const char *q = memmem(p, (size_t)(stop - p), "q=0", 3);
            return !q || (q + 3 < stop && q[3] == '.' && q[4] != '0');
        }
        p = stop + 1;
    }
    return false;
}

/* Does If-None-Match name this ETag, weak or not? */
static bool
has_tag(struct http_text header, const char *etag)
{
    return header.p && memmem(header.p, header.len, etag, strlen(etag));
}

/* ---- answers ---- */

static void
send_embedded(const struct reply_to *to, const struct http_request *r, const struct web_file *f,
              const char *cache)
{
    char headers[800], etag[64];
    bool is_packed = takes(http_header(r, "Accept-Encoding"), "gzip");
    bool is_known;

    snprintf(etag, sizeof etag, "\"%s-%s%s\"", web_version, f->name, is_packed ? "-gz" : "");
    is_known = has_tag(http_header(r, "If-None-Match"), etag);
    snprintf(headers, sizeof headers,
             "Content-Type: %s\r\n%s" SECURITY "ETag: %s\r\nVary: Accept, Accept-Encoding\r\n%s",
             f->type, cache, etag, is_packed && !is_known ? "Content-Encoding: gzip\r\n" : "");
    reply_file(to, is_known ? 304 : 200, headers, is_packed ? f->packed : f->plain,
               is_packed ? f->packed_len : f->plain_len);
}

static const struct web_file *
find(const char *name, size_t len)
{
    for (const struct web_file *f = web_files; f->name; f++)
        if (strlen(f->name) == len && memcmp(f->name, name, len) == 0)
            return f;
    return NULL;
}

/* A name with a type, and without a way out of the directory; NULL: another. */
static const char *
type_of(const char *name)
{
    static const char *const types[][2] = { { ".html", "text/html; charset=utf-8" },
                                            { ".css", "text/css; charset=utf-8" },
                                            { ".js", "text/javascript; charset=utf-8" },
                                            { ".svg", "image/svg+xml" } };
    const char *dot = strrchr(name, '.');

    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != strlen(name) || *name == '.')
        return NULL;
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

/* From --web-dir. */
static void
send_present(const struct reply_to *to, const char *name)
{
    char path[512], headers[800];
    const char *type = type_of(name);
    struct buf text = BUF_MAX(DEV_FILE_MAX);
    struct stat st;
    char *room = NULL;
    int fd = -1;
    ssize_t n = -1;

    if (type && snprintf(path, sizeof path, "%s/%s", to->s->o->web_dir, name) < (int)sizeof path)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < DEV_FILE_MAX)
        room = buf_room(&text, (size_t)st.st_size + 1);
    if (room)
        n = read(fd, room, (size_t)st.st_size);
    if (n >= 0) {
        buf_grew(&text, (size_t)n);
        snprintf(headers, sizeof headers,
                 "Content-Type: %s\r\nCache-Control: no-store\r\n" SECURITY, type);
        reply_file(to, 200, headers, text.p, text.len);
    } else {
        reply_refuse(to, 404, "WEB_NOT_FOUND", "there is no such file in --web-dir", NULL);
    }
    if (fd >= 0)
        close(fd);
    buf_release(&text);
}

void
web_answer_home(const struct reply_to *to, const struct http_request *r)
{
    struct buf text = { 0 };
    const struct web_file *f;

    if (!takes(http_header(r, "Accept"), "text/html")) {
        buf_adds(&text, home_text);
        reply_page(to, "Content-Type: text/plain; charset=utf-8\r\nVary: Accept\r\n", &text);
    } else if (to->s->o->web_dir) {
        send_present(to, "index.html");
    } else if ((f = find("index.html", strlen("index.html")))) {
        send_embedded(to, r, f, ASK);
    } else {
        reply_refuse(to, 404, "WEB_NOT_FOUND", "this server was built without its page", NULL);
    }
    buf_release(&text);
}

void
web_answer_file(const struct reply_to *to, const struct http_request *r)
{
    const struct route_param *version = &to->route->params[0], *name = &to->route->params[1];
    const struct web_file *f = find(name->value, name->len);
    char text[64];

    if (to->s->o->web_dir) {
        snprintf(text, sizeof text, "%.*s", (int)(name->len < 60 ? name->len : 60), name->value);
        send_present(to, text);
        return;
    }
    if (f && version->len == strlen(web_version) &&
        memcmp(version->value, web_version, version->len) == 0)
        send_embedded(to, r, f, FOREVER);
    else
        reply_refuse(to, 404, "WEB_NOT_FOUND",
                     "this is no file of this version of the page: reload it", NULL);
}
