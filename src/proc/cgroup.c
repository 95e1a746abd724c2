/* Files that the kernel shows as a directory: a group is made with mkdir, entered by writing to
 * its cgroup.procs, and removed with rmdir, which fails while a process is in it. */
#define _GNU_SOURCE
#include "proc/cgroup.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/sys.h"
#include "proc/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "cliq-"

enum {
    TRIES = 8,        /* for a free name */
    DEPTH_MAX = 32,   /* of groups that an agent made in its own */
    SETTLE_TRIES = 20 /* of a millisecond: a process that just died may still be counted */
};

/* Where we are. Found once a process: a fork finds it anew, for its names. */
static struct home {
    pid_t pid; /* 0: not read yet */
    uint64_t start;
    char mount[PATH_MAX];        /* where version 2 is mounted; "": nowhere that helps us */
    char root[CGROUP_PATH_SIZE]; /* which path that mount shows; "" is all of them */
    char path[CGROUP_PATH_SIZE]; /* our own; "" is the root */
    bool is_refused;             /* nothing can be made there */
    unsigned made;
} home;
static pthread_mutex_t home_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_untidy;

/* ---- where we are ---- */

/* The path behind `from`, when that is where it begins; else NULL. */
static const char *
path_behind(const char *path, const char *from)
{
    size_t n = strlen(from);

    return strncmp(path, from, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* "/" is "" here, so that a name can be put behind any path. */
static bool
keep_path(char *to, size_t size, const char *from, size_t n)
{
    if (n == 1 && from[0] == '/')
        n = 0;
    if (n >= size || (n && from[0] != '/'))
        return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* The line "0::/path". Who was put outside of what we may see has dots in it. */
static bool
find_path(struct home *h, const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, "0::", 3) == 0)
            return keep_path(h->path, sizeof h->path, line + 3, strcspn(line + 3, "\n")) &&
                   !strstr(h->path, "/..");
    return false;
}

/* Blanks and the like stand in mountinfo as \040. */
static void
unescape(char *text)
{
    char *to = text;

    for (const char *c = text; *c; to++) {
        bool is_octal = c[0] == '\\' && strspn(c + 1, "01234567") >= 3;
        *to = is_octal ? (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + (c[3] - '0')) : *c;
        c += is_octal ? 4 : 1;
    }
    *to = '\0';
}

/* "41 31 0:38 ROOT POINT rw,relatime … - cgroup2 cgroup2 rw" */
static bool
take_mount(struct home *h, char *line)
{
    char *type = strstr(line, " - "), *words[5], *rest = NULL;

    if (!type || strncmp(type, " - cgroup2 ", 11) != 0)
        return false;
    *type = '\0';
    for (int i = 0; i < 5; i++)
        if (!(words[i] = strtok_r(i ? NULL : line, " ", &rest)))
            return false;
    unescape(words[3]);
    unescape(words[4]);
    return keep_path(h->root, sizeof h->root, words[3], strlen(words[3])) &&
           keep_path(h->mount, sizeof h->mount, words[4], strlen(words[4])) && h->mount[0] &&
           path_behind(h->path, h->root);
}

static void
find_mount(struct home *h, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (take_mount(h, line))
            return;
    h->mount[0] = '\0';
}

/* With the lock held. False: there is nothing of that kind, or it cannot be read now. */
static bool
find_home(void)
{
    struct buf groups = BUF_MAX(1 << 16), mounts = BUF_MAX(1 << 22);
    struct procfs self;

    if (home.pid == getpid())
        return home.mount[0];
    struct home found = { .pid = getpid() };
    bool is_read = procfs_read(&self, 0) == 0 && self.pid == found.pid &&
                   path_read_file(AT_FDCWD, "/proc/self/cgroup", &groups, NULL) == ST_OK &&
                   path_read_file(AT_FDCWD, "/proc/self/mountinfo", &mounts, NULL) == ST_OK;
    if (is_read) {
        found.start = self.start;
        if (groups.len && mounts.len && find_path(&found, groups.p))
            find_mount(&found, mounts.p);
        home = found;
    }
    buf_release(&groups);
    buf_release(&mounts);
    return is_read && home.mount[0];
}

/* The directory of a group, or a file in it. */
static bool
place(char *to, size_t size, const char *path, const char *file)
{
    const char *below = path_behind(path, home.root);
    int n = below ? snprintf(to, size, "%s%s%s", home.mount, below, file) : -1;

    return n > 0 && (size_t)n < size;
}

/* The same for those who do not have the lock. What was found does not change any more. */
static bool
locate(char *to, size_t size, const char *path, const char *file)
{
    pthread_mutex_lock(&home_lock);
    bool is_found = find_home() && place(to, size, path, file);
    pthread_mutex_unlock(&home_lock);
    return is_found;
}

/* ---- names ---- */

/* "cliq-4711-302824-3": its maker. */
static bool
read_name(const char *name, size_t len, pid_t *pid, uint64_t *start)
{
    unsigned number;
    char same[64];

    if (sscanf(name, PREFIX "%d-%" SCNu64 "-%u", pid, start, &number) != 3)
        return false;
    int n = snprintf(same, sizeof same, PREFIX "%d-%" PRIu64 "-%u", *pid, *start, number);
    return *pid > 0 && (size_t)n == len && memcmp(same, name, len) == 0;
}

bool
cgroup_is_ours(const char *path)
{
    const char *name = strrchr(path, '/');
    pid_t pid;
    uint64_t start;

    return path[0] == '/' && strlen(path) < CGROUP_PATH_SIZE && !strstr(path, "/.") &&
           !strstr(path, "//") && !strchr(path, '\n') &&
           read_name(name + 1, strlen(name + 1), &pid, &start);
}

/* How much of a path is in front of the first name of ours; all of it when there is none. */
static size_t
outer_len(const char *path)
{
    pid_t pid;
    uint64_t start;

    for (const char *at = path; *at; at += strcspn(at + 1, "/") + 1)
        if (read_name(at + 1, strcspn(at + 1, "/"), &pid, &start))
            return (size_t)(at - path);
    return strlen(path);
}

/* ---- making ---- */

static int
open_file(const char *path, int flags)
{
    return SYS_RETRY(sys->openat(AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0));
}

/* The next free name; false when there is none for now, or for ever. */
static bool
make_directory(char path[CGROUP_PATH_SIZE], char dir[PATH_MAX])
{
    for (int i = 0; i < TRIES; i++) {
        int n = snprintf(path, CGROUP_PATH_SIZE, "%s/" PREFIX "%d-%" PRIu64 "-%u", home.path,
                         (int)home.pid, home.start, ++home.made);
        if (n >= CGROUP_PATH_SIZE || !place(dir, PATH_MAX, path, ""))
            return false;
        if (SYS_RETRY(sys->mkdirat(AT_FDCWD, dir, 0755)) == 0)
            return true;
        if (errno != EEXIST) {
            /* a limit on groups, or memory, may be better next time */
            home.is_refused = errno != EAGAIN && errno != ENOMEM && errno != ENOSPC;
            return false;
        }
    }
    return false;
}

bool
cgroup_make(char path[CGROUP_PATH_SIZE], int *dir)
{
    char name[PATH_MAX];

    *dir = -1;
    pthread_mutex_lock(&home_lock);
    bool is_made = find_home() && !home.is_refused && make_directory(path, name);
    pthread_mutex_unlock(&home_lock);
    if (is_made && (*dir = open_file(name, O_PATH | O_DIRECTORY)) < 0)
        rmdir(name);
    if (*dir < 0)
        memset(path, 0, CGROUP_PATH_SIZE);
    return *dir >= 0;
}

int
cgroup_open_outside(void)
{
    char path[CGROUP_PATH_SIZE], dir[PATH_MAX];

    pthread_mutex_lock(&home_lock);
    bool is_inside = find_home() && outer_len(home.path) < strlen(home.path) &&
                     keep_path(path, sizeof path, home.path, outer_len(home.path)) &&
                     place(dir, sizeof dir, path, "");
    pthread_mutex_unlock(&home_lock);
    return is_inside ? open_file(dir, O_PATH | O_DIRECTORY) : -1;
}

bool
cgroup_enter(int dir)
{
    int procs = SYS_RETRY(sys->openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC, 0));
    bool is_inside = procs >= 0 && SYS_RETRY(sys->write(procs, "0", 1)) == 1;

    if (procs >= 0)
        close(procs);
    return is_inside;
}

