/* Tests context/state_dir: the files of a run, and no file outside. */
#include "fault.h"
#include "test.h"

#include "base/watch.h"
#include "context/frames.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct state_dir f;
static struct err e;

static int
enter(void **state)
{
    if (case_enter(state))
        return -1;
    make_dirs(".cliq");
    return state_dir_find(&f, &e) == ST_OK ? 0 : -1;
}

static int
leave(void **state)
{
    state_dir_close(&f);
    return case_leave(state);
}

#define FRAMED(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
names_of_phases_are_plain(void **state)
{
    static const char *const good[] = { "a", "build", "security-auditor", "a1-b2", "a-" };
    static const char *const bad[] = { "",    "A",   "1a", "-a",  "a--b", "a_b",
                                       "a.b", "a/b", "..", "a b", "ä",    "a\n" };
    char name[66];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(state_dir_is_phase_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(state_dir_is_phase_name(bad[i]));
    memset(name, 'a', sizeof name);
    name[65] = '\0';
    assert_false(state_dir_is_phase_name(name));
    name[64] = '\0';
    assert_true(state_dir_is_phase_name(name));
}

static void
without_a_project_the_error_says_to_run_init(void **state)
{
    (void)state;
    CHECK_FAILS_WITH(state_dir_find(&f, &e), ST_NOT_FOUND, &e, "cliq init");
}

static void
the_nearest_project_is_found_from_below(void **state)
{
    char cwd[4096], *end;

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    end = cwd + strlen(cwd);
    assert_string_equal(f.project_dir, cwd);
    strcpy(end, "/.cliq");
    assert_string_equal(f.state_dir, cwd);
    state_dir_close(&f);
    make_dirs("a/b");
    assert_int_equal(chdir("a/b"), 0);
    CHECK_OK(state_dir_find(&f, &e), &e);
    assert_string_equal(f.state_dir, cwd);
    *end = '\0';
    assert_int_equal(chdir(cwd), 0);
}

static void
a_relative_state_directory_becomes_absolute(void **state)
{
    (void)state;
    state_dir_close(&f);
    make_dirs(".cliq/frames/sub");
    CHECK_OK(state_dir_open(&f, ".cliq/frames/sub/", "/elsewhere", &e), &e);
    assert_int_equal(f.state_dir[0], '/');
    assert_non_null(strstr(f.state_dir, "/.cliq/frames/sub"));
    assert_string_equal(f.project_dir, "/elsewhere");
    state_dir_close(&f);
    CHECK_FAILS_WITH(state_dir_open(&f, "nope", NULL, &e), ST_NOT_FOUND, &e, "nope");
    state_dir_close(&f);
    state_dir_close(&f);
}

static void
a_zeroed_state_dir_can_be_closed(void **state)
{
    struct state_dir zero = { 0 };

    (void)state;
    state_dir_close(&zero);
    assert_true(fcntl(0, F_GETFD) >= 0);
}

static void
a_file_is_replaced_whole_and_read_back(void **state)
{
    struct buf b = { 0 };

    (void)state;
    CHECK_OK(state_dir_replace(&f, "gates/review/gate_context.md", "one", 3, &e), &e);
    CHECK_FILE(".cliq/gates/review/gate_context.md", "one");
    CHECK_OK(state_dir_replace(&f, "gates/review/gate_context.md", "", 0, &e), &e);
    CHECK_FILE(".cliq/gates/review/gate_context.md", "");
    CHECK_OK(state_dir_read(&f, "gates/review/gate_context.md", &b, &e), &e);
    assert_string_equal(b.p, "");
    assert_int_equal(state_dir_replace(&f, "gates", "x", 1, &e), ST_INVALID);
    assert_string_equal(e.text, "replace gates: Is a directory");
    CHECK_OK(state_dir_replace(&f, "gates/review/gate_context.md", "", 0, &e), &e);
    CHECK_OK(state_dir_replace(&f, "x", "a\0b", 3, &e), &e);
    CHECK_OK(state_dir_read(&f, "x", &b, &e), &e);
    assert_int_equal(b.len, 3);
    assert_int_equal(file_mode(".cliq/x") & 0777, 0600);
    assert_int_equal(file_mode(".cliq/gates/review") & 0777, 0700);
    assert_int_equal(count_files(".cliq/gates/review"), 1);
    buf_release(&b);
}

static void
a_created_file_is_new_or_not_there(void **state)
{
    (void)state;
    write_file(".cliq/old", "old");
    int fd = open(".cliq/old", O_RDONLY | O_CLOEXEC);
    FAULT_SWEEP(fault)
    {
        fault_on(&fault);
        enum status s = state_dir_create(&f, "run/messages/a.1.json", "new", 3, &e);
        fault_off(&fault);
        if (!s)
            CHECK_FILE(".cliq/run/messages/a.1.json", "new");
        else if (file_exists(".cliq/run/messages"))
            assert_int_equal(count_files(".cliq/run/messages"), 0);
        unlink(".cliq/run/messages/a.1.json");
    }
    CHECK_OK(state_dir_create(&f, "old", "new", 3, &e), &e);
    CHECK_FILE(".cliq/old", "new");
    assert_int_equal(file_mode(".cliq/old") & 0777, 0600);
    char text[4] = "";
    assert_int_equal(read(fd, text, 3), 3); /* an open descriptor keeps the old file */
    assert_string_equal(text, "old");
    close(fd);
    CHECK_FAILS(state_dir_create(&f, "run", "x", 1, &e), ST_INVALID, &e,
                "create run: Is a directory");
}

/* The run waits for its status and for lines; other files must not wake it. */
static void
of_the_files_in_signals_only_the_status_wakes_the_run(void **state)
{
    struct watch w;

    (void)state;
    make_dirs(".cliq/signals");
    make_dirs(".cliq/run");
    CHECK_OK(watch_open_writes(&w, ".cliq/signals", &e), &e);
    CHECK_OK(state_dir_replace(&f, "signals/dev_command_results.json", "[]", 2, &e), &e);
    CHECK_FILE(".cliq/signals/dev_command_results.json", "[]");
    assert_int_equal(file_mode(".cliq/signals/dev_command_results.json"), 0600);
    assert_false(is_readable(w.fd, 0));
    for (int i = 0; i < 2; i++) { /* a new file, and a replaced one */
        CHECK_OK(state_dir_replace(&f, "signals/_pipeline_status", "CANCELLED", 9, &e), &e);
        assert_true(is_readable(w.fd, 0));
        watch_drain(&w);
    }
    CHECK_OK(state_dir_replace(&f, "signals/dev_command_results.json", "[1]", 3, &e), &e);
    CHECK_FILE(".cliq/signals/dev_command_results.json", "[1]");
    assert_int_equal(count_files(".cliq/signals"), 2);
    assert_int_equal(count_files(".cliq/run"), 0);
    watch_close(&w);
}

static void
a_missing_file_is_not_found(void **state)
{
    struct buf b = { 0 };

    (void)state;
    assert_int_equal(state_dir_read(&f, "nope", &b, &e), ST_NOT_FOUND);
    assert_int_equal(state_dir_read(&f, "no/pe", &b, &e), ST_NOT_FOUND);
    CHECK_OK(state_dir_remove(&f, "nope", &e), &e);
    CHECK_OK(state_dir_remove(&f, "no/pe", &e), &e);
    write_file(".cliq/there", "");
    CHECK_OK(state_dir_remove(&f, "there", &e), &e);
    assert_false(file_exists(".cliq/there"));
    buf_release(&b);
}

static void
paths_that_leave_the_state_directory_are_refused(void **state)
{
    static const char *const bad[] = { "",   "/etc/passwd", "..",  "../x", "a/../../x", "a//b",
                                       "a/", ".",           "./a", "a/.",  "a/..",      "/" };
    struct buf b = { 0 };

    (void)state;
    write_file("x", "outside");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(state_dir_replace(&f, bad[i], "p", 1, &e), ST_INVALID);
        assert_int_equal(state_dir_read(&f, bad[i], &b, &e), ST_INVALID);
        assert_int_equal(state_dir_mkdir(&f, bad[i], &e), ST_INVALID);
        assert_int_equal(state_dir_remove(&f, bad[i], &e), ST_INVALID);
    }
    CHECK_FILE("x", "outside");
    assert_int_equal(count_files(".cliq"), 0);
    buf_release(&b);
}

