#include "cmd/lib/team_file.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static enum status
write_all(int fd, const struct buf *text, const char *path, struct err *e)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, text->p + at, text->len - at));
        if (n < 0)
            return err_sys(e, "write %s", path);
        at += (size_t)n;
    }
    return sys->fsync(fd) == 0 ? ST_OK : err_sys(e, "sync %s", path);
}

enum status
team_file_write(int dir, const char *path, const struct buf *text, bool is_new, struct err *e)
{
    struct stat st;
    struct buf temp = { 0 };
    mode_t mode = 0644;

    if (sys->fstatat(dir, path, &st, 0) == 0)
        mode = st.st_mode & 0777;
    buf_addf(&temp, "%s.new.%ld", path, (long)getpid());
    enum status s = buf_status(&temp, path, e);
    int fd = s ? -1
               : SYS_RETRY(sys->openat(dir, temp.p,
                                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!s && fd < 0)
        s = err_sys(e, "create %s", temp.p);
    bool is_made = fd >= 0;
    if (!s)
        s = write_all(fd, text, path, e);
    if (fd >= 0)
        close(fd);
    if (!s && is_new && linkat(dir, temp.p, dir, path, 0) != 0)
        s = errno == EEXIST ? err_set(e, ST_CONFLICT, "%s exists already", path)
                            : err_sys(e, "create %s", path);
    if (!s && !is_new && sys->renameat(dir, temp.p, dir, path) != 0)
        s = err_sys(e, "replace %s", path);
    if (is_made && (s || is_new))
        unlinkat(dir, temp.p, 0);
    buf_release(&temp);
    return s;
}