/* ---- its processes ---- */

static bool
add_pid(struct cgroup_pids *pids, pid_t pid)
{
    if (pids->n == pids->cap) {
        size_t cap = pids->cap ? pids->cap * 2 : 64;
        pid_t *v = realloc(pids->v, cap * sizeof *v);
        if (!v)
            return false;
        pids->v = v;
        pids->cap = cap;
    }
    pids->v[pids->n++] = pid;
    return true;
}

/* Is it only that there is no such group, any more or for us, or that another one tells of it? */
static bool
is_absent(int error)
{
    return error == ENOENT || error == ENODEV || error == EACCES || error == EOPNOTSUPP;
}

/* The text "17\n4711\n" of a file that may not be there. */
static bool
read_procs(const char *file, struct buf *text)
{
    char piece[4096];
    ssize_t n = 0;
    int fd = open_file(file, O_RDONLY);

    if (fd < 0)
        return is_absent(errno);
    while ((n = SYS_RETRY(sys->read(fd, piece, sizeof piece))) > 0)
        buf_add(text, piece, (size_t)n);
    bool is_good = n == 0 || is_absent(errno);
    close(fd);
    return is_good && !buf_failed(text);
}

static bool
list_own(const char *dir, struct cgroup_pids *pids)
{
    struct buf file = { 0 }, text = BUF_MAX(1 << 24);
    char *end;

    buf_addf(&file, "%s/cgroup.procs", dir);
    bool is_good = !buf_failed(&file) && read_procs(file.p, &text);
    for (char *c = text.len ? text.p : NULL; is_good && c && *c; c = end) {
        long pid = strtol(c, &end, 10);
        if (end == c)
            break;
        is_good = add_pid(pids, (pid_t)pid);
    }
    buf_release(&file);
    buf_release(&text);
    return is_good;
}

