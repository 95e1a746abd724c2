#define _GNU_SOURCE
#include "power_cut.h"

#include "base/crc32c.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct err e;

char noted[600];

void
on_note(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(noted, sizeof noted, "%s", text);
}

struct world
make_world(int n)
{
    struct world w = { 0 };
    pid_t pid = fork();

    if (pid == 0) { /* killed in the end: what it has in memory is gone */
        struct log l;
        if (log_open(&l, here(), NAME, &before, &e) || append(&l, "{\"first\":1}", &e))
            _exit(1);
        for (int i = 0; i < n; i++)
            if (append_group(&l, 10 * i, 1 + (size_t)i % 3, &e))
                _exit(1);
        _exit(0);
    }
    assert_int_equal(wait_child(pid), 0);
    w.log = read_file(NAME, &w.len);
    w.ahead = read_file(AHEAD, &w.ahead_len);
    w.synced = (size_t)(strchr(w.log, '\n') - w.log) + 1;
    return w;
}

void
free_world(struct world *w)
{
    free(w->log);
    free(w->ahead);
}

void
disk_has(const void *p, size_t n)
{
    int fd = open(NAME, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

void
put_number(char *to, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(v >> 8 * i);
}

void
ahead_has(const struct world *w)
{
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    struct stat st;

    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    for (; w->ahead[used] == 'c'; used += PRESYNC_BLOCK) { /* all records are of one block here */
        char *r = w->ahead + used;
        put_number(r + 32, st.st_ino, 8);
        put_number(r + 40, presync_born(fd), 8);
        put_number(r + 8,
                   crc32c(r + 12, PRESYNC_HEAD - 12 + (unsigned char)r[12] +
                                      ((size_t)(unsigned char)r[13] << 8)),
                   4);
    }
    close(fd);
    fd = open(AHEAD, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && pwrite(fd, w->ahead, used, 0) == (ssize_t)used);
    close(fd);
}

void
open_and_close(const struct log_options *o)
{
    struct log l;

    noted[0] = '\0';
    CHECK_OK(log_open(&l, here(), NAME, o, &e), &e);
    log_close(&l);
}

bool
is_empty(const char *name)
{
    size_t n;
    char *p = read_file(name, &n);
    struct presync_chain c;
    bool is = !presync_read_head(p, n, &c);

    free(p);
    return is;
}

void
check_log(const char *want, size_t len)
{
    size_t n;
    char *got = read_file(NAME, &n);

    assert_int_equal(n, len);
    assert_memory_equal(got, want, len);
    free(got);
}
