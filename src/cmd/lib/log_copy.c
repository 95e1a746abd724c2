#include "cmd/lib/log_copy.h"

#include "base/sys.h"
#include "base/term.h"
#include "cmd/cmd.h"

enum status
log_copy(int fd, off_t *at, bool is_tty, struct err *e)
{
    char chunk[65536];
    ssize_t n;
    enum status s = ST_OK;

    while (!s && (n = SYS_RETRY(sys->pread(fd, chunk, sizeof chunk, *at))) > 0) {
        struct buf out = { 0 };
        if (is_tty)
            term_escape(&out, chunk, (size_t)n, true);
        else
            buf_add(&out, chunk, (size_t)n);
        *at += n;
        s = cmd_print(&out, e);
        buf_release(&out);
    }
    return s;
}