/* Calls fn for each group right below; stops when it says false. */
static bool
each_below(const char *dir, int depth, bool (*fn)(const char *dir, int depth, void *ctx), void *ctx)
{
    DIR *d = depth < DEPTH_MAX ? opendir(dir) : NULL;
    bool is_good = d || depth == DEPTH_MAX || errno == ENOENT || errno == EACCES;

    for (struct dirent *x; d && is_good && (x = readdir(d));) {
        struct buf path = { 0 };
        if (x->d_type != DT_DIR || x->d_name[0] == '.')
            continue;
        buf_addf(&path, "%s/%s", dir, x->d_name);
        is_good = !buf_failed(&path) && fn(path.p, depth + 1, ctx);
        buf_release(&path);
    }
    if (d)
        closedir(d);
    return is_good;
}

static bool
list_all(const char *dir, int depth, void *pids)
{
    return list_own(dir, pids) && each_below(dir, depth, list_all, pids);
}

static int
by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

bool
cgroup_list(const char *path, struct cgroup_pids *pids)
{
    char dir[PATH_MAX];

    pids->n = 0;
    if (!path[0] || !cgroup_is_ours(path) || !locate(dir, sizeof dir, path, ""))
        return true;
    bool is_good = list_all(dir, 0, pids);
    if (pids->n)
        qsort(pids->v, pids->n, sizeof *pids->v, by_number);
    return is_good;
}

bool
cgroup_has(const struct cgroup_pids *pids, pid_t pid)
{
    return pids->n && bsearch(&pid, pids->v, pids->n, sizeof pid, by_number);
}

bool
cgroup_kill(const char *path)
{
    char file[PATH_MAX];
    int fd = cgroup_is_ours(path) && locate(file, sizeof file, path, "/cgroup.kill")
                 ? open_file(file, O_WRONLY)
                 : -1;

    if (fd < 0)
        return false;
    bool is_told = SYS_RETRY(sys->write(fd, "1", 1)) == 1;
    close(fd);
    return is_told;
}

/* ---- removing ---- */

static bool
remove_directory(const char *dir, int depth, void *ctx)
{
    (void)ctx;
    if (rmdir(dir) != 0 && errno == EBUSY) {
        each_below(dir, depth, remove_directory, NULL);
        rmdir(dir);
    }
    return true;
}

void
cgroup_remove(const char *path)
{
    char dir[PATH_MAX];
    struct cgroup_pids pids = { 0 };

    if (!path[0] || !cgroup_is_ours(path) || !locate(dir, sizeof dir, path, ""))
        return;
    bool is_busy = rmdir(dir) != 0 && errno == EBUSY;
    for (int i = 0; is_busy && i < SETTLE_TRIES; i++) {
        if (!cgroup_list(path, &pids) || pids.n)
            break;
        if (i)
            poll(NULL, 0, 1);
        remove_directory(dir, 0, NULL);
        is_busy = access(dir, F_OK) == 0;
    }
    free(pids.v);
    if (is_busy) {
        pthread_mutex_lock(&home_lock);
        is_untidy = true;
        pthread_mutex_unlock(&home_lock);
    }
}

bool
cgroup_is_untidy(void)
{
    pthread_mutex_lock(&home_lock);
    bool is = is_untidy;
    pthread_mutex_unlock(&home_lock);
    return is;
}

/* A living maker may be about to put a process in. */
static bool
sweep_one(const char *dir, int depth, void *ctx)
{
    struct procfs p;
    pid_t pid;
    uint64_t start;

    (void)ctx;
    const char *name = strrchr(dir, '/') + 1;
    if (!read_name(name, strlen(name), &pid, &start))
        return true;
    bool is_free = pid == getpid();
    if (!is_free && procfs_read(&p, pid) == 0)
        is_free = p.start != start || !procfs_is_live(&p);
    else if (!is_free)
        is_free = errno == ENOENT || errno == ESRCH;
    if (is_free)
        remove_directory(dir, depth, NULL);
    return true;
}

void
cgroup_sweep(void)
{
    char dir[PATH_MAX];

    pthread_mutex_lock(&home_lock);
    bool is_found = find_home() && !home.is_refused && place(dir, sizeof dir, home.path, "");
    pthread_mutex_unlock(&home_lock);
    if (is_found)
        each_below(dir, 0, sweep_one, NULL);
}
