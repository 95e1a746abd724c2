#define _GNU_SOURCE
#include "run/scrub.h"

#include "base/path.h"
#include "base/sys.h"
#include "context/frames.h"
#include "team/settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };
#define COPY ".scrub"

/* What is being done; its first error is kept. */
struct scrub {
    const struct mask *mask;
    enum status status;
    struct err *e;
};

static void
keep_error(struct scrub *x, enum status s, const struct err *e)
{
    if (!x->status) {
        x->status = s;
        err_say(x->e, "%s", e->text);
    }
}

static enum status
write_all(int fd, const struct buf *b, const char *name, struct err *e)
{
    for (size_t at = 0; at < b->len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, b->p + at, b->len - at));
        if (n < 0)
            return err_sys(e, "write %s", name);
        at += (size_t)n;
    }
    return ST_OK;
}

/* The file `in` through the mask; `out` -1: only to count. *found: the secrets that are in it. */
static enum status
pass(const struct scrub *x, int in, int out, const char *name, size_t *found, struct err *e)
{
    struct mask_stream stream;
    struct buf masked = { 0 };
    char chunk[CHUNK];
    ssize_t n = 1;
    off_t at = 0;
    enum status s = mask_stream_init(&stream, x->mask, e);

    while (!s && n > 0) {
        n = SYS_RETRY(sys->pread(in, chunk, sizeof chunk, at));
        if (n < 0)
            s = err_sys(e, "read %s", name);
        else if (n > 0)
            mask_write(&stream, chunk, (size_t)n, &masked);
        else
            mask_end(&stream, &masked);
        at += n > 0 ? n : 0;
        if (!s)
            s = buf_status(&masked, name, e);
        if (!s && out >= 0)
            s = write_all(out, &masked, name, e);
        buf_reset(&masked);
    }
    *found = stream.n_hidden;
    mask_stream_release(&stream);
    buf_release(&masked);
    return s;
}

/* The masked copy takes the file's place. */
static enum status
replace(const struct scrub *x, int dir, int in, const char *name, struct err *e)
{
    size_t found;

    unlinkat(dir, COPY, 0); /* of one that was killed */
    int out = SYS_RETRY(
        sys->openat(dir, COPY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (out < 0)
        return err_sys(e, "create %s", COPY);
    enum status s = pass(x, in, out, name, &found, e);
    if (close(out) != 0 && !s)
        s = err_sys(e, "write %s", name);
    if (!s && sys->renameat(dir, COPY, dir, name) != 0)
        s = err_sys(e, "replace %s", name);
    if (s)
        unlinkat(dir, COPY, 0);
    return s;
}

static void
scrub_file(struct scrub *x, int dir, const char *name)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct err e = { "" };
    struct stat st;
    size_t found = 0;
    int fd = SYS_RETRY(sys->openat(dir, name, flags, 0));

    if (fd < 0 || sys->fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return; /* a link, a pipe: nothing of ours */
    }
    enum status s = pass(x, fd, -1, name, &found, &e);
    if (!s && found)
        s = replace(x, dir, fd, name, &e);
    if (s)
        keep_error(x, s, &e);
    close(fd);
}

/* Each file of the directory and, where `depth` is more than 0, of those in it. Closes dir. */
static void
scrub_dir(struct scrub *x, int dir, int depth)
{
    DIR *d = fdopendir(dir);

    if (!d) {
        close(dir);
        return;
    }
    for (struct dirent *f; (f = readdir(d));) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0)
            continue;
        int below = depth ? SYS_RETRY(sys->openat(
                                dir, f->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0))
                          : -1;
        if (below >= 0)
            scrub_dir(x, below, depth - 1);
        else
            scrub_file(x, dir, f->d_name);
    }
    closedir(d);
}

static enum status
scrub_frame(void *ctx, const struct state_dir *frame, const char *phase, struct err *e)
{
    (void)phase;
    return scrub_run(frame, ctx, e);
}

enum status
scrub_run(const struct state_dir *f, const struct mask *m, struct err *e)
{
    static const struct {
        const char *path;
        int depth;
    } dirs[] = { { "run/messages", 0 }, { "run/logs", 0 }, { "run/prompts", 0 },
                 { "run/checks", 0 },   { "signals", 0 },  { "gates", 1 },
                 { "channels", 1 },     { "reviews", 0 },  { "run/gemini", 8 } };
    struct scrub x = { .mask = m, .e = e };

    if (mask_is_empty(m))
        return ST_OK;
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        int dir;
        if (state_dir_open_dir(f, dirs[i].path, false, &dir, NULL) == ST_OK)
            scrub_dir(&x, dir, dirs[i].depth);
    }
    scrub_file(&x, f->dir, "task_board.md");
    struct err why;
    enum status s = frames_each(f, scrub_frame, (void *)(uintptr_t)m, &why);
    if (s)
        keep_error(&x, s, &why);
    return x.status;
}

void
scrub_leftovers(const struct state_dir *f)
{
    struct settings settings = { 0 };
    struct mask m = { 0 };
    struct state_dir top = { .dir = -1 };
    struct err ignored;

    if (frame_top(&top, f, &ignored) == ST_OK &&
        settings_load(&settings, top.state_dir, &ignored) == ST_OK)
        settings_add_secrets(&m, settings_get(&settings, "agents"), "agents");
    settings_add_env_secrets(&m, (const char *const *)environ);
    if (mask_build(&m, &ignored) == ST_OK)
        scrub_run(f, &m, &ignored);
    mask_release(&m);
    settings_release(&settings);
    state_dir_close(&top);
}
