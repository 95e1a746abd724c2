#define _GNU_SOURCE /* mkostemp */
#include "cmd/lib/sdk_session.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

enum status
sdk_text_arg(const char *arg, const char *what, struct buf *to, struct err *e)
{
    if (strcmp(arg, "-") == 0) {
        buf_adds(to, "");
        enum status s = path_read_fd(STDIN_FILENO, what, to, e);
        if (!s && to->p && memchr(to->p, '\0', to->len))
            s = err_set(e, ST_INVALID, "%s holds a NUL byte", what);
        return s;
    }
    buf_adds(to, arg);
    return buf_status(to, what, e);
}

enum status
sdk_file_arg(const char *arg, struct buf *to, struct err *e)
{
    if (strcmp(arg, "-") == 0)
        return path_read_fd(STDIN_FILENO, "standard input", to, e);
    enum status s = path_read_file(AT_FDCWD, arg, to, e);
    if (s == ST_NOT_FOUND)
        err_say(e, "no file %s", arg);
    return s;
}

enum status
sdk_json_arg(struct sdk_session *k, const char *arg, const char *what, bool is_object,
             const struct json **out, struct err *e)
{
    struct buf b = { 0 };
    struct json *v = NULL;

    *out = NULL;
    if (!arg)
        return ST_OK;
    enum status s = arg[0] == '@' ? sdk_file_arg(arg + 1, &b, e) : sdk_text_arg(arg, what, &b, e);
    const char *kept = s ? NULL : arena_dup(&k->arena, b.p ? b.p : "", b.len);
    if (!s)
        s = kept ? json_parse_named(&k->arena, what, kept, b.len, &v, e) : err_nomem(e);
    if (s == ST_INVALID && kept && !memchr("{[\"", kept[0], 3)) /* a text without its quotes */
        err_say(e, "%s must be JSON, for example '{\"summary\":\"done\"}', not %.60s", what, kept);
    if (!s && is_object && !json_is(v, JSON_OBJECT))
        s = err_set(e, ST_INVALID, "%s must be a JSON object", what);
    buf_release(&b);
    *out = v;
    return s;
}

/* ---- the saved message ---- */

/* In a run: beside the message that the run wrote, so that an agent which is killed leaves it
 * nowhere else, and the next run takes it away. -1: this is no run's. */
static int
make_beside(const struct sdk_session *k, struct buf *to)
{
    int dir, fd = -1;

    if (k->c.state.dir < 0 || state_dir_open_dir(&k->c.state, "run/messages", false, &dir, NULL))
        return -1;
    close(dir); /* it is there, and no link leads to it */
    buf_reset(to);
    buf_addf(to, "%s/run/messages/sdk.XXXXXX", k->c.state.state_dir);
    if (!buf_failed(to) && to->p[0] == '/')
        fd = mkostemp(to->p, O_CLOEXEC);
    return fd;
}

static int
make_file(const struct sdk_session *k, struct buf *to)
{
    const char *dir = getenv("TMPDIR");
    int fd = make_beside(k, to);

    if (fd >= 0)
        return fd;
    buf_reset(to);
    buf_addf(to, "%s/cliq-sdk.XXXXXX", dir && dir[0] == '/' ? dir : "/tmp");
    return buf_failed(to) ? -1 : mkostemp(to->p, O_CLOEXEC);
}

enum status
sdk_save(const struct sdk_session *k, struct buf *to, struct err *e)
{
    struct buf line = { 0 };

    json_write(&line, k->msg.root);
    buf_addc(&line, '\n');
    enum status s = buf_status(&line, "the message", e);
    int fd = s ? -1 : make_file(k, to);
    if (!s)
        s = buf_status(to, "the path", e);
    if (!s && fd < 0)
        s = err_sys(e, "make the file %s", to->p);
    for (size_t at = 0; !s && at < line.len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, line.p + at, line.len - at));
        if (n <= 0)
            s = err_sys(e, "write %s", to->p);
        else
            at += (size_t)n;
    }
    if (fd >= 0) {
        close(fd);
        if (s)
            unlink(to->p);
    }
    buf_release(&line);
    return s;
}

