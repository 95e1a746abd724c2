/* Tests agents/work_file: a file is written inside of the directory, or not at all. */
#include "test.h"

#include "agents/work_file.h"

#include <sys/stat.h>

static char cwd[2048], path[4096];
static struct work_dir w;
static struct err e;

static int
enter(void **state)
{
    if (case_enter(state) || !getcwd(cwd, sizeof cwd))
        return -1;
    make_dirs("proj/sub");
    make_dirs("other");
    snprintf(path, sizeof path, "%s/proj/", cwd);
    static char run[4096];
    snprintf(run, sizeof run, "%s/proj/.cliq", cwd);
    return work_dir_open(&w, path, run, &e) ? -1 : 0;
}

static int
leave(void **state)
{
    work_dir_release(&w);
    return case_leave(state);
}

#define WORK_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static const char *
at(const char *rest)
{
    snprintf(path, sizeof path, "%s/%s", cwd, rest);
    return path;
}

static enum status
put(const char *rest, const char *text)
{
    return work_file_write(&w, at(rest), text, strlen(text), &e);
}

static void
a_file_is_made_with_its_directories_and_replaced_with_its_mode(void **state)
{
    (void)state;
    CHECK_OK(put("proj/a//b/./c.txt", "one"), &e);
    CHECK_FILE("proj/a/b/c.txt", "one");
    assert_int_equal(chmod("proj/a/b/c.txt", 0755), 0);
    CHECK_OK(put("proj/a/b/c.txt", ""), &e);
    CHECK_FILE("proj/a/b/c.txt", "");
    assert_int_equal(file_mode("proj/a/b/c.txt") & 07777, 0755);
    assert_int_equal(count_files("proj/a/b"), 1);
}

static void
what_is_outside_or_no_file_is_refused_and_nothing_is_left(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *says;
    } rows[] = {
        { "other/x", "is outside of the working directory" },
        { "project/x", "is outside of the working directory" },
        { "proj/../other/x", "the path has .. in it" },
        { "proj/sub/..", "the path has .. in it" },
        { "proj", "names a directory" },
        { "proj/sub/", "names a directory" },
        { "proj/sub/.", "names a directory" },
        { "proj/sub", "sub is not a file" },
        { "proj/file/x", "file is not a directory" },
        { "proj/link/x", "link is a symbolic link" },
        { "proj/link/../x", "link is a symbolic link" },
        { "proj/dangling", "dangling is a symbolic link" },
        { "proj/.cliq/run/journal.jsonl", "belongs to the run" },
        { "proj/.cliq/files", "belongs to the run" },
        { "proj/.cliq", "belongs to the run" },
        { "proj/.git/hooks/pre-commit", "belongs to git" },
        { "proj/sub/.GIT/config", "belongs to git" },
    };

    write_file("proj/file", "x");
    assert_int_equal(symlink("../other", "proj/link"), 0);
    assert_int_equal(symlink("../other/new", "proj/dangling"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(put(rows[i].rest, "no"), ST_REFUSED);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].rest, e.text);
    }
    assert_int_equal(count_files("other"), 0);
    assert_int_equal(count_files("proj"), 4);
    assert_int_equal(work_file_write(&w, "proj/x", "no", 2, &e), ST_INVALID);
    CHECK_OK(put("proj/.cliq/files/build/out.txt", "yes"), &e);
    CHECK_OK(put("proj/.cliqs", "yes"), &e);
}

static void
a_directory_that_is_a_link_can_be_named_either_way(void **state)
{
    (void)state;
    struct work_dir linked = { 0 };

    assert_int_equal(symlink("proj", "way"), 0);
    CHECK_OK(work_dir_open(&linked, at("way"), NULL, &e), &e);
    CHECK_OK(work_file_write(&linked, at("way/one"), "1", 1, &e), &e);
    CHECK_OK(work_file_write(&linked, at("proj/two"), "2", 1, &e), &e);
    CHECK_FILE("proj/one", "1");
    CHECK_FILE("proj/two", "2");
    work_dir_release(&linked);
}

static void
a_path_is_inside_where_it_leads(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        bool is_inside;
    } rows[] = {
        { "proj", true },           { "proj/sub/new/file", true },
        { "proj/link/x", false },   { "proj/in/x", true },
        { "proj/sub/../x", true },  { "proj/../other", false },
        { "proj/no/../x", false },  { "projx", false },
        { "proj/dangling", false },
    };

    assert_int_equal(symlink("../other", "proj/link"), 0);
    assert_int_equal(symlink("sub", "proj/in"), 0);
    assert_int_equal(symlink("../other/new", "proj/dangling"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (work_dir_holds(&w, at(rows[i].rest)) != rows[i].is_inside)
            fail_msg("%s", rows[i].rest);
    assert_true(work_dir_holds(&w, "sub/x"));
    assert_false(work_dir_holds(&w, "../other"));
    assert_false(work_dir_holds(&w, "/"));
}

static void
anywhere_means_where_the_user_may_write(void **state)
{
    (void)state;
    CHECK_OK(work_file_write_anywhere(at("other/x"), "1", 1, &e), &e);
    CHECK_FILE("other/x", "1");
    assert_int_equal(work_file_write_anywhere(at("none/x"), "1", 1, &e), ST_IO);
    assert_int_equal(work_file_write_anywhere("other/x", "1", 1, &e), ST_INVALID);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WORK_CASE(a_file_is_made_with_its_directories_and_replaced_with_its_mode),
        WORK_CASE(what_is_outside_or_no_file_is_refused_and_nothing_is_left),
        WORK_CASE(a_directory_that_is_a_link_can_be_named_either_way),
        WORK_CASE(a_path_is_inside_where_it_leads),
        WORK_CASE(anywhere_means_where_the_user_may_write),
    };

    return cmocka_run_group_tests_name("work_file", tests, NULL, NULL);
}
