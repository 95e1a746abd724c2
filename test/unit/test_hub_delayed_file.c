/* delayed.json: it shows the queue, at once or a second later, and whoever is killed in between. */
#include "fault.h"
#include "hubs.h"

#include "base/sys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VIEW "config/signals/delayed.json"

static struct err e;

static struct hub *
open_lasting(void)
{
    struct hub *h;

    CHECK_OK(
        hub_open(&h, "config", &(struct hub_options){ .is_lasting = true, .lock_wait_ms = 50 }, &e),
        &e);
    return h;
}

static void
schedule(struct hub *h, const char *type)
{
    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"%s\",\"deliverAt\":\"+1d\"}", type), 200);
}

static bool
is_shown(const char *type)
{
    char *text = read_file(VIEW, NULL), want[80];

    snprintf(want, sizeof want, "\"type\": \"%s\"", type);
    bool is_there = strstr(text, want) != NULL;
    free(text);
    return is_there;
}

static void
who_stays_writes_it_once_a_second_and_at_its_end(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_lasting();
    assert_int_equal(hub_delayed_file_in_ms(h), -1);
    fake_clock(T0 + 5 * S);
    schedule(h, "one");
    assert_true(is_shown("one"));
    assert_int_equal(hub_delayed_file_in_ms(h), -1);
    schedule(h, "two");
    schedule(h, "three");
    assert_false(is_shown("two"));
    assert_int_equal(hub_delayed_file_in_ms(h), 1000);
    hub_submit(h, NULL, 0, NULL, NULL); /* too soon */
    assert_false(is_shown("two"));
    fake_clock(T0 + 6 * S);
    assert_int_equal(hub_delayed_file_in_ms(h), 0);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_true(is_shown("two") && is_shown("three"));
    assert_int_equal(hub_delayed_file_in_ms(h), -1);

    /* Rounds that share a commit, too. */
    CHECK_REPLY(ask_on(h, HUB_SCHEDULE, "bob", "{\"type\":\"four\",\"deliverAt\":\"+1d\"}"), 200);
    CHECK_REPLY(ask_on(h, HUB_EMIT, "bob", "{\"signal_type\":\"x\"}"), 200);
    hub_settle(h);
    assert_false(is_shown("four"));
    assert_int_equal(hub_delayed_file_in_ms(h), 1000);
    close_hub(h);
    assert_true(is_shown("four"));
}

static void
others_write_it_at_once_beside_one_that_stays(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_lasting(), *other = open_hub();
    fake_clock(T0 + 5 * S);
    schedule(h, "one");
    schedule(h, "two");
    assert_false(is_shown("two"));
    schedule(other, "three");
    assert_true(is_shown("two") && is_shown("three"));
    fake_clock(T0 + 6 * S);
    struct stat was, now;
    assert_int_equal(stat(VIEW, &was), 0);
    hub_submit(h, NULL, 0, NULL, NULL); /* which is not done twice */
    assert_int_equal(stat(VIEW, &now), 0);
    assert_int_equal(now.st_ino, was.st_ino);
    hub_close(other);
    close_hub(h);
}

static void
what_a_killed_one_left_the_next_who_opens_it_writes(void **state)
{
    int status;

    (void)state;
    fake_clock(T0);
    hub_close(open_hub());
    fake_clock(T0 + 5 * S);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct hub *h = open_lasting();
        schedule(h, "one");
        schedule(h, "two");
        _exit(is_shown("two"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_shown("two"));
    struct hub *h = open_hub(); /* reads only */
    assert_true(is_shown("one") && is_shown("two"));
    remove_tree(VIEW);
    hub_close(open_hub());
    assert_false(file_exists(VIEW)); /* a reader leaves it to the next writer */
    close_hub(h);
}

static void
one_that_is_missing_or_was_changed_is_made_again_by_any_writer(void **state)
{
    (void)state;
    struct hub *h = open_hub();
    schedule(h, "one");
    char *whole = read_file(VIEW, NULL);
    remove_tree(VIEW);
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", "{\"signal_type\":\"x\"}"), 200);
    assert_true(is_shown("one"));

    int fd = open(VIEW, O_WRONLY); /* in place, and of the same size */
    assert_int_equal(pwrite(fd, "?", 1, (off_t)(strstr(whole, "\"one\"") + 1 - whole)), 1);
    close(fd);
    assert_false(is_shown("one"));
    CHECK_REPLY(ask(h, HUB_EMIT, "bob", "{\"signal_type\":\"x\"}"), 200);
    assert_true(is_shown("one"));
    write_file(VIEW, "junk");
    hub_submit(h, NULL, 0, NULL, NULL); /* as `signal pump` does */
    char *again = read_file(VIEW, NULL);
    assert_string_equal(again, whole);
    free(whole);
    free(again);
    hub_close(h);
    h = open_lasting(); /* a server does it, too */
    remove_tree(VIEW);
    CHECK_REPLY(ask_on(h, HUB_EMIT, "bob", "{\"signal_type\":\"x\"}"), 200);
    hub_settle(h);
    assert_true(is_shown("one"));
    close_hub(h);
}

static struct sys sly;
static const struct sys *real;

static int
no_view(int from_dir, const char *from, int to_dir, const char *to)
{
    if (strcmp(to, "delayed.json") != 0)
        return real->renameat(from_dir, from, to_dir, to);
    errno = ENOSPC;
    return -1;
}

static void
one_that_cannot_be_written_is_tried_again_a_second_later(void **state)
{
    (void)state;
    fake_clock(T0);
    struct hub *h = open_lasting();
    fake_clock(T0 + 5 * S);
    real = sys;
    sly = *sys;
    sly.renameat = no_view;
    sys = &sly;
    schedule(h, "one");
    assert_int_equal(hub_delayed_file_in_ms(h), 1000);
    sys = real;
    fake_clock(T0 + 6 * S);
    assert_int_equal(hub_delayed_file_in_ms(h), 0);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_true(is_shown("one"));
    close_hub(h);
}

static int
is_killed(int from_dir, const char *from, int to_dir, const char *to)
{
    if (strcmp(to, "delayed.json") == 0)
        _exit(0);
    return real->renameat(from_dir, from, to_dir, to);
}

static void
whoever_is_killed_leaves_no_file_for_ever(void **state)
{
    int status;

    (void)state;
    fake_clock(T0);
    struct hub *h = open_hub();
    schedule(h, "one");
    hub_close(h);
    int files = count_files("config/signals");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        h = open_hub();
        real = sys;
        sly = *sys;
        sly.renameat = is_killed;
        sys = &sly;
        schedule(h, "two");
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_not_equal(count_files("config/signals"), files);
    h = open_hub();
    schedule(h, "three");
    assert_true(is_shown("two") && is_shown("three"));
    hub_close(h);
    assert_int_equal(count_files("config/signals"), files);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(who_stays_writes_it_once_a_second_and_at_its_end),
        CASE(others_write_it_at_once_beside_one_that_stays),
        CASE(what_a_killed_one_left_the_next_who_opens_it_writes),
        CASE(one_that_is_missing_or_was_changed_is_made_again_by_any_writer),
        CASE(one_that_cannot_be_written_is_tried_again_a_second_later),
        CASE(whoever_is_killed_leaves_no_file_for_ever),
    };

    return cmocka_run_group_tests_name("hub view", tests, NULL, NULL);
}
