/* Tests base/watch_group: which file changed, a new one in a directory, a replaced one, polling. */
#define _GNU_SOURCE
#include "test.h"

#include "base/sys.h"
#include "base/watch_group.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct err e;
static struct watch_group group;
static char dir[] = "/tmp/cliq-watch-group.XXXXXX";
static int seen[8];
static size_t n_seen;

static void
see(void *ctx, int id)
{
    (void)ctx;
    if (n_seen < 8)
        seen[n_seen++] = id;
}

static void
append(const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x\n", 2), 2);
    close(fd);
}

static int
watched(const char *name, bool is_dir)
{
    char path[64];
    int id;

    snprintf(path, sizeof path, "%s%s%s", dir, *name ? "/" : "", name);
    CHECK_OK(watch_group_add(&group, path, is_dir, &id, &e), &e);
    return id;
}

/* Waits for an event, and takes all. */
static void
drain(void)
{
    struct pollfd p = { group.fd, POLLIN, 0 };

    n_seen = 0;
    assert_int_equal(poll(&p, 1, 10000), 1);
    watch_group_drain(&group, see, NULL);
    assert_true(n_seen > 0);
}

static int
begin(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int
end(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static void
the_file_that_changed_is_named(void **state)
{
    (void)state;
    append("a");
    append("b");
    CHECK_OK(watch_group_open(&group, &e), &e);
    int a = watched("a", false), b = watched("b", false);
    append("b");
    drain();
    assert_int_equal(seen[0], b);
    append("a");
    drain();
    assert_int_equal(seen[0], a);
    watch_group_drop(&group, a);
    append("a");
    append("b");
    drain();
    for (size_t i = 0; i < n_seen; i++)
        assert_int_equal(seen[i], b);
    watch_group_close(&group);
}

static void
files_that_come_and_leave_a_directory_are_told(void **state)
{
    (void)state;
    CHECK_OK(watch_group_open(&group, &e), &e);
    int id = watched("", true);
    append("new");
    drain();
    assert_int_equal(seen[0], id);
    char path[64];
    snprintf(path, sizeof path, "%s/new", dir);
    assert_int_equal(unlink(path), 0);
    drain();
    assert_int_equal(seen[0], id);
    watch_group_close(&group);
}

static void
a_missing_file_is_an_error(void **state)
{
    int id;

    (void)state;
    CHECK_OK(watch_group_open(&group, &e), &e);
    CHECK_FAILS_WITH(watch_group_add(&group, "/nowhere/x", false, &id, &e), ST_IO, &e,
                     "/nowhere/x");
    watch_group_close(&group);
    watch_group_close(&group);
}

static int
no_instance(int flags)
{
    (void)flags;
    errno = EMFILE;
    return -1;
}

static void
without_inotify_any_file_may_have_changed(void **state)
{
    struct sys broken = sys_kernel;
    int id;

    (void)state;
    broken.inotify_init = no_instance;
    sys = &broken;
    CHECK_OK(watch_group_open(&group, &e), &e);
    sys = &sys_kernel;
    assert_true(group.is_polling);
    CHECK_OK(watch_group_add(&group, dir, false, &id, &e), &e);
    assert_int_equal(id, WATCH_GROUP_ANY);
    drain();
    assert_int_equal(n_seen, 1);
    assert_int_equal(seen[0], WATCH_GROUP_ANY);
    watch_group_close(&group);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_that_changed_is_named),
        cmocka_unit_test(files_that_come_and_leave_a_directory_are_told),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(without_inotify_any_file_may_have_changed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
