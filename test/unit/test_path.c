/* Tests base/path: names from outside cannot leave their directory. */
#include "fault.h"
#include "test.h"

#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static struct err e;

/* ---- names ---- */

static void
names_are_letters_digits_dots_dashes_and_underlines(void **state)
{
    (void)state;
    assert_true(path_is_name("room-001"));
    assert_true(path_is_name("_private"));
    assert_true(path_is_name("A.b_C-9"));
    assert_true(path_is_name("0"));
}

static void
names_that_leave_the_directory_are_refused(void **state)
{
    static const char *const bad[] = { "..",      ".",           ".hidden", "a/b",    "/",
                                       "/etc",    "../x",        "a\\b",    "a b",    "a\n",
                                       "\x1b[2J", "caf\xC3\xA9", "-rf",     "--help", "a:b",
                                       "a\x7F",   "*",           "$HOME" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (path_is_name(bad[i]))
            fail_msg("\"%s\" was taken for a name", bad[i]);
}

static void
a_name_has_64_bytes_at_most(void **state)
{
    char name[66];

    (void)state;
    memset(name, 'n', sizeof name);
    name[65] = '\0';
    assert_false(path_is_name(name));
    name[64] = '\0';
    assert_true(path_is_name(name));
}

static void
an_empty_name_has_its_own_message(void **state)
{
    (void)state;
    assert_false(path_is_name(""));
    CHECK_FAILS(path_check_name("room name", "", &e), ST_INVALID, &e, "the room name is empty");
}

static void
a_bad_name_is_reported_with_the_rule(void **state)
{
    (void)state;
    CHECK_FAILS(path_check_name("room name", "../x", &e), ST_INVALID, &e,
                "bad room name \"../x\": use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, "
                "a digit or _");
    CHECK_OK(path_check_name("room name", "x", &e), &e);
}

/* ---- directories ---- */

static void
a_directory_that_is_not_there_is_not_found(void **state)
{
    int fd = -1;

    (void)state;
    CHECK_FAILS(path_open_dir("nowhere", false, &fd, &e), ST_NOT_FOUND, &e, "no directory nowhere");
    assert_int_equal(fd, -1);
    assert_false(file_exists("nowhere"));
}

static void
missing_parents_are_created_for_their_owner_alone(void **state)
{
    mode_t old = umask(0);
    int fd;

    (void)state;
    CHECK_OK(path_open_dir("a/b/c", true, &fd, &e), &e);
    umask(old);
    close(fd);
    assert_int_equal(file_mode("a"), 0700);
    assert_int_equal(file_mode("a/b"), 0700);
    assert_int_equal(file_mode("a/b/c"), 0700);
}

static void
slashes_at_the_end_and_doubled_ones_are_harmless(void **state)
{
    int fd;

    (void)state;
    CHECK_OK(path_open_dir("a//b///", true, &fd, &e), &e);
    close(fd);
    assert_true(file_exists("a/b"));
    CHECK_OK(path_open_dir("./x/./y/", true, &fd, &e), &e);
    close(fd);
    assert_true(file_exists("x/y"));
}

static void
an_absolute_path_is_created_too(void **state)
{
    char cwd[PATH_MAX / 2], path[PATH_MAX];
    int fd;

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "%s/one/two", cwd);
    CHECK_OK(path_open_dir(path, true, &fd, &e), &e);
    close(fd);
    assert_true(file_exists("one/two"));
}

static void
an_existing_directory_is_opened(void **state)
{
    int fd;

    (void)state;
    make_dirs("a");
    fault_count_from_here();
    CHECK_OK(path_open_dir("a", true, &fd, &e), &e);
    close(fd);
    assert_int_equal(fault_count("mkdirat"), 0);
    assert_int_equal(fault_count("fsync"), 0);
}

static void
every_directory_that_was_created_is_synced_into_its_parent(void **state)
{
    int fd;

    (void)state;
    make_dirs("a");
    fault_count_from_here();
    CHECK_OK(path_open_dir("a/b/c", true, &fd, &e), &e);
    close(fd);
    assert_int_equal(fault_count("fsync"), 2);
}

static void
a_parent_that_cannot_be_synced_is_a_failure(void **state)
{
    int fd = -1;

    (void)state;
    fault_always("fsync", EIO);
    CHECK_FAILS(path_open_dir("a", true, &fd, &e), ST_IO, &e,
                "sync directory .: Input/output error");
    assert_int_equal(fd, -1);
    fault_off(NULL);
}