/* Opens the saved file: ours, a file, no link. */
static enum status
open_saved(const char *path, int flags, int *fd, struct err *e)
{
    struct stat st;

    *fd = SYS_RETRY(sys->openat(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0));
    if (*fd < 0 && errno == ENOENT)
        return err_set(e, ST_CONFLICT,
                       "this phase has ended: one complete, verdict or fail is all there can be "
                       "(its message %s is gone)",
                       path);
    if (*fd < 0)
        return err_sys(e, "open the saved message %s", path);
    if (sys->fstat(*fd, &st) != 0)
        return err_sys(e, "look at the saved message %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return err_set(e, ST_REFUSED, "%s is not a message that sdk begin saved for this user",
                       path);
    return ST_OK;
}

enum status
sdk_note_sent(const struct sdk_session *k, const char *target, struct err *e)
{
    struct buf line = { 0 };
    int fd = -1;

    json_open(&line, '{');
    json_key_str(&line, "sent", target);
    json_close(&line, '}');
    buf_addc(&line, '\n');
    enum status s = buf_status(&line, "the line", e);
    if (!s)
        s = open_saved(k->path, O_WRONLY | O_APPEND, &fd, e);
    if (!s && sys->write(fd, line.p, line.len) != (ssize_t)line.len)
        s = err_sys(e, "write %s", k->path);
    if (fd >= 0)
        close(fd);
    buf_release(&line);
    return s;
}

/* The lines behind the message: which targets were sent to. */
static void
read_sent(struct sdk_session *k, const char *p)
{
    while (*p) {
        size_t n = strcspn(p, "\n");
        struct json *v = NULL;
        json_parse(&k->arena, p, n, &v, NULL);
        for (size_t i = 0; i < k->c.n_targets; i++)
            if (json_eq(json_get(v, "sent"), k->c.targets[i].name))
                k->c.targets[i].is_sent = true;
        p += n + (p[n] == '\n');
    }
}

/* ---- a context ---- */

enum status
sdk_parse(struct sdk_session *k, struct err *e)
{
    size_t len = k->text.len;
    const char *p = k->text.p ? k->text.p : "";
    enum status s = agent_message_parse(&k->arena, p, len, &k->msg, e);

    return s ? s : context_build(&k->arena, &k->msg, &k->c, e);
}

enum status
sdk_open(struct sdk_session *k, struct err *e)
{
    int fd = -1;

    *k = (struct sdk_session){ .c = { .state.dir = -1, .signal_dir = -1 } };
    k->path = getenv(SDK_MESSAGE);
    if (!k->path || k->path[0] != '/')
        return err_set(e, ST_INVALID,
                       SDK_MESSAGE " is not set: begin with  eval \"$(cliq sdk begin)\"");
    enum status s = open_saved(k->path, O_RDONLY, &fd, e);
    if (!s)
        s = path_read_fd(fd, "the saved message", &k->text, e);
    if (fd >= 0)
        close(fd);
    if (s)
        return s;
    /* the message is the first line; what stands behind it is kept for later */
    size_t n = k->text.p ? strcspn(k->text.p, "\n") : 0, len = k->text.len;
    k->text.len = n;
    s = sdk_parse(k, e);
    if (!s && n < len)
        read_sent(k, k->text.p + n + 1);
    return s;
}

void
sdk_close(struct sdk_session *k)
{
    context_release(&k->c);
    buf_release(&k->text);
    buf_release(&k->ended);
    arena_release(&k->arena);
}

/* ---- the end ---- */

/* Only one process can do this rename: that one ends the phase. */
enum status
sdk_claim(struct sdk_session *k, struct err *e)
{
    buf_addf(&k->ended, "%s.ended", k->path);
    enum status s = buf_status(&k->ended, "the path", e);

    if (!s && sys->renameat(AT_FDCWD, k->path, AT_FDCWD, k->ended.p) != 0)
        s = errno == ENOENT ? err_set(e, ST_CONFLICT, "this phase has ended meanwhile")
                            : err_sys(e, "rename %s", k->path);
    return s;
}

enum status
sdk_settle(struct sdk_session *k, enum status s)
{
    if (s)
        sys->renameat(AT_FDCWD, k->ended.p, AT_FDCWD, k->path);
    else
        unlink(k->ended.p);
    return s;
}

void
sdk_say(const struct sdk_session *k, const char *text)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s: ", k->c.agent);
    term_escape(&b, text, strlen(text), true);
    buf_addc(&b, '\n');
    if (!buf_failed(&b))
        (void)!sys->write(STDERR_FILENO, b.p, b.len); /* a closed standard error is no failure */
    buf_release(&b);
}