static void
links_are_not_followed(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs("outside");
    write_file("outside/secret", "s");
    assert_int_equal(symlink("../outside", ".cliq/dir"), 0);
    assert_int_equal(symlink("../outside/secret", ".cliq/file"), 0);
    assert_int_equal(state_dir_read(&f, "dir/secret", &b, &e), ST_INVALID);
    assert_int_equal(state_dir_read(&f, "file", &b, &e), ST_INVALID);
    assert_int_equal(state_dir_replace(&f, "dir/new", "x", 1, &e), ST_INVALID);
    assert_int_equal(state_dir_mkdir(&f, "dir/new", &e), ST_INVALID);
    assert_int_equal(state_dir_remove(&f, "dir/secret", &e), ST_INVALID);
    assert_int_equal(count_files("outside"), 1);
    /* a link in the file's own place is replaced, not written through */
    CHECK_OK(state_dir_replace(&f, "file", "new", 3, &e), &e);
    CHECK_FILE("outside/secret", "s");
    CHECK_FILE(".cliq/file", "new");
    buf_release(&b);
}

static void
only_regular_files_are_read(void **state)
{
    struct buf b = { 0 };

    (void)state;
    make_dirs(".cliq/d");
    assert_int_equal(mkfifo(".cliq/fifo", 0600), 0);
    assert_int_equal(state_dir_read(&f, "d", &b, &e), ST_INVALID);
    assert_int_equal(state_dir_read(&f, "fifo", &b, &e), ST_INVALID);
    buf_release(&b);
}

