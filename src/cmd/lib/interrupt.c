#include "cmd/lib/interrupt.h"

#include "base/sys.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum status
interrupt_begin(struct cancel *w, struct err *e)
{
    struct stat st;
    sigset_t set;

    *w = (struct cancel){ .fd = { -1, -1 } };
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || (w->fd[0] = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
        return err_sys(e, "wait for signals");
    if (sys->fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
        w->fd[1] = STDOUT_FILENO;
    return ST_OK;
}

enum status
interrupt_end(struct cancel *w, enum status s, struct err *e)
{
    if (w->fd[0] >= 0)
        close(w->fd[0]);
    if (s == ST_CANCELLED && w->fired == 1) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (s == ST_CANCELLED && e)
        e->text[0] = '\0';
    return s;
}
