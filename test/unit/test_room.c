/* Tests room/room: where rooms are, how large a message may be, who may post. */
#define _GNU_SOURCE
#include "fault.h"
#include "logs.h"

#include "room/room.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static struct err e;
static struct buf path;

static int
leave(void **state)
{
    buf_release(&path);
    return case_leave(state);
}
#define ROOM_CASE(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static const char *
base(void)
{
    buf_reset(&path);
    CHECK_OK(room_base(&path, &e), &e);
    return path.p;
}

static char top[PATH_MAX]; /* the test's directory */

static const char *
in_top(const char *name)
{
    static char full[PATH_MAX + 64];

    snprintf(full, sizeof full, "%s/%s", top, name);
    return full;
}

static void
note_top(void)
{
    assert_non_null(getcwd(top, sizeof top));
}

/* ---- where rooms are ---- */

static void
without_settings_rooms_are_in_the_working_directory(void **state)
{
    (void)state;
    assert_string_equal(base(), ".war-rooms");
}

static void
WARROOMS_DIR_decides(void **state)
{
    (void)state;
    make_dirs(".war-rooms");
    setenv("WARROOMS_DIR", "/somewhere/else", 1);
    assert_string_equal(base(), "/somewhere/else");
    setenv("WARROOMS_DIR", "", 1); /* empty counts as not set */
    note_top();
    assert_string_equal(base(), in_top(".war-rooms"));
}

static void
rooms_of_a_directory_above_are_found(void **state)
{
    (void)state;
    note_top();
    make_dirs(".war-rooms");
    make_dirs("src/deep");
    assert_int_equal(chdir("src/deep"), 0);
    assert_string_equal(base(), in_top(".war-rooms"));
}

static void
rooms_are_made_beside_the_project(void **state)
{
    (void)state;
    note_top();
    make_dirs(".cliq");
    make_dirs("src/deep");
    assert_int_equal(chdir("src/deep"), 0);
    assert_string_equal(base(), in_top(".war-rooms"));
}

static void
the_path_of_a_room_is_its_name_below_that(void **state)
{
    (void)state;
    buf_reset(&path);
    CHECK_OK(room_path(&path, "room-001", &e), &e);
    assert_string_equal(path.p, ".war-rooms/room-001");
    buf_reset(&path);
    CHECK_FAILS_WITH(room_path(&path, "../room", &e), ST_INVALID, &e, "bad room name \"../room\"");
    CHECK_FAILS(room_path(&path, "", &e), ST_INVALID, &e, "the room name is empty");
}

/* ---- the limit ---- */

static size_t
limit(void)
{
    size_t max = 0;

    CHECK_OK(room_body_max(&max, &e), &e);
    return max;
}

static void
without_settings_the_limit_is_64_KiB(void **state)
{
    (void)state;
    assert_int_equal(limit(), 65536);
}

static void
the_limit_may_be_set_beside_the_rooms(void **state)
{
    (void)state;
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", "{\"channel\":{\"max_message_size_bytes\":100}}");
    assert_int_equal(limit(), 100);
    write_file(".war-rooms/config.json", "{\"max_message_size_bytes\":101}");
    assert_int_equal(limit(), 101);
    write_file(".war-rooms/config.json",
               "{\"max_message_size_bytes\":101,\"channel\":{\"max_message_size_bytes\":100}}");
    assert_int_equal(limit(), 100);
}

static void
settings_of_the_rooms_win_over_project_over_user(void **state)
{
    (void)state;
    make_dirs(".war-rooms");
    make_dirs(".cliq");
    make_dirs(".cliqrc");
    write_file(".cliqrc/settings.json", "{\"channel\":{\"max_message_size_bytes\":3}}");
    assert_int_equal(limit(), 3);
    write_file(".cliq/settings.json", "{\"channel\":{\"max_message_size_bytes\":2}}");
    assert_int_equal(limit(), 2);
    write_file(".war-rooms/config.json", "{\"channel\":{\"max_message_size_bytes\":1}}");
    assert_int_equal(limit(), 1);
}

