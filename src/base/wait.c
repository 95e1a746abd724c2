#include "base/wait.h"

#include "base/clock.h"

#include <limits.h>

int64_t
wait_until(int64_t ms)
{
    int64_t now = clock_mono_ms();

    return ms < 0 || ms >= WAIT_FOREVER - now ? WAIT_FOREVER : now + ms;
}

static int
left_ms(int64_t until_ms)
{
    if (until_ms == WAIT_FOREVER)
        return -1;
    int64_t left = until_ms - clock_mono_ms();
    return left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

enum status
wait_fd(int fd, short events, int64_t until_ms, struct cancel *w, struct err *e)
{
    struct pollfd fds[] = { { .fd = fd, .events = events },
                            { .fd = w ? w->fd[0] : -1, .events = POLLIN },
                            { .fd = w ? w->fd[1] : -1 } };

    for (;;) {
        int n = poll(fds, 3, left_ms(until_ms));
        if (n < 0 && errno != EINTR)
            return err_sys(e, "wait");
        for (unsigned i = 0; n > 0 && w && i < 2; i++)
            if (fds[1 + i].revents) {
                w->fired = i;
                return err_set(e, ST_CANCELLED, "cancelled while waiting");
            }
        if (n > 0)
            return ST_OK;
        if (n == 0 && until_ms <= clock_mono_ms())
            return err_set(e, ST_TIMEOUT, "timed out");
    }
}