static void
a_file_over_the_limit_is_refused(void **state)
{
    struct buf b = BUF_MAX(4);

    (void)state;
    write_file(".cliq/big", "12345");
    CHECK_FAILS_WITH(state_dir_read(&f, "big", &b, &e), ST_INVALID, &e, "big");
    buf_release(&b);
}

static void
directories_are_made_with_their_parents(void **state)
{
    int fd;

    (void)state;
    CHECK_OK(state_dir_mkdir(&f, "run/logs/deep", &e), &e);
    CHECK_OK(state_dir_mkdir(&f, "run/logs/deep", &e), &e);
    assert_true(file_exists(".cliq/run/logs/deep"));
    CHECK_OK(state_dir_open_dir(&f, "run/logs", false, &fd, &e), &e);
    close(fd);
    assert_int_equal(state_dir_open_dir(&f, "nope", false, &fd, &e), ST_NOT_FOUND);
    write_file(".cliq/file", "");
    assert_int_equal(state_dir_mkdir(&f, "file", &e), ST_INVALID);
    assert_int_equal(state_dir_mkdir(&f, "file/x", &e), ST_INVALID);
}

static void
a_path_is_absolute(void **state)
{
    struct buf b = { 0 };

    (void)state;
    state_dir_path(&f, &b, "run/lock");
    assert_non_null(strstr(b.p, "/.cliq/run/lock"));
    buf_release(&b);
}

/* Unnamed files that were opened ahead become the next files, each with its own text. When the
 * name exists already, the file is replaced in the usual way. */
static void
unnamed_files_opened_ahead_get_their_names(void **state)
{
    (void)state;
    CHECK_OK(state_dir_replace(&f, "signals/b.json", "old", 3, &e), &e);
    state_dir_spare(f.dir);
    state_dir_spare(f.dir);
    CHECK_OK(state_dir_replace(&f, "signals/a.json", "one", 3, &e), &e);
    CHECK_OK(state_dir_replace(&f, "signals/b.json", "two", 3, &e), &e);
    CHECK_OK(state_dir_replace(&f, "signals/c.json", "three", 5, &e), &e);
    CHECK_FILE(".cliq/signals/a.json", "one");
    CHECK_FILE(".cliq/signals/b.json", "two");
    CHECK_FILE(".cliq/signals/c.json", "three");
    state_dir_spare(f.dir);
    CHECK_OK(state_dir_replace(&f, "files/p/d", "four", 4, &e), &e);
    CHECK_OK(state_dir_replace(&f, "files/p/e", "", 0, &e), &e);
    CHECK_FILE(".cliq/files/p/d", "four");
    CHECK_FILE(".cliq/files/p/e", "");
}

static void
a_file_in_pieces_is_there_when_it_is_kept(void **state)
{
    struct state_file to = { 0 };

    (void)state;
    CHECK_OK(state_dir_end(&to, true, &e), &e); /* one that was not begun */
    CHECK_OK(state_dir_replace(&f, "files/p/x", "old", 3, &e), &e);
    CHECK_OK(state_dir_begin(&f, "files/p/x", &to, &e), &e);
    assert_int_equal(write(to.fd, "lost", 4), 4);
    CHECK_OK(state_dir_rewind(&to, &e), &e);
    assert_int_equal(write(to.fd, "new", 3), 3);
    CHECK_FILE(".cliq/files/p/x", "old");
    CHECK_OK(state_dir_end(&to, true, &e), &e);
    CHECK_FILE(".cliq/files/p/x", "new");
    CHECK_OK(state_dir_end(&to, true, &e), &e);
}

