#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void
begin(int argc, int want, const char *usage)
{
    errno = 0;
    if (argc - 1 != want)
        die("usage: %s", usage);
    alarm(TIME_LIMIT_S);
}

void
die(const char *fmt, ...)
{
    int error = errno;
    va_list ap;

    fputs("bench: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, error ? ": %s\n" : "\n", strerror(error));
    exit(1);
}

int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int
by_size(const void *l, const void *r)
{
    double a = *(const double *)l, b = *(const double *)r;

    return a < b ? -1 : a > b;
}

double
percentile(double *v, size_t n, double p)
{
    size_t i = (size_t)((double)n * p / 100);

    qsort(v, n, sizeof *v, by_size);
    return v[i < n ? i : n - 1];
}

double
median(double *v, size_t n)
{
    return percentile(v, n, 50);
}

void
row(const char *work, const char *ours, const char *peer, double ratio, enum reach reach,
    double limit, const char *unit)
{
    bool is_ok = reach == AT_LEAST ? ratio >= limit : ratio <= limit;

    printf("row\t%s\t%s\t%s\t%.2f %s\t%s %g %s\t%s\n", work, ours, peer, ratio, unit,
           reach == AT_LEAST ? ">=" : "<=", limit, unit, is_ok ? "ok" : "MISS");
    fflush(stdout);
}

void
note(const char *fmt, ...)
{
    va_list ap;

    fputs("note\t", stdout);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

const char *
text(const char *fmt, ...)
{
    static char texts[8][128];
    static unsigned next;
    char *to = texts[next++ % 8];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(to, sizeof texts[0], fmt, ap);
    va_end(ap);
    return to;
}

pid_t
start(char *const argv[], int out)
{
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    if (errno)
        die("start %s", argv[0]);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

void
finish(pid_t pid, const char *name)
{
    int status;

    if (waitpid(pid, &status, 0) != pid)
        die("wait for %s", name);
    errno = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("%s ended with status 0x%x", name, (unsigned)status);
}

int
open_new(const char *name)
{
    int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        die("create %s", name);
    return fd;
}

uint64_t
count_lines(const char *name)
{
    static char chunk[1 << 18];
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    uint64_t lines = 0;
    ssize_t n;

    if (fd < 0)
        die("open %s", name);
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        for (char *p = chunk; (p = memchr(p, '\n', (size_t)(chunk + n - p))); p++)
            lines++;
    close(fd);
    return lines;
}

void
read_all(int fd, void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t k = read(fd, (char *)to + got, n - got);
        if (k <= 0) {
            errno = k ? errno : 0;
            die("a process of the benchmark ended early");
        }
        got += (size_t)k;
    }
}

void
write_all(int fd, const void *from, size_t n)
{
    if (write(fd, from, n) != (ssize_t)n)
        die("write %zu bytes", n);
}

void
fill_line(char line[LINE_SIZE])
{
    static const char head[] =
        "{\"v\":1,\"id\":\"engineer-done-1775215174499753000-85510\","
        "\"ts\":\"2026-04-03T11:19:34Z\",\"from\":\"engineer\",\"to\":\"qa\",\"type\":\"done\","
        "\"ref\":\"EPIC-001\",\"body\":\"";

    memset(line, 'x', LINE_SIZE);
    memcpy(line, head, sizeof head - 1);
    memcpy(line + LINE_SIZE - 3, "\"}\n", 3);
}
