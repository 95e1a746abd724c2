#include "cmd/lib/sdk_package.h"

#include "base/path.h"
#include "base/sys.h"
#include "cmd/lib/team_file.h"
#include "team/agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sdk_package packages[] = {
    { "js", "sdk-js", "sdk-js", "node_modules/@cliqhub/cliq-sdk" },
    { "python", "sdk-python", "sdk-python/cliq_sdk", "cliq_sdk" },
};

enum status
sdk_package_find(const char *language, const struct sdk_package **out, struct err *e)
{
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        *out = &packages[i];
        if (strcmp(packages[i].language, language) == 0)
            return ST_OK;
    }
    return err_set(e, ST_INVALID, "there is no SDK for \"%.80s\": it must be js or python",
                   language);
}

/* ---- the share directory ---- */

static bool
is_share(const char *path)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s/sdk-js/package.json", path);
    bool is_there = !buf_failed(&b) && access(b.p, R_OK) == 0;
    buf_release(&b);
    return is_there;
}

/* Appends "<parent of the program's directory, `up` times>/<rest>" when that is a share directory.
 */
static bool
try_beside(const char *self, unsigned up, const char *rest, struct buf *to)
{
    size_t n = strlen(self), len = to->len;

    for (unsigned i = 0; i <= up; i++)
        while (n > 1 && self[--n] != '/')
            ;
    buf_addf(to, "%.*s%s", (int)n, self, rest);
    if (!buf_failed(to) && is_share(to->p + len))
        return true;
    buf_cut(to, len);
    return false;
}

static enum status
find_share(struct buf *to, struct err *e)
{
    const char *given = getenv("CLIQ_SHARE");
    struct arena a = { 0 };

    if (given && *given) {
        buf_adds(to, given);
        return is_share(given)
                   ? buf_status(to, "the path", e)
                   : err_set(e, ST_NOT_FOUND,
                             "CLIQ_SHARE is %.200s, which has no sdk-js/package.json", given);
    }
    const char *self = agent_self(&a);
    bool is_found = try_beside(self, 1, "/share/cliq", to) || try_beside(self, 1, "", to) ||
                    try_beside(self, 2, "", to);
    enum status s = is_found ? buf_status(to, "the path", e)
                             : err_set(e, ST_NOT_FOUND,
                                       "the SDKs are not beside %.200s (../share/cliq): run make "
                                       "install, or set CLIQ_SHARE",
                                       self);
    arena_release(&a);
    return s;
}

enum status
sdk_share_path(const char *name, struct buf *to, struct err *e)
{
    enum status s = find_share(to, e);

    buf_addf(to, "/%s", name);
    return s ? s : buf_status(to, "the path", e);
}

/* ---- a copy ---- */

/* Sources, types, documents: what a package is made of. */
static bool
is_part(const char *name)
{
    static const char *const endings[] = { ".js", ".mjs", ".ts", ".json", ".md", ".py", ".typed" };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && dot != name && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Opens `path` below dir; makes the directories that are missing. */
static enum status
make_path(int dir, const char *path, int *out, struct err *e)
{
    struct buf part = { 0 };

    *out = -1;
    for (size_t n = 0;; n++) {
        n += strcspn(path + n, "/");
        buf_reset(&part);
        buf_add(&part, path, n);
        buf_adds(&part, "");
        if (buf_failed(&part))
            break;
        if (SYS_RETRY(sys->mkdirat(dir, part.p, 0777)) != 0 && errno != EEXIST)
            break;
        if (path[n])
            continue;
        *out = SYS_RETRY(sys->openat(dir, part.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
        break;
    }
    enum status s = buf_status(&part, "the path", e);
    if (!s && *out < 0)
        s = err_sys(e, "create directory %s", part.p);
    buf_release(&part);
    return s;
}

static enum status
copy_parts(DIR *from, int to, struct err *e)
{
    enum status s = ST_OK;
    struct dirent *d;

    while (!s && (errno = 0, d = readdir(from))) {
        struct buf text = { 0 };
        if (!is_part(d->d_name))
            continue;
        s = path_read_file(dirfd(from), d->d_name, &text, e);
        if (!s)
            s = team_file_write(to, d->d_name, &text, false, e);
        buf_release(&text);
    }
    return !s && errno ? err_sys(e, "read the SDK's directory") : s;
}

enum status
sdk_package_copy(const struct sdk_package *p, const char *dir, struct err *e)
{
    struct buf source = { 0 };
    int fd = -1, to = -1;
    enum status s = sdk_share_path(p->source, &source, e);
    DIR *from = s ? NULL : opendir(source.p);

    if (!s && !from)
        s = err_sys(e, "open directory %s", source.p);
    if (!s)
        s = path_open_dir(dir, false, &fd, e);
    if (!s)
        s = make_path(fd, p->target, &to, e);
    if (!s)
        s = copy_parts(from, to, e);
    if (to >= 0)
        close(to);
    if (fd >= 0)
        close(fd);
    if (from)
        closedir(from);
    buf_release(&source);
    return s;
}
