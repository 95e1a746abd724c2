#define _GNU_SOURCE
#include "logs.h"

#include <fcntl.h>
#include <sys/file.h>

struct log
open_log(const struct log_options *o)
{
    struct log l;
    struct err e;

    CHECK_OK(log_open(&l, here(), NAME, o, &e), &e);
    return l;
}

enum status
append(struct log *l, const char *text, struct err *e)
{
    return log_append(l, &(struct log_text){ text, strlen(text) }, 1, e);
}

enum status
append_group(struct log *l, int first, size_t n, struct err *e)
{
    struct log_text texts[LOG_BATCH_MAX];
    struct buf b = { 0 };
    size_t at[LOG_BATCH_MAX + 1] = { 0 };

    for (size_t i = 0; i < n; i++) {
        buf_addf(&b, "{\"k\":%d}", first + (int)i);
        at[i + 1] = b.len;
    }
    for (size_t i = 0; i < n; i++)
        texts[i] = (struct log_text){ b.p + at[i], at[i + 1] - at[i] };
    enum status s = log_append(l, texts, n, e);
    buf_release(&b);
    return s;
}

void
append_once(const struct log_options *o, const char *text)
{
    struct log l = open_log(o);
    struct err e;

    CHECK_OK(append(&l, text, &e), &e);
    log_close(&l);
}

struct lines
read_lines_fd(int fd, int how)
{
    struct lines l = { 0 };
    struct log_reader r;
    struct log_record rec;
    struct err e;

    log_reader_init(&r, fd, 0);
    r.is_sequenced = how & SEQUENCED;
    r.wants_bad = how & WITH_BAD;
    while (how & BACKWARD ? log_prev(&r, &rec) : log_next(&r, &rec)) {
        if ((l.n & (l.n - 1)) == 0) /* 0, 1, 2, 4 ...: full */
            l.v = realloc(l.v, (l.n ? 2 * l.n : 1) * sizeof *l.v);
        assert_non_null(l.v);
        struct line *line = &l.v[l.n++];
        *line = (struct line){ .text = malloc(rec.len + 1), .len = rec.len, .rec = rec };
        assert_non_null(line->text);
        memcpy(line->text, rec.text, rec.len);
        line->text[rec.len] = '\0';
        line->rec.text = NULL;
        assert_true((rec.json != NULL) ==
                    (rec.verdict == LOG_GOOD || rec.verdict == LOG_UNGROUPED));
        line->rec.json = NULL;
    }
    CHECK_OK(log_reader_status(&r, &e), &e);
    l.bad = r.bad;
    log_reader_release(&r);
    return l;
}

struct lines
read_lines(const char *name, int how)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    struct lines l = read_lines_fd(fd, how);
    close(fd);
    return l;
}

void
free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i].text);
    free(l->v);
    *l = (struct lines){ 0 };
}

char *
good_text(const char *name, int how)
{
    struct lines l = read_lines(name, how & ~WITH_BAD);
    struct buf b = { 0 };

    buf_adds(&b, "");
    for (size_t i = 0; i < l.n; i++)
        buf_addf(&b, "%s\n", l.v[i].text);
    free_lines(&l);
    return b.p;
}

char *
numbers(const char *name)
{
    struct lines l = read_lines(name, SEQUENCED);
    struct buf b = { 0 };

    buf_adds(&b, "");
    for (size_t i = 0; i < l.n; i++)
        buf_addf(&b, "%s%ju", i ? " " : "", (uintmax_t)l.v[i].rec.seq);
    free_lines(&l);
    return b.p;
}

size_t
count_records(const char *name, int how, const char *part)
{
    struct lines l = read_lines(name, how & ~WITH_BAD);
    size_t n = 0;

    for (size_t i = 0; i < l.n; i++)
        n += strstr(l.v[i].text, part) != NULL;
    free_lines(&l);
    return n;
}

struct holder
hold_lock(const char *name)
{
    int ready[2], end[2];
    char c;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(end, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(end[1]);
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || flock(fd, LOCK_EX) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit(read(end[0], &c, 1) == 0 ? 0 : 1);
    }
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return (struct holder){ .pid = pid, .pipe = end[1] };
}

void
let_go(struct holder *h)
{
    close(h->pipe);
    assert_int_equal(wait_child(h->pid), 0);
}
