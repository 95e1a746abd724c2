#include "context/frames.h"

#include "base/path.h"
#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum status
frame_open(struct state_dir *out, const struct state_dir *above, const char *phase, bool create,
           struct err *e)
{
    struct buf name = { 0 }, path = { 0 };
    int fd = -1;

    *out = (struct state_dir){ .dir = -1 };
    if (!state_dir_is_phase_name(phase))
        return err_set(e, ST_INVALID, "\"%.100s\" is no name of a phase", phase);
    buf_addf(&name, FRAMES_DIR "/%s", phase);
    enum status s = buf_status(&name, "the path", e);
    if (!s) /* through no link */
        s = state_dir_open_dir(above, name.p, create, &fd, e);
    if (!s) {
        close(fd);
        state_dir_path(above, &path, name.p);
        s = buf_status(&path, "the path", e);
    }
    if (!s)
        s = state_dir_open(out, path.p, above->project_dir, e);
    buf_release(&name);
    buf_release(&path);
    return s;
}

/* The length of the path of what the frame is in; 0: the path is no frame's. */
static size_t
above_len(const char *path, size_t len)
{
    static const char mark[] = "/" FRAMES_DIR;
    size_t n = len;

    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n < sizeof mark || !state_dir_is_phase_name(path + n))
        return 0;
    n -= sizeof mark; /* the slash behind the mark, and the mark */
    return memcmp(path + n, mark, sizeof mark - 1) == 0 ? n : 0;
}

enum status
frame_top(struct state_dir *out, const struct state_dir *f, struct err *e)
{
    char *path = strdup(f->state_dir);

    *out = (struct state_dir){ .dir = -1 };
    if (!path)
        return err_nomem(e);
    for (size_t n; (n = above_len(path, strlen(path))) > 0;)
        path[n] = '\0';
    enum status s = state_dir_open(out, path, f->project_dir, e);
    free(path);
    return s;
}

enum status
frame_way(const struct state_dir *f, const char *phase, struct buf *to, struct err *e)
{
    static const char mark[] = "/" FRAMES_DIR "/";
    char *path = strdup(f->state_dir);

    if (!path)
        return err_nomem(e);
    for (size_t n; (n = above_len(path, strlen(path))) > 0;)
        path[n] = '\0';
    for (const char *at = f->state_dir + strlen(path); *at;) { /* "/frames/build/frames/test" */
        at += sizeof mark - 1;
        size_t n = strcspn(at, "/");
        buf_addf(to, "%.*s/", (int)n, at);
        at += n;
    }
    free(path);
    buf_adds(to, phase);
    return buf_status(to, "the way of the phase", e);
}

enum status
frames_each(const struct state_dir *f, frame_fn *fn, void *ctx, struct err *e)
{
    int fd;

    if (state_dir_open_dir(f, FRAMES_DIR, false, &fd, NULL) != ST_OK)
        return ST_OK;
    DIR *d = fdopendir(fd);
    enum status s = ST_OK;

    if (!d)
        close(fd);
    for (struct dirent *x; d && !s && (x = readdir(d));) {
        struct state_dir frame;
        if (!state_dir_is_phase_name(x->d_name) ||
            frame_open(&frame, f, x->d_name, false, NULL) != ST_OK)
            continue;
        s = fn(ctx, &frame, x->d_name, e);
        state_dir_close(&frame);
    }
    if (d)
        closedir(d);
    return s;
}