static void
a_file_in_the_way_is_a_failure(void **state)
{
    int fd = -1;

    (void)state;
    write_file("a", "");
    CHECK_FAILS_WITH(path_open_dir("a", true, &fd, &e), ST_INVALID, &e, "Not a directory");
    CHECK_FAILS_WITH(path_open_dir("a/b", true, &fd, &e), ST_INVALID, &e, "Not a directory");
    assert_int_equal(fd, -1);
}

static void
a_path_that_is_too_long_is_a_failure(void **state)
{
    struct buf b = { 0 };
    int fd = -1;

    (void)state;
    while (b.len < PATH_MAX + 10)
        buf_adds(&b, "dir/");
    assert_int_not_equal(path_open_dir(b.p, true, &fd, &e), ST_OK);
    assert_int_equal(fd, -1);
    buf_release(&b);
}

static void
links_in_a_path_of_the_user_are_followed(void **state)
{
    int fd;

    (void)state;
    make_dirs("real");
    assert_int_equal(symlink("real", "link"), 0);
    CHECK_OK(path_open_dir("link/sub", true, &fd, &e), &e);
    close(fd);
    assert_true(file_exists("real/sub"));
}

static void
a_link_below_an_open_directory_is_refused(void **state)
{
    int fd = -1;

    (void)state;
    make_dirs("real");
    assert_int_equal(symlink("real", "link"), 0);
    CHECK_FAILS_WITH(path_open_dir_at(here(), "link", true, &fd, &e), ST_INVALID, &e,
                     "/link is not a directory (links are not followed)");
    CHECK_FAILS_WITH(path_open_dir_at(here(), "link", false, &fd, &e), ST_INVALID, &e,
                     "links are not followed");
    assert_int_equal(fd, -1);
}

static void
a_dangling_link_below_an_open_directory_is_refused(void **state)
{
    int fd = -1;

    (void)state;
    assert_int_equal(symlink("nowhere", "link"), 0);
    CHECK_FAILS_WITH(path_open_dir_at(here(), "link", true, &fd, &e), ST_INVALID, &e,
                     "links are not followed");
    assert_false(file_exists("nowhere"));
    assert_int_equal(fd, -1);
}

static void
an_error_names_the_whole_path(void **state)
{
    char told[PATH_MAX], cwd[PATH_MAX];
    int fd;

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    make_dirs("a/b");
    CHECK_OK(path_open_dir("a", false, &fd, &e), &e);
    const char *path = path_told(fd, "b", told);
    assert_int_equal(strncmp(path, cwd, strlen(cwd)), 0);
    assert_string_equal(path + strlen(cwd), "/a/b");
    assert_string_equal(path_told(fd, NULL, told) + strlen(cwd), "/a");
    assert_string_equal(path_told(fd, "/x", told), "/x");
    assert_string_equal(path_told(AT_FDCWD, "x", told), "x");
    errno = ENXIO;
    assert_string_equal(path_told(1 << 20, "x", told), "x");
    assert_int_equal(errno, ENXIO);
    close(fd);
}

static void
a_file_below_an_open_directory_is_no_directory(void **state)
{
    int fd = -1;

    (void)state;
    write_file("f", "");
    CHECK_FAILS_WITH(path_open_dir_at(here(), "f", true, &fd, &e), ST_INVALID, &e,
                     "f is not a directory");
}

static void
a_directory_below_an_open_one_is_created_on_demand_only(void **state)
{
    int fd = -1;

    (void)state;
    CHECK_FAILS(path_open_dir_at(here(), "room", false, &fd, &e), ST_NOT_FOUND, &e,
                "no directory room");
    fault_count_from_here();
    CHECK_OK(path_open_dir_at(here(), "room", true, &fd, &e), &e);
    assert_int_equal(fault_count("fsync"), 1);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
    assert_int_equal(file_mode("room"), 0700);
}

static void
descriptors_of_directories_are_close_on_exec(void **state)
{
    int fd;

    (void)state;
    CHECK_OK(path_open_dir(".", false, &fd, &e), &e);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
}

/* ---- files ---- */

static void
a_file_is_read_whole(void **state)
{
    struct buf b = { 0 }, text = { 0 };

    (void)state;
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "%d\n", i);
    write_file("f", text.p);
    buf_adds(&b, "kept ");
    CHECK_OK(path_read_file(here(), "f", &b, &e), &e);
    assert_int_equal(b.len, text.len + 5);
    assert_string_equal(b.p + 5, text.p);
    buf_release(&b);
    buf_release(&text);
}