static void
settings_without_a_limit_are_skipped(void **state)
{
    (void)state;
    make_dirs(".war-rooms");
    make_dirs(".cliq");
    make_dirs(".cliqrc");
    write_file(".war-rooms/config.json", "{\"channel\":{\"other\":1}}");
    write_file(".cliq/settings.json", "[]");
    write_file(".cliqrc/settings.json", "{\"channel\":{\"max_message_size_bytes\":7}}");
    assert_int_equal(limit(), 7);
}

static void
CLIQ_HOME_has_the_users_settings(void **state)
{
    (void)state;
    make_dirs("home");
    setenv("CLIQ_HOME", "home", 1);
    write_file("home/settings.json", "{\"channel\":{\"max_message_size_bytes\":8}}");
    assert_int_equal(limit(), 8);
}

static void
without_a_home_the_limit_is_still_known(void **state)
{
    (void)state;
    unsetenv("HOME");
    assert_int_equal(limit(), 65536);
}

static void
a_limit_that_makes_no_sense_is_an_error(void **state)
{
    static const char *const bad[] = { "0", "-1", "1.5", "\"100\"", "null", "[]", "1e99", "true" };
    size_t max;

    (void)state;
    make_dirs(".war-rooms");
    note_top();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"channel\":{\"max_message_size_bytes\":%s}}", bad[i]);
        write_file(".war-rooms/config.json", text);
        CHECK_FAILS_WITH(room_body_max(&max, &e), ST_INVALID, &e,
                         "config.json: channel.max_message_size_bytes must be a whole number of "
                         "bytes, at least 1");
    }
}

static void
settings_that_are_no_JSON_are_reported_with_line_and_column(void **state)
{
    size_t max;

    (void)state;
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", "{\n  \"channel\": oops\n}\n");
    CHECK_FAILS_WITH(room_body_max(&max, &e), ST_INVALID, &e, "config.json:2:14: ");
    write_file(".war-rooms/config.json", "");
    CHECK_FAILS_WITH(room_body_max(&max, &e), ST_INVALID, &e, "config.json:1:1: ");
}

static void
settings_that_cannot_be_read_are_an_error(void **state)
{
    size_t max;

    (void)state;
    make_dirs(".war-rooms/config.json");
    CHECK_FAILS_WITH(room_body_max(&max, &e), ST_INVALID, &e, ", not a regular file");
}

static void
settings_larger_than_1_MiB_are_an_error(void **state)
{
    char *text = malloc((1 << 20) + 2);
    size_t max;

    (void)state;
    memset(text, ' ', (1 << 20) + 1);
    text[(1 << 20) + 1] = '\0';
    memcpy(text, "{}", 2);
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", text);
    CHECK_FAILS_WITH(room_body_max(&max, &e), ST_INVALID, &e, "is larger than 1048576 bytes");
    text[1 << 20] = '\0';
    write_file(".war-rooms/config.json", text);
    assert_int_equal(limit(), 65536);
    free(text);
}

/* ---- posting ---- */

static const struct message sample = { "engineer", "qa", "done", "EPIC-001", "Work complete", 13 };

static void
posting_makes_the_room_and_the_channel(void **state)
{
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;

    (void)state;
    CHECK_OK(channel_open(&c, "room-001", true, &e), &e);
    CHECK_OK(channel_post(&c, &sample, id, &is_cut, &e), &e);
    channel_close(&c);
    assert_int_equal(file_mode(".war-rooms"), 0700);
    assert_int_equal(file_mode(".war-rooms/room-001"), 0700);
    assert_int_equal(file_mode(".war-rooms/room-001/channel.jsonl"), 0600);
    assert_int_equal(count_records(".war-rooms/room-001/channel.jsonl", 0, id), 1);
    assert_int_equal(count_files(".war-rooms/room-001"), 1);
}

static void
a_post_is_synced_unless_the_caller_opts_out(void **state)
{
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;

    (void)state;
    for (int durably = 0; durably < 2; durably++) {
        CHECK_OK(channel_open(&c, "r", durably, &e), &e);
        fault_count_from_here();
        CHECK_OK(channel_post(&c, &sample, id, &is_cut, &e), &e);
        assert_int_equal(fault_count("fdatasync"), durably);
        channel_close(&c);
    }
}