static void
a_file_in_pieces_that_is_not_kept_leaves_nothing(void **state)
{
    struct state_file to = { 0 };
    struct stat st;
    int fd;

    (void)state;
    CHECK_OK(state_dir_begin(&f, "files/p/x", &to, &e), &e);
    CHECK_OK(state_dir_end(&to, false, &e), &e);
    assert_int_equal(state_dir_open_file(&f, "files/p/x", &fd, &st, &e), ST_NOT_FOUND);
    CHECK_OK(state_dir_begin(&f, "top", &to, &e), &e);
    CHECK_OK(state_dir_end(&to, true, &e), &e);
    CHECK_OK(state_dir_open_file(&f, "top", &fd, &st, &e), &e);
    assert_int_equal(st.st_size, 0);
    close(fd);
    assert_int_equal(rmdir(".cliq/files/p"), 0); /* it is empty */
    assert_int_equal(state_dir_begin(&f, "../x", &to, &e), ST_INVALID);
    assert_int_equal(state_dir_open_file(&f, "files", &fd, &st, &e), ST_INVALID);
}

static enum status
count_frames(void *ctx, const struct state_dir *frame, const char *phase, struct err *why)
{
    (void)why;
    assert_non_null(strstr(frame->state_dir, phase));
    ++*(int *)ctx;
    return ST_OK;
}

static void
frames_are_below_their_project_and_lead_back_to_it(void **state)
{
    struct state_dir outer, inner, top;
    int n = 0;

    (void)state;
    CHECK_FAILS_WITH(frame_open(&outer, &f, "build", false, &e), ST_NOT_FOUND, &e, "frames");
    CHECK_OK(frame_open(&outer, &f, "build", true, &e), &e);
    CHECK_OK(frame_open(&inner, &outer, "test", true, &e), &e);
    assert_non_null(strstr(inner.state_dir, "/frames/build/frames/test"));
    assert_string_equal(inner.project_dir, f.project_dir);
    struct buf way = { 0 };
    CHECK_OK(frame_way(&inner, "unit", &way, &e), &e);
    CHECK_OK(frame_way(&f, ", one", &way, &e), &e);
    assert_string_equal(way.p, "build/test/unit, one");
    buf_release(&way);
    CHECK_OK(frame_top(&top, &inner, &e), &e);
    assert_string_equal(top.state_dir, f.state_dir);
    state_dir_close(&top);
    CHECK_OK(frame_top(&top, &f, &e), &e);
    assert_string_equal(top.state_dir, f.state_dir);
    CHECK_OK(frames_each(&f, count_frames, &n, &e), &e);
    assert_int_equal(n, 1); /* not those in it */
    state_dir_close(&top);
    state_dir_close(&inner);
    state_dir_close(&outer);
    assert_int_equal(frame_open(&outer, &f, "../x", true, &e), ST_INVALID);
}

static void
a_project_below_a_directory_called_frames_is_no_frame(void **state)
{
    struct state_dir own, top;

    (void)state;
    make_dirs("frames/.cliq");
    CHECK_OK(state_dir_open(&own, "frames/.cliq", NULL, &e), &e);
    CHECK_OK(frame_top(&top, &own, &e), &e);
    assert_string_equal(top.state_dir, own.state_dir);
    state_dir_close(&top);
    state_dir_close(&own);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(names_of_phases_are_plain),
        CASE(without_a_project_the_error_says_to_run_init),
        CASE(a_zeroed_state_dir_can_be_closed),
        FRAMED(unnamed_files_opened_ahead_get_their_names),
        FRAMED(the_nearest_project_is_found_from_below),
        FRAMED(a_relative_state_directory_becomes_absolute),
        FRAMED(a_file_is_replaced_whole_and_read_back),
        FRAMED(a_created_file_is_new_or_not_there),
        FRAMED(of_the_files_in_signals_only_the_status_wakes_the_run),
        FRAMED(a_file_in_pieces_is_there_when_it_is_kept),
        FRAMED(a_file_in_pieces_that_is_not_kept_leaves_nothing),
        FRAMED(a_missing_file_is_not_found),
        FRAMED(paths_that_leave_the_state_directory_are_refused),
        FRAMED(links_are_not_followed),
        FRAMED(only_regular_files_are_read),
        FRAMED(a_file_over_the_limit_is_refused),
        FRAMED(directories_are_made_with_their_parents),
        FRAMED(a_path_is_absolute),
        FRAMED(frames_are_below_their_project_and_lead_back_to_it),
        FRAMED(a_project_below_a_directory_called_frames_is_no_frame),
    };
    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