static void
a_missing_file_is_not_found(void **state)
{
    struct buf b = { 0 };

    (void)state;
    CHECK_FAILS(path_read_file(here(), "f", &b, &e), ST_NOT_FOUND, &e, "no file f");
}

static void
a_file_up_to_the_ceiling_is_read_and_no_larger_one(void **state)
{
    (void)state;
    for (size_t n = 31; n <= 33; n++) {
        struct buf b = BUF_MAX(32);
        char text[40];
        memset(text, 'x', sizeof text);
        write_bytes("f", text, n);
        if (n <= 32) {
            CHECK_OK(path_read_file(here(), "f", &b, &e), &e);
            assert_int_equal(b.len, n);
        } else {
            CHECK_FAILS(path_read_file(here(), "f", &b, &e), ST_INVALID, &e,
                        "f is larger than 32 bytes");
        }
        buf_release(&b);
    }
}

static void
a_pipe_is_read_to_its_end_up_to_the_ceiling(void **state)
{
    (void)state;
    for (size_t n = 31; n <= 33; n++) {
        struct buf b = BUF_MAX(32);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(write(ends[1], "x", 1), 1);
        close(ends[1]);
        if (n <= 32) {
            CHECK_OK(path_read_fd(ends[0], "the body", &b, &e), &e);
            assert_int_equal(b.len, n);
        } else {
            CHECK_FAILS(path_read_fd(ends[0], "the body", &b, &e), ST_INVALID, &e,
                        "the body is larger than 32 bytes");
        }
        close(ends[0]);
        CHECK_FAILS(path_read_fd(-1, "the body", &b, &e), ST_IO, &e,
                    "read the body: Bad file descriptor");
        buf_release(&b);
    }
}

static void
only_a_regular_file_is_read(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs("d");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mknod("socket", S_IFSOCK | 0600, 0), 0);
    write_file("f", "text");
    CHECK_FAILS_WITH(path_read_file(here(), "fifo", &b, &e), ST_INVALID, &e,
                     "/fifo is a FIFO, not a regular file");
    CHECK_FAILS_WITH(path_read_file(here(), "d", &b, &e), ST_INVALID, &e,
                     "/d is a directory, not a regular file");
    CHECK_FAILS_WITH(path_read_file(here(), "socket", &b, &e), ST_INVALID, &e,
                     "/socket is a socket, not a regular file");
    CHECK_FAILS(path_read_file(here(), "/dev/null", &b, &e), ST_INVALID, &e,
                "/dev/null is a device, not a regular file");
    CHECK_FAILS_WITH(path_read_file(here(), "f/g", &b, &e), ST_INVALID, &e,
                     "/f/g: Not a directory");
    buf_release(&b);
}

static void
a_failing_read_is_reported(void **state)
{
    struct buf b = { 0 };

    (void)state;
    write_file("f", "text");
    fault_always("read", EIO);
    CHECK_FAILS(path_read_file(here(), "f", &b, &e), ST_IO, &e, "read f: Input/output error");
    fault_off(NULL);
    buf_release(&b);
}

/* ---- finding ---- */

static char *
cwd_slash(const char *rest)
{
    static char path[PATH_MAX + 100];
    char cwd[PATH_MAX];

    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(path, sizeof path, "%s/%s", cwd, rest);
    return path;
}

static void
a_project_is_found_from_any_depth_inside_it(void **state)
{
    struct buf b = { 0 };
    char *want;

    (void)state;
    make_dirs(".project-x");
    make_dirs("a/b/c");
    want = cwd_slash(".project-x");
    CHECK_OK(path_find_up(".project-x", &b, &e), &e);
    assert_string_equal(b.p, want);
    assert_int_equal(chdir("a/b/c"), 0);
    CHECK_OK(path_find_up(".project-x", &b, &e), &e);
    assert_string_equal(b.p, want);
    buf_release(&b);
}

static void
the_nearest_project_wins(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs(".project-x");
    make_dirs("a/.project-x");
    make_dirs("a/b");
    char *want = cwd_slash("a/.project-x");
    assert_int_equal(chdir("a/b"), 0);
    CHECK_OK(path_find_up(".project-x", &b, &e), &e);
    assert_string_equal(b.p, want);
    buf_release(&b);
}

