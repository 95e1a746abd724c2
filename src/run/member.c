#define _GNU_SOURCE
#include "run/member.h"

#include "base/sys.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* What a command can change of the process that runs it, and the next one would have. */
struct terms {
    struct rlimit limits[RLIM_NLIMITS];
    cpu_set_t cpus;
    int nice;
    char oom[16];
};

static void
look_at_terms(struct terms *t)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        getrlimit(i, &t->limits[i]);
    sched_getaffinity(0, sizeof t->cpus, &t->cpus);
    t->nice = getpriority(PRIO_PROCESS, 0);
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, "/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC, 0));
    if (fd >= 0 && SYS_RETRY(sys->read(fd, t->oom, sizeof t->oom - 1)) < 0)
        t->oom[0] = '?';
    if (fd >= 0)
        close(fd);
}

/* Are they as they were the first time? */
static bool
are_terms_the_same(void)
{
    static struct terms first;
    static bool is_known;
    struct terms now;

    look_at_terms(&now);
    if (!is_known)
        first = now;
    bool is_same = memcmp(first.limits, now.limits, sizeof now.limits) == 0 &&
                   CPU_EQUAL(&first.cpus, &now.cpus) && first.nice == now.nice &&
                   strcmp(first.oom, now.oom) == 0;
    is_known = true;
    return is_same;
}

void
member_begin(void)
{
    are_terms_the_same();
}

bool
member_is_done(int fd)
{
    if (has_child() || !are_terms_the_same())
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stopped one would not see that the other end is closed */
    return say(fd, "", 1);
}

bool
member_next(int fd)
{
    static char packet[MEMBER_PACKET_MAX]; /* what the environment is made of */
    static char **texts, *nothing[] = { NULL };
    struct proc_report report;
    ssize_t n = SYS_RETRY(recv(fd, packet, sizeof packet, 0));
    environ = nothing; /* it was made of these */
    free(texts);
    texts = n > 0 ? unpack(packet, (size_t)n) : NULL;
    if (!texts)
        return false;
    prctl(PR_SET_PDEATHSIG, 0); /* an attempt outlives the run that began it */
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
