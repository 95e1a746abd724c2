#define _GNU_SOURCE
#include "proc/procfs.h"

#include "base/sys.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

char *
procfs_decimal(char *to, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;

    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    memcpy(to, digits + i, sizeof digits - i);
    return to + (sizeof digits - i);
}

bool
procfs_parse(struct procfs *p, const char *text, size_t len)
{
    /* Fields behind the state, counted as proc(5) does: ppid is 4, pgrp 5, session 6,
     * num_threads 20, starttime 22. */
    enum { FIRST = 4, PPID = 4, PGRP, SESSION, THREADS = 20, START = 22, FIELDS };
    uint64_t v[FIELDS] = { 0 };
    const char *end = text + len, *at = memrchr(text, ')', len);
    uint64_t pid = 0;

    for (const char *c = text; c < end && *c >= '0' && *c <= '9'; c++)
        pid = pid * 10 + (uint64_t)(*c - '0');
    if (!at || pid == 0 || end - at < 4 || at[1] != ' ' || at[3] != ' ')
        return false;
    p->state = at[2];
    at += 4;
    for (int i = FIRST; i < FIELDS; i++) {
        bool is_negative = at < end && *at == '-'; /* tty_nr and tpgid may be */
        const char *from = at += is_negative;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            v[i] = v[i] * 10 + (uint64_t)(*at - '0');
        if (at == from || at == end || *at != ' ')
            return false;
        at++;
    }
    p->pid = (pid_t)pid;
    p->ppid = (pid_t)v[PPID];
    p->pgrp = (pid_t)v[PGRP];
    p->session = (pid_t)v[SESSION];
    p->threads = v[THREADS];
    p->start = v[START];
    uint64_t last = 0; /* of 52 fields */
    for (at = (const char *)memrchr(text, ' ', len) + 1; at < end && *at >= '0' && *at <= '9'; at++)
        last = last * 10 + (uint64_t)(*at - '0');
    p->exit_status = (int)(last & 0xffff);
    return true;
}

/* The first bytes of a file of /proc, which gives them in one read. -1 and errno. */
static ssize_t
slurp(const char *path, char *to, size_t size)
{
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));

    if (fd < 0)
        return -1;
    ssize_t n = SYS_RETRY(sys->read(fd, to, size));
    int error = errno;
    close(fd);
    errno = error;
    return n;
}

int
procfs_read(struct procfs *p, pid_t pid)
{
    char path[40] = "/proc/self/stat", text[2048];

    if (pid > 0)
        memcpy(procfs_decimal(path + 6, (uint64_t)pid), "/stat", 6);
    ssize_t n = slurp(path, text, sizeof text);
    if (n < 0)
        return -1;
    if (procfs_parse(p, text, (size_t)n) && (pid == 0 || p->pid == pid))
        return 0;
    errno = ENODATA;
    return -1;
}

bool
procfs_is_live(const struct procfs *p)
{
    return p->state != 'X' && (p->state != 'Z' || p->threads > 1);
}

bool
procfs_is_stopped(const struct procfs *p)
{
    return p->state == 'T' || p->state == 't';
}