static void
a_long_body_is_truncated_at_the_limit(void **state)
{
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;

    (void)state;
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", "{\"max_message_size_bytes\":4}");
    CHECK_OK(channel_open(&c, "r", false, &e), &e);
    CHECK_OK(channel_post(&c, &sample, id, &is_cut, &e), &e);
    assert_true(is_cut);
    channel_close(&c);
    assert_int_equal(count_records(".war-rooms/r/channel.jsonl", 0,
                                   "\"body\":\"Work\\n[TRUNCATED: original 13 bytes, max 4]\""),
                     1);
}

static void
a_message_that_no_line_can_hold_is_refused(void **state)
{
    struct channel c;
    struct message m = sample;
    char *body = malloc(LOG_LINE_MAX), id[MESSAGE_ID_SIZE];
    bool is_cut;

    (void)state;
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", "{\"max_message_size_bytes\":100000000}");
    memset(body, '"', LOG_LINE_MAX); /* two bytes each in JSON */
    m.body = body;
    m.body_len = LOG_LINE_MAX / 2;
    CHECK_OK(channel_open(&c, "r", false, &e), &e);
    CHECK_FAILS(channel_post(&c, &m, id, &is_cut, &e), ST_INVALID, &e,
                "the message is larger than 1048575 bytes");
    CHECK_OK(channel_post(&c, &sample, id, &is_cut, &e), &e);
    channel_close(&c);
    struct lines l = read_lines(".war-rooms/r/channel.jsonl", WITH_BAD);
    assert_int_equal(l.n, 1);
    free_lines(&l);
    free(body);
}

static void
bad_room_names_create_nothing(void **state)
{
    struct channel c;

    (void)state;
    CHECK_FAILS_WITH(channel_open(&c, "..", false, &e), ST_INVALID, &e, "bad room name");
    CHECK_FAILS_WITH(channel_open(&c, "a/b", false, &e), ST_INVALID, &e, "bad room name");
    assert_int_equal(count_files("."), 0);
}

static void
a_link_in_place_of_a_room_or_channel_is_refused(void **state)
{
    struct channel c;

    (void)state;
    make_dirs(".war-rooms/real");
    make_dirs("outside");
    assert_int_equal(symlink("../outside", ".war-rooms/room"), 0);
    CHECK_FAILS_WITH(channel_open(&c, "room", false, &e), ST_INVALID, &e, "links are not followed");
    assert_int_equal(symlink("../../outside/f", ".war-rooms/real/channel.jsonl"), 0);
    CHECK_FAILS_WITH(channel_open(&c, "real", false, &e), ST_INVALID, &e, "symbolic link");
    assert_int_equal(count_files("outside"), 0);
}

static void
a_bad_setting_refuses_to_open_and_leaks_nothing(void **state)
{
    struct channel c;

    (void)state;
    make_dirs(".war-rooms");
    write_file(".war-rooms/config.json", "nonsense");
    assert_int_equal(channel_open(&c, "r", false, &e), ST_INVALID);
    assert_false(file_exists(".war-rooms/r"));
}

static void
a_closed_channel_can_be_closed_again(void **state)
{
    struct channel c;

    (void)state;
    CHECK_OK(channel_open(&c, "r", false, &e), &e);
    channel_close(&c);
    channel_close(&c);
}

/* ---- reading ---- */

static void
a_missing_room_reads_as_empty(void **state)
{
    int fd = 0;

    (void)state;
    CHECK_OK(channel_open_read("room", &fd, &e), &e);
    assert_int_equal(fd, -1);
    make_dirs(".war-rooms/room");
    CHECK_OK(channel_open_read("room", &fd, &e), &e);
    assert_int_equal(fd, -1);
    assert_int_equal(count_files(".war-rooms/room"), 0); /* and creates nothing */
}

