/* logs - helpers for tests of log/: one-line appends, files read into a list. */
#ifndef CLIQ_TEST_LOGS_H
#define CLIQ_TEST_LOGS_H

#include "log/log.h"

#include "test.h"

#define NAME "events.jsonl" /* of the log in most cases */

static const struct log_options plain = { .lock_wait_ms = 50 };
static const struct log_options durable = { .lock_wait_ms = 50, .is_durable = true };
static const struct log_options sequenced = { .lock_wait_ms = 50, .is_sequenced = true };

/* Opens NAME in the case's directory; fails the case on an error. */
struct log open_log(const struct log_options *o);
/* Appends one record, the text of a JSON object. */
enum status append(struct log *l, const char *text, struct err *e);
/* Appends n records {"k":FIRST}, {"k":FIRST+1} ... in one group. */
enum status append_group(struct log *l, int first, size_t n, struct err *e);
/* Opens, appends, closes; fails the case on an error. */
void append_once(const struct log_options *o, const char *text);

/* ---- a whole file, record by record ---- */

struct line {
    char *text; /* NUL-ended */
    size_t len;
    struct log_record rec; /* text and json are NULL */
};

struct lines {
    size_t n;
    struct line *v;
    uint64_t bad; /* the reader's count */
};

enum { FORWARD = 0, BACKWARD = 1, SEQUENCED = 2, WITH_BAD = 4 };

struct lines read_lines(const char *name, int how);
struct lines read_lines_fd(int fd, int how);
void free_lines(struct lines *l);
/* The texts of all good records, each ended by '\n'; free() it. */
char *good_text(const char *name, int how);
#define CHECK_LINES(name, how, want)                                                               \
    do {                                                                                           \
        char *got_ = good_text(name, how);                                                         \
        assert_string_equal(got_, want);                                                           \
        free(got_);                                                                                \
    } while (0)

/* The numbers of all good records of a sequenced log: "1 2 3". */
char *numbers(const char *name);
#define CHECK_NUMBERS(name, want)                                                                  \
    do {                                                                                           \
        char *got_ = numbers(name);                                                                \
        assert_string_equal(got_, want);                                                           \
        free(got_);                                                                                \
    } while (0)

/* The number of good records that contain this text. */
size_t count_records(const char *name, int how, const char *part);

/* ---- another process ---- */

/* A child process that holds the lock of `name` until its pipe is closed. */
struct holder {
    pid_t pid;
    int pipe;
};
struct holder hold_lock(const char *name);
void let_go(struct holder *h);

#endif
