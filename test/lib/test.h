/*
 * test - what every C test stands on.
 *
 * A case is a function whose name is a fact. CASE(fact) runs it in an empty
 * directory of its own, which is the working directory and $HOME while it
 * runs; afterwards the directory is gone, `sys` is the kernel's again, and a
 * descriptor left open fails the case.
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
 * No case sleeps: wait_readable waits for an event, with a bound.
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

int here(void); /* a descriptor of the case's directory; not yours to close */
void write_file(const char *name, const char *text);
void write_bytes(const char *name, const void *p, size_t n);
void append_file(const char *name, const char *text);
/* The whole file, NUL-ended; free() it. *len may be NULL. The case fails without the file. */
char *read_file(const char *name, size_t *len);
bool file_exists(const char *name); /* a dangling link exists, too */
off_t file_size(const char *name);
void make_dirs(const char *path); /* mkdir -p */
void remove_tree(const char *path);
void empty_dir(void);                /* removes everything in the case's directory */
size_t count_files(const char *dir); /* entries, without . and .. */
unsigned file_mode(const char *name);
int count_fds(void);

/* Is fd readable within the bound of ms? */
bool is_readable(int fd, int ms);
/* Waits for it; fails the case when nothing comes for ten seconds. */
void wait_readable(int fd);
/* Waits for a child and gives its exit code (-1: killed by a signal). */
int wait_child(pid_t pid);

/* ---- checks: what failed, in words ---- */

#define CHECK_FILE(name, text) check_file(name, text, __FILE__, __LINE__)
void check_file(const char *name, const char *text, const char *file, int line);

/* The call succeeds; its `struct err` is shown when it does not. */
#define CHECK_OK(call, e)                                                                          \
    do {                                                                                           \
        enum status check_s_ = (call);                                                             \
        if (check_s_)                                                                              \
            fail_msg("%s: %s: %s", #call, status_name(check_s_), (e)->text);                       \
    } while (0)

/* The call fails with this status and exactly this sentence. */
#define CHECK_FAILS(call, status, e, sentence)                                                     \
    do {                                                                                           \
        (e)->text[0] = '\0';                                                                       \
        assert_string_equal(status_name(call), status_name(status));                               \
        assert_string_equal((e)->text, sentence);                                                  \
    } while (0)

/* The call fails with this status and a sentence that holds this text. */
#define CHECK_FAILS_WITH(call, status, e, part)                                                    \
    do {                                                                                           \
        (e)->text[0] = '\0';                                                                       \
        assert_string_equal(status_name(call), status_name(status));                               \
        if (!strstr((e)->text, part))                                                              \
            fail_msg("\"%s\" does not say \"%s\"", (e)->text, part);                               \
    } while (0)

/* Waits for something that is about to be true, and that nobody tells of, with a bound. */
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
void test_poll(void);      /* half a millisecond passes */

#endif