static void
a_channel_is_opened_for_reading(void **state)
{
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;
    int fd;

    (void)state;
    CHECK_OK(channel_open(&c, "r", false, &e), &e);
    CHECK_OK(channel_post(&c, &sample, id, &is_cut, &e), &e);
    channel_close(&c);
    CHECK_OK(channel_open_read("r", &fd, &e), &e);
    struct lines l = read_lines_fd(fd, 0);
    assert_int_equal(l.n, 1);
    free_lines(&l);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
}

static void
only_a_regular_file_is_read_as_a_channel(void **state)
{
    int fd = 0;

    (void)state;
    make_dirs(".war-rooms/a/channel.jsonl");
    CHECK_FAILS(channel_open_read("a", &fd, &e), ST_INVALID, &e,
                "channel.jsonl of room a is a directory, not a regular file");
    make_dirs(".war-rooms/b");
    assert_int_equal(mkfifo(".war-rooms/b/channel.jsonl", 0600), 0);
    CHECK_FAILS(channel_open_read("b", &fd, &e), ST_INVALID, &e,
                "channel.jsonl of room b is a FIFO, not a regular file");
    make_dirs(".war-rooms/c");
    write_file("secret", "{}\n");
    assert_int_equal(symlink("../../secret", ".war-rooms/c/channel.jsonl"), 0);
    CHECK_FAILS_WITH(channel_open_read("c", &fd, &e), ST_INVALID, &e, "symbolic link");
    assert_int_equal(fd, -1);
}

static void
the_offset_after_a_message_is_found_by_its_id(void **state)
{
    off_t at;

    (void)state;
    write_file("channel", "{\"id\":\"a\"}\nbad\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n{\"id\":\"c\"}\n");
    int fd = open("channel", O_RDONLY | O_CLOEXEC);
    CHECK_OK(channel_find_after(fd, "b", &at, &e), &e);
    assert_int_equal(at, 26);
    CHECK_OK(channel_find_after(fd, "a", &at, &e), &e);
    assert_int_equal(at, 37); /* the last one */
    CHECK_OK(channel_find_after(fd, "c", &at, &e), &e);
    assert_int_equal(at, 48);
    CHECK_OK(channel_find_after(fd, "x", &at, &e), &e);
    assert_int_equal(at, -1);
    close(fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ROOM_CASE(without_settings_rooms_are_in_the_working_directory),
        ROOM_CASE(WARROOMS_DIR_decides),
        ROOM_CASE(rooms_of_a_directory_above_are_found),
        ROOM_CASE(rooms_are_made_beside_the_project),
        ROOM_CASE(the_path_of_a_room_is_its_name_below_that),
        ROOM_CASE(without_settings_the_limit_is_64_KiB),
        ROOM_CASE(the_limit_may_be_set_beside_the_rooms),
        ROOM_CASE(settings_of_the_rooms_win_over_project_over_user),
        ROOM_CASE(settings_without_a_limit_are_skipped),
        ROOM_CASE(CLIQ_HOME_has_the_users_settings),
        ROOM_CASE(without_a_home_the_limit_is_still_known),
        ROOM_CASE(a_limit_that_makes_no_sense_is_an_error),
        ROOM_CASE(settings_that_are_no_JSON_are_reported_with_line_and_column),
        ROOM_CASE(settings_that_cannot_be_read_are_an_error),
        ROOM_CASE(settings_larger_than_1_MiB_are_an_error),
        ROOM_CASE(posting_makes_the_room_and_the_channel),
        ROOM_CASE(a_post_is_synced_unless_the_caller_opts_out),
        ROOM_CASE(a_long_body_is_truncated_at_the_limit),
        ROOM_CASE(a_message_that_no_line_can_hold_is_refused),
        ROOM_CASE(bad_room_names_create_nothing),
        ROOM_CASE(a_link_in_place_of_a_room_or_channel_is_refused),
        ROOM_CASE(a_bad_setting_refuses_to_open_and_leaks_nothing),
        ROOM_CASE(a_closed_channel_can_be_closed_again),
        ROOM_CASE(a_missing_room_reads_as_empty),
        ROOM_CASE(a_channel_is_opened_for_reading),
        ROOM_CASE(only_a_regular_file_is_read_as_a_channel),
        ROOM_CASE(the_offset_after_a_message_is_found_by_its_id),
    };

    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
