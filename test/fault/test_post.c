/*
 * Fault injection in channel_post: after any failing call, the message is whole in its room or
 * absent, is in no other place, and other messages and rooms are unchanged.
 */
#include "fault.h"
#include "logs.h"

#include "room/room.h"

static struct err e;

#define MUST(fact)                                                                                 \
    do {                                                                                           \
        if (!(fact))                                                                               \
            fail_msg("%s: not so: %s", fault_what(f), #fact);                                      \
    } while (0)

static struct message
message(const char *body)
{
    return (struct message){ "engineer", "qa", "done", "EPIC-001", body, strlen(body) };
}

static enum status
post(const char *room, bool is_durable, const char *body)
{
    struct message m = message(body);
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;
    enum status s = channel_open(&c, room, is_durable, &e);

    if (!s) {
        s = channel_post(&c, &m, id, &is_cut, &e);
        channel_close(&c);
    }
    return s;
}

static enum status
post_faulty(struct fault *f, const char *room, bool is_durable, const char *body)
{
    e.text[0] = '\0';
    fault_on(f);
    enum status s = post(room, is_durable, body);
    fault_off(f);
    return s;
}

static size_t
count_in(const char *path, const char *text)
{
    return file_exists(path) ? count_records(path, 0, text) : 0;
}

/* Checks the room's channel after a post with a fault. */
static void
check_posted(struct fault *f, const char *path, enum status s)
{
    size_t there = count_in(path, "\"first\"");

    MUST(s != ST_OK || there == 1);
    MUST(there <= 1);
    MUST(s == ST_OK || f->has_failed);
    MUST(s == ST_OK || s == ST_IO);
    MUST(s == ST_OK || e.text[0] != '\0');
}

FAULT_STORY(the_first_post_into_new_directories_is_whole_or_absent)
{
    setenv("WARROOMS_DIR", "a/b/rooms", 1);
    check_posted(f, "a/b/rooms/room/channel.jsonl", post_faulty(f, "room", true, "first"));
    CHECK_OK(post("room", true, "second"), &e);
    MUST(count_in("a/b/rooms/room/channel.jsonl", "\"second\"") == 1);
    MUST(count_files(".") == 1);
    MUST(count_files("a/b/rooms") == 1);
    MUST(count_files("a/b/rooms/room") == 1);
    unsetenv("WARROOMS_DIR");
}

FAULT_STORY(a_post_beside_others_is_whole_or_absent)
{
    CHECK_OK(post("room", true, "old"), &e);
    CHECK_OK(post("neighbour", true, "neighbour"), &e);
    char *neighbour = read_file(".war-rooms/neighbour/channel.jsonl", NULL);
    check_posted(f, ".war-rooms/room/channel.jsonl", post_faulty(f, "room", true, "first"));
    CHECK_OK(post("room", true, "second"), &e);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"old\"") == 1);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"second\"") == 1);
    CHECK_FILE(".war-rooms/neighbour/channel.jsonl", neighbour);
    MUST(count_files(".war-rooms") == 2);
    MUST(count_files(".") == 1);
    free(neighbour);
}

FAULT_STORY(a_post_that_is_not_durable_is_whole_or_absent)
{
    CHECK_OK(post("room", false, "old"), &e);
    check_posted(f, ".war-rooms/room/channel.jsonl", post_faulty(f, "room", false, "first"));
    CHECK_OK(post("room", false, "second"), &e);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"old\"") == 1);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"second\"") == 1);
}

FAULT_STORY(a_post_behind_a_torn_line_is_whole_or_absent)
{
    CHECK_OK(post("room", true, "old"), &e);
    append_file(".war-rooms/room/channel.jsonl", "{\"torn\":\"");
    check_posted(f, ".war-rooms/room/channel.jsonl", post_faulty(f, "room", true, "first"));
    CHECK_OK(post("room", true, "second"), &e);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"old\"") == 1);
    MUST(count_in(".war-rooms/room/channel.jsonl", "\"second\"") == 1);
}

/* If the first .war-rooms cannot be read, no second one may be created. */
FAULT_STORY(a_post_from_a_subdirectory_goes_to_the_projects_room_or_nowhere)
{
    make_dirs(".war-rooms");
    make_dirs("src/deep");
    assert_int_equal(chdir("src/deep"), 0);
    enum status s = post_faulty(f, "room", true, "first");
    assert_int_equal(chdir("../.."), 0);
    check_posted(f, ".war-rooms/room/channel.jsonl", s);
    MUST(count_files("src/deep") == 0);
    MUST(count_files("src") == 1);
    MUST(count_files(".") == 2);
}

FAULT_STORY(a_post_beside_the_project_goes_there_or_nowhere)
{
    make_dirs(".cliq");
    make_dirs("src");
    assert_int_equal(chdir("src"), 0);
    enum status s = post_faulty(f, "room", true, "first");
    assert_int_equal(chdir(".."), 0);
    check_posted(f, ".war-rooms/room/channel.jsonl", s);
    MUST(count_files("src") == 0);
}

/* A limit that cannot be read is an error: no message is truncated by a wrong limit. */
FAULT_STORY(a_body_is_cut_by_the_right_limit_or_not_posted)
{
    static const char *const places[] = { ".war-rooms/config.json", ".cliq/settings.json",
                                          ".cliqrc/settings.json" };

    bool has_failed = false;

    for (size_t i = 0; i < 3; i++) {
        empty_dir();
        make_dirs(".war-rooms");
        make_dirs(".cliq");
        make_dirs(".cliqrc");
        write_file(places[i], "{\"channel\":{\"max_message_size_bytes\":5}}");
        post_faulty(f, "room", true, "first of all");
        has_failed = has_failed || f->has_failed;
        MUST(count_in(".war-rooms/room/channel.jsonl", "first of all") == 0);
    }
    f->has_failed = has_failed;
}

FAULT_STORY(a_channel_is_read_whole_or_told_why_not)
{
    int fd = -1;
    off_t at = -1;

    CHECK_OK(post("room", true, "old"), &e);
    fault_on(f);
    enum status s = channel_open_read("room", &fd, &e);
    if (!s && fd >= 0)
        s = channel_find_after(fd, "nobody", &at, &e);
    fault_off(f);
    MUST(s || fd >= 0); /* the room exists, so "no room" would be wrong */
    MUST(s == ST_OK || f->has_failed);
    if (fd >= 0)
        close(fd);
}

int
main(void)
{
    static const struct story stories[] = {
        STORY(the_first_post_into_new_directories_is_whole_or_absent),
        STORY(a_post_beside_others_is_whole_or_absent),
        STORY(a_post_that_is_not_durable_is_whole_or_absent),
        STORY(a_post_behind_a_torn_line_is_whole_or_absent),
        STORY(a_post_from_a_subdirectory_goes_to_the_projects_room_or_nowhere),
        STORY(a_post_beside_the_project_goes_there_or_nowhere),
        STORY(a_body_is_cut_by_the_right_limit_or_not_posted),
        STORY(a_channel_is_read_whole_or_told_why_not),
    };

    return run_stories("faults of a post", stories, sizeof stories / sizeof *stories);
}
