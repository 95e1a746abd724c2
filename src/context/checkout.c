#include "context/checkout.h"

#include "base/path.h"
#include "base/path_glob.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { SMALL_FILE = 256 << 10, ORIGINS_MAX = 4 };

static const char *
keep(struct arena *a, const char *s)
{
    return arena_dup(a, s, strlen(s));
}

/* A small file's text; NULL: it cannot be read. */
static const char *
read_small(struct arena *a, const char *dir, const char *name)
{
    struct buf path = { 0 }, text = BUF_MAX(SMALL_FILE);
    const char *out = NULL;

    buf_addf(&path, "%s/%s", dir, name);
    if (!buf_failed(&path) && !path_read_file(AT_FDCWD, path.p, &text, NULL) && text.len &&
        !memchr(text.p, '\0', text.len))
        out = arena_dup(a, text.p, text.len);
    buf_release(&path);
    buf_release(&text);
    return out;
}

static bool
exists(const char *dir, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

/* The real path of `name`, seen from dir. NULL: there is none. */
static const char *
real_path(struct arena *a, const char *dir, const char *name)
{
    char path[PATH_MAX], real[PATH_MAX];
    int n = *name == '/' ? snprintf(path, sizeof path, "%s", name)
                         : snprintf(path, sizeof path, "%s/%s", dir, name);

    return n < (int)sizeof path && realpath(path, real) ? keep(a, real) : NULL;
}

/* ---- git ---- */

/* The first line of a text behind the prefix, trimmed; NULL: it has another beginning. */
static const char *
line_behind(struct arena *a, const char *text, const char *prefix)
{
    size_t n = strlen(prefix);

    if (!text || strncmp(text, prefix, n) != 0)
        return NULL;
    struct text t = text_trim((struct text){ text + n, strcspn(text + n, "\r\n") });
    return t.len ? arena_dup(a, t.p, t.len) : NULL;
}

/* The git directory that all worktrees of the checkout in `root` share; NULL: none. */
static const char *
common_dir(struct arena *a, const char *root)
{
    const char *dir = real_path(a, root, ".git");
    struct stat st;

    if (!dir || stat(dir, &st))
        return NULL;
    if (!S_ISDIR(st.st_mode)) { /* a worktree or a submodule: "gitdir: PATH" */
        const char *to = line_behind(a, read_small(a, root, ".git"), "gitdir:");
        dir = to ? real_path(a, root, to) : NULL;
    }
    const char *common = dir ? line_behind(a, read_small(a, dir, "commondir"), "") : NULL;
    return common ? real_path(a, dir, common) : dir;
}

/* The url of the remote "origin" in git's configuration; NULL: none. */
static const char *
origin_of(struct arena *a, const char *git_dir)
{
    const char *text = read_small(a, git_dir, "config");
    bool is_in = false;

    while (text && *text) {
        struct text line = text_trim((struct text){ text, strcspn(text, "\n") });
        text += strcspn(text, "\n");
        text += *text == '\n';
        if (line.len && *line.p == '[') {
            is_in = line.len >= 17 && strncmp(line.p, "[remote \"origin\"]", 17) == 0;
            continue;
        }
        if (!is_in || line.len < 4 || strncmp(line.p, "url", 3) != 0)
            continue;
        struct text rest = text_trim((struct text){ line.p + 3, line.len - 3 });
        if (!rest.len || *rest.p != '=')
            continue;
        rest = text_trim((struct text){ rest.p + 1, rest.len - 1 });
        return rest.len ? arena_dup(a, rest.p, rest.len) : NULL;
    }
    return NULL;
}

/* Is the origin a directory of this machine? Then its path. */
static const char *
local_origin(const char *url)
{
    if (strncmp(url, "file://", 7) == 0)
        return url + 7;
    return *url == '/' || *url == '.' ? url : NULL;
}

/* "git@example.org:team/web.git" and "https://ann@Example.org/team/web" are example.org/team/web.
 */
static const char *
plain_url(struct arena *a, const char *url)
{
    const char *scheme = strstr(url, "://"), *p = scheme ? scheme + 3 : url;
    size_t host = strcspn(p, scheme ? "/" : ":/");
    const char *at = memchr(p, '@', host);

    if (at) {
        host -= (size_t)(at + 1 - p);
        p = at + 1;
    }
    size_t len = strlen(p);
    while (len > host && p[len - 1] == '/')
        len--;
    if (len > host + 4 && strncmp(p + len - 4, ".git", 4) == 0)
        len -= 4;
    char *out = arena_dup(a, p, len);
    for (size_t i = 0; out && i < host; i++)
        out[i] = out[i] >= 'A' && out[i] <= 'Z' ? (char)(out[i] | 32) : out[i];
    if (out && !scheme && out[host] == ':')
        out[host] = '/';
    return out;
}

static const char *
git_project(struct arena *a, const char *root)
{
    const char *dir = common_dir(a, root);
    struct buf b = { 0 };

    for (int i = 0; dir && i < ORIGINS_MAX; i++) {
        const char *url = origin_of(a, dir), *path = url ? local_origin(url) : NULL;
        if (!url)
            break;
        if (!path) {
            const char *plain = plain_url(a, url);
            buf_addf(&b, "git:%s", plain ? plain : "");
            break;
        }
        const char *there = real_path(a, root, path);
        if (!there)
            break;
        root = there;
        const char *next = exists(there, ".git") ? common_dir(a, there) : there; /* else bare */
        if (!next || !exists(next, "config"))
            break;
        dir = next;
    }
    if (dir && !b.len)
        buf_addf(&b, "git:%s", dir);
    const char *out = b.len && !buf_failed(&b) ? keep(a, b.p) : NULL;
    buf_release(&b);
    return out;
}

/* ---- the project ---- */

static const char *
cliq_project(struct arena *a, const char *root)
{
    const char *id = line_behind(a, read_small(a, root, ".cliq/cliq.id"), "");

    return id && path_is_name(id) ? id : NULL;
}

/* The nearest directory, from dir upwards, in which `name` exists. */
static const char *
find_up(struct arena *a, const char *dir, const char *name)
{
    char *at = arena_dup(a, dir, strlen(dir));

    for (char *slash; at; *slash = '\0') {
        if (exists(*at ? at : "/", name))
            return *at ? at : "/";
        slash = strrchr(at, '/');
        if (!slash)
            return NULL;
    }
    return NULL;
}

enum status
checkout_find(struct checkout *c, const char *dir, struct arena *a, struct err *e)
{
    const char *real = real_path(a, ".", dir);
    struct buf b = { 0 };

    *c = (struct checkout){ 0 };
    if (!real)
        return err_sys(e, "find the directory %s", dir);
    if (strcmp(real, "/") == 0)
        real = "";
    c->root = find_up(a, real, ".git");
    c->project = c->root ? git_project(a, c->root) : NULL;
    if (!c->project) {
        c->root = find_up(a, real, ".cliq/cliq.id");
        c->project = c->root ? cliq_project(a, c->root) : NULL;
    }
    if (!c->project) {
        c->root = *real ? real : "/";
        buf_addf(&b, "dir:%s", c->root);
        c->project = buf_failed(&b) ? NULL : keep(a, b.p);
        buf_release(&b);
    }
    return c->project ? ST_OK : err_nomem(e);
}

/* ---- paths ---- */

/* Makes an absolute path without empty segments, . and .. . */
static void
clean(char *p)
{
    char *to = p;

    for (const char *from = p; *from;) {
        while (*from == '/')
            from++;
        size_t n = strcspn(from, "/");
        if (n == 2 && from[0] == '.' && from[1] == '.') {
            while (to > p && *--to != '/')
                ;
        } else if (n && !(n == 1 && *from == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    *to = '\0';
}

/* Follows links in as much of an absolute path as exists. */
static char *
real_so_far(struct arena *a, const char *path)
{
    char real[PATH_MAX];
    char *at = arena_dup(a, path, strlen(path));
    struct buf b = { 0 };

    for (char *slash = NULL; at;) {
        if (realpath(*at ? at : "/", real)) {
            buf_addf(&b, "%s/%s", strcmp(real, "/") == 0 ? "" : real, path + strlen(at));
            break;
        }
        slash = strrchr(at, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    char *out = b.len && !buf_failed(&b) ? arena_dup(a, b.p, b.len) : NULL;
    buf_release(&b);
    if (out)
        clean(out);
    return out;
}

/* How much of the text names a file: all, or the segments before the first pattern. */
static size_t
literal_len(const char *text)
{
    size_t n = strcspn(text, "*?[\\");

    if (!text[n])
        return n;
    while (n && text[n - 1] != '/')
        n--;
    return n;
}

/* Behind the root, or NULL. */
static const char *
below(const char *root, const char *path)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return path[n] ? path + n + 1 : path + n;
}

static char *
absolute(struct arena *a, const char *dir, const char *text, size_t len)
{
    struct buf b = { 0 };
    char cwd[PATH_MAX];

    if (!len || *text != '/') {
        if (*dir != '/' && getcwd(cwd, sizeof cwd))
            buf_addf(&b, "%s/", cwd);
        buf_addf(&b, "%s/", dir);
    }
    buf_add(&b, text, len);
    char *out = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return out;
}

enum status
checkout_path(const struct checkout *c, const char *dir, const char *text, bool is_literal,
              struct arena *a, const char **out, struct err *e)
{
    struct buf b = { 0 };
    const char *whole = absolute(a, dir, text, strlen(text));
    struct stat st;

    if (!*text)
        return err_set(e, ST_INVALID, "an empty path names no file; . is the whole directory");
    if (!whole)
        return err_nomem(e);
    size_t len = is_literal || lstat(whole, &st) == 0 ? strlen(text) : literal_len(text);
    const char *at = absolute(a, dir, text, len);
    at = at ? real_so_far(a, at) : NULL;
    if (!at)
        return err_nomem(e);
    const char *path = below(c->root, at);
    if (!path)
        return err_set(e, ST_INVALID, "%s is outside the project in %s", text, c->root);
    path_glob_escape(&b, path);
    if (text[len])
        buf_addf(&b, "%s%s", b.len ? "/" : "", text + len);
    bool is_dir = !is_literal && ((b.len && whole[strlen(whole) - 1] == '/') ||
                                  (!text[len] && stat(at, &st) == 0 && S_ISDIR(st.st_mode)));
    while (b.len && b.p[b.len - 1] == '/')
        buf_cut(&b, b.len - 1);
    if (is_dir || !b.len)
        buf_adds(&b, b.len ? "/**" : "**");
    *out = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return *out ? path_glob_check(*out, e) : err_nomem(e);
}

enum status
checkout_of_file(struct checkout *c, const char *dir, const char *file, struct arena *a,
                 const char **path, struct err *e)
{
    char *at = absolute(a, dir, file, strlen(file)), *slash;
    struct checkout here;
    struct stat st;

    at = at ? real_so_far(a, at) : NULL;
    if (!at)
        return err_nomem(e);
    const char *whole = keep(a, at);
    while ((slash = strrchr(at, '/')) && slash > at && (stat(at, &st) || !S_ISDIR(st.st_mode)))
        *slash = '\0';
    enum status s = checkout_find(c, stat(at, &st) == 0 && S_ISDIR(st.st_mode) ? at : "/", a, e);
    /* Without a project, leases are of the directory that one works in. */
    if (!s && strncmp(c->project, "dir:", 4) == 0 && !checkout_find(&here, dir, a, NULL) && whole &&
        below(here.root, whole))
        *c = here;
    if (s || !whole)
        return s ? s : err_nomem(e);
    return checkout_path(c, dir, whole, true, a, path, e);
}