static void
no_project_is_not_found(void **state)
{
    struct buf b = { 0 };

    (void)state;
    CHECK_FAILS(path_find_up(".project-x", &b, &e), ST_NOT_FOUND, &e,
                "no .project-x here or in a directory above");
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

static void
a_file_is_not_taken_for_a_project(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs(".project-x");
    make_dirs("a");
    write_file("a/.project-x", "");
    char *want = cwd_slash(".project-x");
    assert_int_equal(chdir("a"), 0);
    CHECK_OK(path_find_up(".project-x", &b, &e), &e);
    assert_string_equal(b.p, want);
    buf_release(&b);
}

static int
somebody_elses(int dir, const char *path, struct stat *st, int flags)
{
    int rc = sys_kernel.fstatat(dir, path, st, flags);

    st->st_uid = geteuid() + 1;
    return rc;
}

static void
a_directory_of_another_user_is_not_taken_for_a_project(void **state)
{
    struct sys mine = sys_kernel;
    struct buf b = { 0 };

    (void)state;
    make_dirs(".project-x");
    mine.fstatat = somebody_elses;
    sys = &mine;
    assert_int_equal(path_find_up(".project-x", &b, &e), ST_NOT_FOUND);
    sys = &sys_kernel;
    buf_release(&b);
}

static void
the_root_directory_is_searched_too(void **state)
{
    struct buf b = { 0 };

    (void)state;
    CHECK_OK(path_find_up("proc", &b, &e), &e);
    assert_string_equal(b.p, "/proc");
    assert_int_equal(chdir("/"), 0);
    CHECK_OK(path_find_up("proc", &b, &e), &e);
    assert_string_equal(b.p, "/proc");
    buf_release(&b);
}

static void
the_config_is_CLIQ_HOME_else_in_HOME(void **state)
{
    struct buf b = { 0 };

    (void)state;
    setenv("HOME", "/home/x", 1);
    CHECK_OK(path_config(&b, &e), &e);
    assert_string_equal(b.p, "/home/x/.cliqrc");
    buf_reset(&b);
    setenv("CLIQ_HOME", "/opt/cliq", 1);
    CHECK_OK(path_config(&b, &e), &e);
    assert_string_equal(b.p, "/opt/cliq");
    buf_reset(&b);
    setenv("CLIQ_HOME", "", 1); /* empty counts as not set */
    CHECK_OK(path_config(&b, &e), &e);
    assert_string_equal(b.p, "/home/x/.cliqrc");
    buf_release(&b);
}

static void
without_any_home_there_is_no_config(void **state)
{
    struct buf b = { 0 };

    (void)state;
    unsetenv("HOME");
    CHECK_FAILS(path_config(&b, &e), ST_INVALID, &e,
                "neither CLIQ_HOME nor HOME is set: set CLIQ_HOME to a "
                "directory for cliq's own files");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(names_are_letters_digits_dots_dashes_and_underlines),
        CASE(names_that_leave_the_directory_are_refused),
        CASE(a_name_has_64_bytes_at_most),
        CASE(an_empty_name_has_its_own_message),
        CASE(a_bad_name_is_reported_with_the_rule),
        CASE(a_directory_that_is_not_there_is_not_found),
        CASE(missing_parents_are_created_for_their_owner_alone),
        CASE(slashes_at_the_end_and_doubled_ones_are_harmless),
        CASE(an_absolute_path_is_created_too),
        CASE(an_existing_directory_is_opened),
        CASE(every_directory_that_was_created_is_synced_into_its_parent),
        CASE(a_parent_that_cannot_be_synced_is_a_failure),
        CASE(a_file_in_the_way_is_a_failure),
        CASE(a_path_that_is_too_long_is_a_failure),
        CASE(links_in_a_path_of_the_user_are_followed),
        CASE(a_link_below_an_open_directory_is_refused),
        CASE(a_dangling_link_below_an_open_directory_is_refused),
        CASE(an_error_names_the_whole_path),
        CASE(a_file_below_an_open_directory_is_no_directory),
        CASE(a_directory_below_an_open_one_is_created_on_demand_only),
        CASE(descriptors_of_directories_are_close_on_exec),
        CASE(a_file_is_read_whole),
        CASE(a_missing_file_is_not_found),
        CASE(a_file_up_to_the_ceiling_is_read_and_no_larger_one),
        CASE(a_pipe_is_read_to_its_end_up_to_the_ceiling),
        CASE(only_a_regular_file_is_read),
        CASE(a_failing_read_is_reported),
        CASE(a_project_is_found_from_any_depth_inside_it),
        CASE(the_nearest_project_wins),
        CASE(no_project_is_not_found),
        CASE(a_file_is_not_taken_for_a_project),
        CASE(a_directory_of_another_user_is_not_taken_for_a_project),
        CASE(the_root_directory_is_searched_too),
        CASE(the_config_is_CLIQ_HOME_else_in_HOME),
        CASE(without_any_home_there_is_no_config),
    };

    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
