/* assembled - see assembled.h. */
#include "run/assembled.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "run/assembled.json"

enum { DEPTH_MAX = 32, FILES_MAX = 100000 };

/* A walk over the files of a team, which ends at the first one that is newer than `limit_ms`. */
struct change_search {
    int64_t limit_ms, newest_ms;
    size_t n;
    struct buf path; /* of the file it ended at */
};

static void look_into(struct change_search *x, int dir, const char *path, int depth);

/* false: the search is over. */
static bool
look_at(struct change_search *x, int dir, const char *name, const char *shown, int depth)
{
    struct stat st;
    int sub;

    if (x->n++ == FILES_MAX ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) /* that of sys has no times */
        return x->n <= FILES_MAX;
    if (S_ISDIR(st.st_mode)) {
        if (depth < DEPTH_MAX && path_open_dir_at(dir, name, false, &sub, NULL) == ST_OK) {
            look_into(x, sub, shown, depth + 1);
            close(sub);
        }
        return !x->path.len;
    }
    int64_t ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    if (ms > x->newest_ms)
        x->newest_ms = ms;
    if (ms > x->limit_ms)
        buf_adds(&x->path, shown);
    return !x->path.len;
}

/* What Python compiles is no change, nor is what begins with a dot. */
static bool
is_of_team(const char *name)
{
    return *name != '.' && strcmp(name, "__pycache__") != 0;
}

static void
look_into(struct change_search *x, int dir, const char *path, int depth)
{
    int own = SYS_RETRY(sys->openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    DIR *d = own < 0 ? NULL : fdopendir(own);
    bool is_on = true;

    if (own >= 0 && !d)
        close(own);
    for (struct dirent *f; is_on && d && (f = readdir(d));) {
        struct buf shown = { 0 };
        if (!is_of_team(f->d_name))
            continue;
        buf_addf(&shown, "%s/%s", path, f->d_name);
        is_on = !buf_failed(&shown) && look_at(x, dir, f->d_name, shown.p, depth);
        buf_release(&shown);
    }
    if (d)
        closedir(d);
}

static void
search(struct change_search *x, const char *dir)
{
    static const char *const parts[] = { "team.yml", "roles", "agents", "teams" };
    int fd;

    if (path_open_dir(dir, false, &fd, NULL))
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!look_at(x, fd, parts[i], parts[i], 0))
            break;
    close(fd);
}

int64_t
assembled_newest(const char *dir)
{
    struct change_search x = { .limit_ms = INT64_MAX };

    search(&x, dir);
    return x.newest_ms;
}

enum status
assembled_write(const struct state_dir *f, const char *dir, int64_t newest_ms, struct err *e)
{
    struct buf text = { 0 };
    char *full = dir ? realpath(dir, NULL) : NULL;

    json_open(&text, '{');
    if (full) {
        json_key_str(&text, "from", full);
        json_key_int(&text, "newest_ms", newest_ms);
    }
    json_close(&text, '}');
    buf_addc(&text, '\n');
    free(full);
    enum status s = buf_status(&text, FILE_NAME, e);
    if (!s)
        s = state_dir_replace(f, FILE_NAME, text.p, text.len, e);
    buf_release(&text);
    return s;
}

bool
assembled_find_change(const struct state_dir *f, struct buf *path, struct buf *dir)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct change_search x = { 0 };
    struct json *doc = NULL;

    if (state_dir_read(f, FILE_NAME, &text, NULL) == ST_OK &&
        json_parse_named(&a, FILE_NAME, text.p ? text.p : "", text.len, &doc, NULL) == ST_OK &&
        json_int(json_get(doc, "newest_ms"), &x.limit_ms)) {
        const char *from = json_dup_text(&a, json_get(doc, "from"));
        if (from && *from == '/')
            search(&x, from);
        if (x.path.len) {
            buf_adds(dir, from);
            buf_addf(path, "%s/%s", from, x.path.p);
        }
    }
    bool is_found = x.path.len && !buf_failed(&x.path) && !buf_failed(path) && !buf_failed(dir);
    buf_release(&x.path);
    buf_release(&text);
    arena_release(&a);
    return is_found;
}
