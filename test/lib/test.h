/*
 * test - helpers of all C tests.
 *
 * A case is a function whose name states a fact. CASE(fact) runs it in a new
 * empty directory, which is the working directory and $HOME. Afterwards the
 * directory is removed, `sys` is sys_kernel again, and an open descriptor that
 * the case left fails it.
 *
 *     static void
 *     an_empty_file_has_no_records(void **state)
 *     {
 *         write_file("log", "");
 *         ...
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         const struct CMUnitTest tests[] = { CASE(an_empty_file_has_no_records) };
 *         return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
 *     }
 *
 * No case sleeps: wait_readable waits for an event, with a time limit.
 */
#ifndef CLIQ_TEST_TEST_H
#define CLIQ_TEST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

#define CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, case_leave)
int case_enter(void **state);
int case_leave(void **state);

/* ---- files, relative to the case's directory ---- */

int here(void); /* a descriptor of the case's directory; do not close it */
void write_file(const char *name, const char *text);
void write_bytes(const char *name, const void *p, size_t n);
void append_file(const char *name, const char *text);
/* The whole file, NUL-ended; free() it. len may be NULL. A missing file fails the case. */
char *read_file(const char *name, size_t *len);
bool file_exists(const char *name); /* true for a dangling link too */
off_t file_size(const char *name);
void make_dirs(const char *path); /* mkdir -p */
void remove_tree(const char *path);
void empty_dir(void);                /* removes everything in the case's directory */
size_t count_files(const char *dir); /* entries, without . and .. */
unsigned file_mode(const char *name);
int count_fds(void);

/* Does fd become readable within ms? */
bool is_readable(int fd, int ms);
/* Waits until fd is readable; fails the case after ten seconds. */
void wait_readable(int fd);
/* Waits for a child and returns its exit code (-1: killed by a signal). */
int wait_child(pid_t pid);
/* From now on that system call fails in this process and its children. False: not here. */
bool forbid_call(long nr, int error);

/* ---- checks with readable messages ---- */

#define CHECK_FILE(name, text) check_file(name, text, __FILE__, __LINE__)
void check_file(const char *name, const char *text, const char *file, int line);

/* The call must succeed; prints its `struct err` if it does not. */
#define CHECK_OK(call, e)                                                                          \
    do {                                                                                           \
        enum status check_s_ = (call);                                                             \
        if (check_s_)                                                                              \
            fail_msg("%s: %s: %s", #call, status_name(check_s_), (e)->text);                       \
    } while (0)

/* The call must fail with this status and exactly this message. */
#define CHECK_FAILS(call, status, e, sentence)                                                     \
    do {                                                                                           \
        (e)->text[0] = '\0';                                                                       \
        assert_string_equal(status_name(call), status_name(status));                               \
        assert_string_equal((e)->text, sentence);                                                  \
    } while (0)

/* The call must fail with this status and a message that contains this text. */
#define CHECK_FAILS_WITH(call, status, e, part)                                                    \
    do {                                                                                           \
        (e)->text[0] = '\0';                                                                       \
        assert_string_equal(status_name(call), status_name(status));                               \
        if (!strstr((e)->text, part))                                                              \
            fail_msg("\"%s\" does not say \"%s\"", (e)->text, part);                               \
    } while (0)

/* Polls a condition that has no event, with a time limit. */
#define UNTIL(what, ms)                                                                            \
    do {                                                                                           \
        int64_t until_ = test_now_ms() + (ms);                                                     \
        while (!(what)) {                                                                          \
            if (test_now_ms() > until_)                                                            \
                fail_msg("not within %d ms: %s", (int)(ms), #what);                                \
            test_poll();                                                                           \
        }                                                                                          \
    } while (0)
int64_t test_now_ms(void); /* monotonic */
void test_poll(void);      /* sleeps half a millisecond */

#endif
