#define _GNU_SOURCE
#include "run/sleeping.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"
#include "proc/proc.h"
#include "run/lockfile.h"
#include "team/agent.h"
#include "wake/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORD "run/asleep"
#define LIST   "sleeping"

enum { BEGIN_MS = 30000 }; /* for the run to begin */

/* ---- the record ---- */

static bool
read_record(const struct state_dir *f, struct sleeping *out)
{
    struct buf text = { 0 };
    struct arena a = { 0 };
    struct json *doc;
    bool is_good = state_dir_read(f, RECORD, &text, NULL) == ST_OK &&
                   json_parse(&a, text.p ? text.p : "", text.len, &doc, NULL);
    const char *run = is_good ? json_dup_text(&a, json_get(doc, "run")) : NULL;

    *out = (struct sleeping){ .run = "" };
    if (run)
        snprintf(out->run, sizeof out->run, "%s", run);
    is_good = run && json_int(json_get(doc, "since_ms"), &out->since_ms) &&
              json_int(json_get(doc, "wake_ms"), &out->wake_ms);
    arena_release(&a);
    buf_release(&text);
    return is_good;
}

bool
sleeping_read(const struct state_dir *f, struct sleeping *out)
{
    return read_record(f, out) && !lockfile_is_held(f);
}

/* ---- the list of the user ---- */

/* <config>/sleeping/<hex> of that .cliq/. */
static enum status
link_path(const struct state_dir *f, struct buf *to, struct err *e)
{
    char hex[DIGEST_HEX_SIZE];
    enum status s = path_config(to, e);

    digest_sha256_hex(hex, f->state_dir, strlen(f->state_dir));
    buf_addf(to, "/" LIST "/%.16s", hex);
    return s ? s : buf_status(to, "the path", e);
}

static enum status
make_list(struct err *e)
{
    struct buf config = { 0 };
    int top = -1, dir = -1;
    enum status s = path_config(&config, e);

    if (!s)
        s = path_open_dir(config.p, true, &top, e);
    if (!s)
        s = path_open_dir_at(top, LIST, true, &dir, e);
    if (top >= 0)
        close(top);
    if (dir >= 0)
        close(dir);
    buf_release(&config);
    return s;
}

static enum status
add_link(const struct state_dir *f, struct err *e)
{
    struct buf path = { 0 };
    enum status s = make_list(e);

    if (!s)
        s = link_path(f, &path, e);
    if (!s && symlink(f->state_dir, path.p) != 0 && errno != EEXIST)
        s = err_sys(e, "link %s", path.p);
    buf_release(&path);
    return s;
}

enum status
sleeping_begin(const struct state_dir *f, const struct sleeping *s, struct err *e)
{
    struct buf text = { 0 };

    json_open(&text, '{');
    json_key_int(&text, "v", 1);
    json_key_str(&text, "run", s->run);
    json_key_int(&text, "since_ms", s->since_ms);
    json_key_int(&text, "wake_ms", s->wake_ms);
    json_close(&text, '}');
    buf_addc(&text, '\n');
    enum status st = buf_status(&text, "the record", e);
    if (!st) /* first, so that the alarm finds it by the link */
        st = state_dir_replace(f, RECORD, text.p, text.len, e);
    if (!st)
        st = add_link(f, e);
    if (st)
        state_dir_remove(f, RECORD, NULL);
    buf_release(&text);
    return st;
}

void
sleeping_end(const struct state_dir *f)
{
    struct buf path = { 0 };
    struct stat st;

    if (sys->fstatat(f->dir, RECORD, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    state_dir_remove(f, RECORD, NULL);
    if (link_path(f, &path, NULL) == ST_OK)
        unlink(path.p);
    buf_release(&path);
}

/* ---- it is woken ---- */

/* What the command said, without its end of line. */
static void
read_words(int fd, struct buf *to)
{
    struct err ignored;

    if (lseek(fd, 0, SEEK_SET) == 0 && path_read_fd(fd, "its output", to, &ignored) == ST_OK)
        while (to->len && to->p[to->len - 1] == '\n')
            buf_cut(to, to->len - 1);
}

static void
log_failure(const struct state_dir *f, const char *why)
{
    char now[CLOCK_ISO_SIZE];
    struct buf line = { 0 };
    int fd = SYS_RETRY(
        sys->openat(f->dir, "orchestrator.log",
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));

    clock_iso(now, clock_wall_ns(), 1);
    buf_addf(&line, "%.12s  %-16s %-9s not started again: %s\n", now + 11, "run", "asleep", why);
    if (fd >= 0 && !buf_failed(&line) && sys->write(fd, line.p, line.len) < 0)
        line.len = 0; /* nothing more can be done */
    if (fd >= 0)
        close(fd);
    buf_release(&line);
}

static enum status
start(const struct state_dir *f, const char *config, int words, struct err *e)
{
    struct arena a = { 0 };
    const char *argv[] = { agent_self(&a), "run", "--resume", "--detach", "--headless", NULL };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct proc_spec spec = { .argv = argv,
                              .env = wake_env(&a, config, NULL),
                              .dir = f->project_dir,
                              .out_fd = null,
                              .err_fd = words,
                              .is_woken = true };
    struct proc_id id;
    enum status s = null < 0 ? err_sys(e, "open /dev/null") : ST_OK;

    if (!s && !spec.env)
        s = err_nomem(e);
    if (!s)
        s = proc_spawn(&spec, &id, e);
    if (null >= 0)
        close(null);
    int end = s ? -1 : proc_pidfd(&id);
    if (end >= 0) {
        struct pollfd p = { .fd = end, .events = POLLIN };
        SYS_RETRY(poll(&p, 1, BEGIN_MS));
        close(end);
    }
    if (!s)
        waitpid(id.pid, NULL, WNOHANG); /* a server reaps it itself */
    arena_release(&a);
    return s;
}

enum status
sleeping_wake(const struct state_dir *f, const char *config, struct err *e)
{
    struct buf own = { 0 }, words = { 0 };
    struct sleeping before, left;
    int fd = memfd_create("cliq-wake", MFD_CLOEXEC);
    enum status s = fd < 0 ? err_sys(e, "make a file in memory") : ST_OK;

    read_record(f, &before);
    if (!s && !config)
        s = path_config(&own, e);
    if (!s)
        s = start(f, config ? config : own.p, fd, e);
    if (!s && sleeping_read(f, &left) && left.since_ms == before.since_ms) {
        read_words(fd, &words);
        s = err_set(e, ST_FAILED, "%s",
                    words.len && !buf_failed(&words) ? words.p : "cliq run --resume did not begin");
    }
    if (s)
        log_failure(f, e->text);
    if (fd >= 0)
        close(fd);
    buf_release(&own);
    buf_release(&words);
    return s;
}
