#define _GNU_SOURCE
#include "run/member.h"

#include "base/sys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

enum { N_FILES = 4, N_TEXTS }; /* the texts before the environment: files, and the cgroup */

bool
member_pack(struct buf *to, const struct proc_spec *spec)
{
    const char *const files[N_FILES] = { spec->dir, spec->in, spec->out, spec->attempt_file };

    for (size_t i = 0; i < N_FILES; i++) {
        if (!files[i] || files[i][0] != '/')
            return false;
        buf_add(to, files[i], strlen(files[i]) + 1);
    }
    const char *cgroup = spec->cgroup ? spec->cgroup : "";
    buf_add(to, cgroup, strlen(cgroup) + 1);
    for (const char *const *v = spec->env; *v; v++)
        buf_add(to, *v, strlen(*v) + 1);
    return !buf_failed(to) && to->len <= MEMBER_PACKET_MAX;
}

static bool
say(int fd, const void *p, size_t n)
{
    return SYS_RETRY(send(fd, p, n, MSG_NOSIGNAL)) == (ssize_t)n;
}

/* The texts of the packet as a list, NULL-ended; NULL when it is no such packet. */
static char **
unpack(char *packet, size_t len)
{
    size_t n = 0;

    if (len == 0 || packet[len - 1] != '\0')
        return NULL;
    for (size_t at = 0; at < len; at += strlen(packet + at) + 1)
        n++;
    if (n < N_TEXTS)
        return NULL;
    char **list = malloc((n + 1) * sizeof *list);
    if (!list)
        return NULL;
    n = 0;
    for (size_t at = 0; at < len; at += strlen(packet + at) + 1)
        list[n++] = packet + at;
    list[n] = NULL;
    return list;
}

/* Who was waited for is none; but a command can give us a child (CLONE_PARENT). */
static bool
has_child(void)
{
    siginfo_t any;

    return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool
member_is_done(int fd)
{
    return !has_child() && say(fd, "", 1);
}

bool
member_next(int fd)
{
    static char packet[MEMBER_PACKET_MAX]; /* what the environment is made of */
    static char **texts, *nothing[] = { NULL };
    struct proc_report report;
    ssize_t n = SYS_RETRY(recv(fd, packet, sizeof packet, 0));
    environ = nothing; /* it was made of these */
    free(texts);       /* before there are others, which then have their place (lean_heap.c) */
    texts = n > 0 ? unpack(packet, (size_t)n) : NULL;
    if (!texts)
        return false;
    environ = texts + N_TEXTS;
    struct proc_spec spec = { .dir = texts[0],
                              .in = texts[1],
                              .out = texts[2],
                              .attempt_file = texts[3],
                              .cgroup = texts[4] };
    bool is_begun = proc_take_on(&spec, &report);
    say(fd, &report, sizeof report); /* what is begun is done, whether anybody hears it or not */
    return is_begun;
}
