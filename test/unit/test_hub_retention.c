/*
 * Dropping old segments: what lasts of them is kept, what ended does not come back, and the log is
 * the old one or the new one.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

#include "base/sys.h"
#include "log/segment.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#define SIGNALS "config/signals"

static struct err e;

static struct hub *
open_small(void)
{
    struct hub_options o = { .rotate_bytes = 3000, .lock_wait_ms = 50 };
    struct hub *h;

    CHECK_OK(hub_open(&h, "config", &o, &e), &e);
    return h;
}

/* Some 30 signals that are over: more than two segments. */
static void
fill(struct hub *h)
{
    for (int i = 0; i < 10; i++) {
        const char *id = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");
        claim(h, "bob", id);
        CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), 200);
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    }
}

/* The files whose names begin so: how many, and the last one's path. */
static int
find_files(const char *begin, char path[300])
{
    DIR *d = opendir(SIGNALS);
    int n = 0;

    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));)
        if (strncmp(f->d_name, begin, strlen(begin)) == 0) {
            n++;
            if (path)
                snprintf(path, 300, SIGNALS "/%s", f->d_name);
        }
    closedir(d);
    return n;
}

static const char *
kept_path(void)
{
    static char path[300];

    assert_int_equal(find_files("events-kept", path), 1);
    return path;
}

static bool
is_kept(const char *text)
{
    size_t n;
    char *all = read_file(kept_path(), &n);
    bool is_there = strstr(all, text) != NULL;

    free(all);
    return is_there;
}

/* Whatever does not depend on signals, as the hub tells it; free() it. */
static char *
who_is_who(struct hub *h)
{
    static const enum hub_op ops[] = { HUB_IDENTITIES, HUB_ROLES,         HUB_RINGS,
                                       HUB_KEYS,       HUB_SUBSCRIPTIONS, HUB_DELAYED };
    struct buf b = { 0 };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        buf_addf(&b, "%s\n", data(ask(h, ops[i], "!root", "{}")));
    return b.p;
}

static void
tell(void *ctx, const struct hub_finding *f)
{
    (void)ctx;
    fprintf(stderr, "# %s:%ju: %s\n", f->file ? f->file : "", (uintmax_t)f->line, f->reason);
}

static void
check_clean(struct hub *h)
{
    uint64_t problems;

    CHECK_OK(hub_check(h, tell, NULL, &problems, &e), &e);
    assert_int_equal(problems, 0);
}

static uint64_t
compact(struct hub *h)
{
    uint64_t dropped;

    CHECK_OK(hub_compact(h, 3600000, &dropped, &e), &e);
    return dropped;
}

static uint64_t
first_seq(struct hub *h)
{
    struct hub_stats s;

    CHECK_OK(hub_stats(h, &s, &e), &e);
    return s.first_seq;
}

/* Does it say the same, also when everything is folded anew? Gives the hub back, opened again. */
static struct hub *
check_same(struct hub *h, const char *want)
{
    for (int i = 0; i < 3; i++) {
        char *now = who_is_who(h);
        assert_string_equal(now, want);
        free(now);
        check_clean(h);
        if (i == 0) {
            CHECK_OK(hub_rebuild(h, &e), &e);
        } else if (i == 1) {
            hub_close(h);
            remove_tree(SIGNALS "/index.db");
            h = open_small();
        }
    }
    return h;
}

static const char *
new_key(struct hub *h, const char *who, const char **id)
{
    struct hub_reply *r = ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"%s\"}", who);

    CHECK_REPLY(r, 200);
    *id = got(r, "id");
    return got(r, "key");
}

static enum status
try_key(struct hub *h, const char *key)
{
    struct arena a = { 0 };
    const char *identity;
    unsigned scopes;
    enum status s = hub_check_key(h, key, &a, &identity, &scopes, &e);

    arena_release(&a);
    return s;
}

static void
later(int hours)
{
    fake_clock(T0 + hours * 3600 * S);
}

static void
what_lasts_is_kept_and_keeps_no_segment(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    const char *id, *key = new_key(h, "bob", &id);

    CHECK_REPLY(
        ask(h, HUB_IDENTITY_ADD, "!root", "{\"id\":\"bob\",\"agent\":\"exec\",\"dir\":\"/\"}"),
        200);
    CHECK_REPLY(ask(h, HUB_IDENTITY_ADD, "!root", "{\"id\":\"bob\",\"name\":\"Bob\"}"), 200);
    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\",\"purpose\":\"p\"}"), 200);
    CHECK_REPLY(ask(h, HUB_RING_ADD, "!root", "{\"id\":\"ops\",\"name\":\"Ops\"}"), 200);
    CHECK_REPLY(ask(h, HUB_FILL, "!root", "{\"identity\":\"bob\",\"role\":\"dev\"}"), 200);
    CHECK_REPLY(ask(h, HUB_JOIN, "!root", "{\"identity\":\"bob\",\"ring\":\"ops\"}"), 200);
    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob",
                    "{\"type\":\"later\",\"deliverAt\":\"+1d\",\"repeatKey\":\"k\"}"),
                200);
    append_file(HUB_LOG, "{\"op\":\"woken\",\"identity\":\"bob\",\"upto\":8}\n"
                         "{\"op\":\"woken\",\"identity\":\"bob\",\"upto\":9}\n");
    fill(h);
    const char *open = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_role\":\"dev\"}");
    fill(h);
    later(2);
    char *before = who_is_who(h);
    assert_true(compact(h) > 0);
    uint64_t first = first_seq(h);
    assert_true(first > 1);
    assert_int_equal(access(SIGNALS "/events-1.jsonl", F_OK), -1);
    assert_true(is_kept("\"upto\":9") && !is_kept("\"upto\":8"));
    h = check_same(h, before);
    CHECK_OK(try_key(h, key), &e);
    assert_string_equal(each(ask(h, HUB_INBOX, "bob", "{\"target\":\"dev\"}"), "id"), open);

    /* Once more, with what waited over. */
    claim(h, "bob", open);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", open), 200);
    fill(h);
    later(4);
    assert_true(compact(h) > 0);
    assert_true(first_seq(h) > first);
    h = check_same(h, before);
    CHECK_OK(try_key(h, key), &e);
    CHECK_REPLY(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", open), 404);
    kept_path();
    assert_int_equal(compact(h), 0);

    later(30); /* what is kept is still done */
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_DELAYED, "bob", "{}"), "type"), "");
    fill(h);
    later(60);
    assert_true(compact(h) > 0);
    assert_false(is_kept("schedule"));
    check_clean(h);
    free(before);
    close_hub(h);
}

static void
what_ended_leaves_nothing_behind_and_does_not_come_back(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    const char *gone_id, *late_id, *here_id;
    const char *gone = new_key(h, "eve", &gone_id), *late = new_key(h, "eve", &late_id);
    const char *here = new_key(h, "bob", &here_id);

    CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", gone_id), 200);
    /* The second replaces the first, and is delivered: then there is neither. */
    for (int i = 1; i < 3; i++)
        CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob",
                        "{\"type\":\"again\",\"deliverAt\":\"+%ds\",\"repeatKey\":\"k\"}", i),
                    200);
    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob",
                    "{\"type\":\"never\",\"deliverAt\":\"+9d\",\"repeatKey\":\"n\"}"),
                200);
    CHECK_REPLY(ask(h, HUB_CANCEL, "bob", "{\"repeatKey\":\"n\"}"), 200);
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\"a:*\"}"), 200);
    CHECK_REPLY(ask(h, HUB_UNSUBSCRIBE, "bob", "{\"pattern\":\"a:*\"}"), 200);
    CHECK_REPLY(ask(h, HUB_SUBSCRIBE, "bob", "{\"pattern\":\"b:*\"}"), 200);
    fake_clock(T0 + 5 * S);
    hub_submit(h, NULL, 0, NULL, NULL);
    fill(h);
    /* These end in a segment that stays. */
    const char *open = emit(h, "ruby", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");
    CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", late_id), 200);
    CHECK_REPLY(ask(h, HUB_UNSUBSCRIBE, "bob", "{\"pattern\":\"b:*\"}"), 200);
    fill(h);
    later(2);
    char *before = who_is_who(h);
    assert_true(compact(h) > 0);
    assert_true(is_kept(here_id) && is_kept(late_id) && is_kept("b:*"));
    assert_false(is_kept(gone_id) || is_kept("a:*") || is_kept("again") || is_kept("never"));
    h = check_same(h, before);
    assert_int_equal(try_key(h, gone), ST_NOT_FOUND);
    assert_int_equal(try_key(h, late), ST_NOT_FOUND);
    CHECK_OK(try_key(h, here), &e);

    claim(h, "bob", open);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", open), 200);
    fill(h);
    later(4);
    assert_true(compact(h) > 0);
    assert_true(is_kept(here_id));
    assert_false(is_kept(late_id) || is_kept("b:*"));
    h = check_same(h, before);
    assert_int_equal(try_key(h, late), ST_NOT_FOUND);
    free(before);
    close_hub(h);
}

/* The same id for another key, and for another schedule: who made what is there, is kept. */
static void
the_line_that_made_it_is_kept_whatever_had_the_name_before(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();

    append_file(HUB_LOG,
                "{\"op\":\"key\",\"id\":\"k\",\"identity\":\"eve\",\"hash\":\"one\"}\n"
                "{\"op\":\"revoke\",\"id\":\"k\"}\n"
                "{\"op\":\"key\",\"id\":\"k\",\"identity\":\"bob\",\"hash\":\"two\"}\n"
                "{\"op\":\"key\",\"id\":\"k\",\"identity\":\"eve\",\"hash\":\"three\"}\n"
                "{\"op\":\"schedule\",\"id\":\"s\",\"type\":\"t\",\"deliverAt\":9000000000001,"
                "\"repeatKey\":\"r\"}\n"
                "{\"op\":\"schedule\",\"id\":\"z\",\"type\":\"t\",\"deliverAt\":9000000000002,"
                "\"repeatKey\":\"r\"}\n"
                "{\"op\":\"schedule\",\"id\":\"s\",\"type\":\"t\",\"deliverAt\":9000000000003,"
                "\"repeatKey\":\"r\"}\n"
                "{\"op\":\"identity\",\"id\":\"bob\",\"seq\":77}\n");
    fill(h);
    later(2);
    char *before = who_is_who(h);
    assert_non_null(strstr(before, "9000000000003"));
    assert_true(compact(h) > 0);
    assert_true(is_kept("\"two\"") && is_kept("9000000000003"));
    assert_false(is_kept("\"one\"") || is_kept("\"three\"") || is_kept("\"z\""));
    h = check_same(h, before);
    free(before);
    close_hub(h);
}

/* Ends the file that is written to, as its size would. */
static void
rotate(void)
{
    int dir = open(SIGNALS, O_RDONLY | O_DIRECTORY);
    struct log l;

    CHECK_OK(log_open(&l, dir, NAME, &sequenced, &e), &e);
    CHECK_OK(log_lock(&l, &e), &e);
    CHECK_OK(segment_rotate(&l, &e), &e);
    log_close(&l);
    close(dir);
}

/* A foreign line without a time takes the latest before it, whatever of that was dropped. */
static void
lines_that_tell_no_time_keep_theirs(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    append_file(HUB_LOG, "{\"op\":\"role\",\"id\":\"foreign\"}\n");
    fake_clock(T0 + 60 * S);
    CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    hub_close(h);
    rotate();
    append_file(HUB_LOG, "{\"type\":\"task\",\"id\":\"late\"}\n");
    h = open_small();
    fill(h);
    later(2);
    char *before = who_is_who(h);
    char *task = strdup(data(ask(h, HUB_GET, "bob", "{\"id\":\"late\"}")));
    assert_true(compact(h) > 0);
    assert_int_equal(first_seq(h), 5);
    assert_true(is_kept("\"id\":\"foreign\",\"at\":1775215174000,\"seq\":2,"));
    assert_true(is_kept("{\"op\":\"kept\",\"at\":1775215234000,\"seq\":4,"));
    h = check_same(h, before);
    assert_string_equal(data(ask(h, HUB_GET, "bob", "{\"id\":\"late\"}")), task);
    free(task);
    free(before);
    close_hub(h);
}

/* Killed before the segments were removed: they are no part of the log, and go the next time. */
static void
segments_that_were_dropped_but_not_removed_do_not_count(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    const char *id, *key = new_key(h, "eve", &id);
    size_t n;

    fill(h);
    CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", id), 200);
    fill(h);
    later(2);
    char *oldest = read_file(SIGNALS "/events-1.jsonl", &n);
    assert_true(compact(h) > 0);
    uint64_t first = first_seq(h);
    char *before = who_is_who(h);
    write_file(SIGNALS "/events-1.jsonl", oldest);
    write_file(SIGNALS "/events-kept-2.jsonl", "{\"op\":\"role\",\"id\":\"ghost\"}\n");
    write_file(SIGNALS "/events-kept.tmp", "{\"op\":\"role\",\"id\":\"ghost\"}\n");
    assert_int_equal(first_seq(h), first);
    h = check_same(h, before);
    assert_int_equal(first_seq(h), first);
    assert_int_equal(try_key(h, key), ST_NOT_FOUND);
    assert_int_equal(compact(h), n + strlen("{\"op\":\"role\",\"id\":\"ghost\"}\n"));
    assert_int_equal(access(SIGNALS "/events-1.jsonl", F_OK), -1);
    kept_path();
    free(before);
    free(oldest);
    close_hub(h);
}

static void
a_damaged_line_of_what_is_kept_is_told_and_costs_itself_alone(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    size_t n;
    uint64_t problems;

    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"one\"}"), 200);
    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"two\"}"), 200);
    fill(h);
    later(2);
    assert_true(compact(h) > 0);
    char *all = read_file(kept_path(), &n);
    memcpy(strstr(all, "\"one\""), "\"ONE\"", 5);
    memcpy(strstr(all, "\"kept\""), "\"KEPT\"", 6);
    write_file(kept_path(), all);
    free(all);
    CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
    assert_true(problems >= 2);
    char *list = strdup(data(ask(h, HUB_EVENTS, "bob", "{}")));
    CHECK_OK(hub_rebuild(h, &e), &e);
    assert_string_equal(each(ask(h, HUB_ROLES, "bob", "{}"), "id"), "two");
    assert_string_equal(data(ask(h, HUB_EVENTS, "bob", "{}")), list); /* all segments are there */
    free(list);
    close_hub(h);
}

static void
what_is_kept_is_told_when_its_end_is_missing(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    size_t n;
    uint64_t problems;

    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"one\"}"), 200);
    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"two\"}"), 200);
    fill(h);
    later(2);
    assert_true(compact(h) > 0);
    char *all = read_file(kept_path(), &n);
    for (int lines = 0; lines < 3; lines++) { /* not even the index remembers the others */
        const char *end = all;
        for (int i = 0; i < lines; i++)
            end = strchr(end, '\n') + 1;
        char *begin = strndup(all, (size_t)(end - all));
        write_file(kept_path(), begin);
        free(begin);
        CHECK_OK(hub_rebuild(h, &e), &e);
        CHECK_OK(hub_check(h, NULL, NULL, &problems, &e), &e);
        assert_true(problems > 0);
    }
    write_file(kept_path(), all);
    CHECK_OK(hub_rebuild(h, &e), &e);
    check_clean(h);
    free(all);
    close_hub(h);
}

static void
a_retry_of_what_could_be_dropped_is_still_one(void **state)
{
    static const char once[] =
        "{\"signal_type\":\"task\",\"to_identity\":\"bob\",\"dedup_key\":\"k\"}";

    (void)state;
    later(0);
    struct hub *h = open_small();
    char *id = strdup(emit(h, "ruby", once));
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", id), 200);
    fill(h);
    later(23);
    assert_int_equal(compact(h), 0);
    assert_string_equal(emit(h, "ruby", once), id);
    later(25);
    assert_true(compact(h) > 0);
    assert_string_not_equal(emit(h, "ruby", once), id);
    free(id);
    close_hub(h);
}

/* One that has the store open while another drops what is old. */
static void
others_go_on(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small(), *other = open_small();
    const char *id, *key = new_key(h, "bob", &id);

    CHECK_REPLY(ask(h, HUB_ROLE_ADD, "!root", "{\"id\":\"dev\"}"), 200);
    fill(h);
    fill(other);
    later(2);
    const char *open = emit(other, "ruby", "{\"signal_type\":\"task\",\"to_identity\":\"bob\"}");
    assert_true(hub_oldest_seq(other) == 1);
    assert_true(compact(h) > 0);
    CHECK_OK(try_key(other, key), &e);
    assert_true(hub_oldest_seq(other) > 1);
    claim(other, "bob", open);
    CHECK_REPLY(ask(h, HUB_ACK, "bob", "{\"signal_id\":\"%s\"}", open), 200);
    fill(other);
    CHECK_REPLY(ask(other, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", id), 200);
    assert_int_equal(try_key(h, key), ST_NOT_FOUND);
    check_clean(h);
    check_clean(other);
    hub_close(other);
    close_hub(h);
}

/* ---- at random ---- */

static unsigned
some(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16 & 0x7fff) % n;
}

/* A foreign line about one of few, so that names come again and lines do not fit. */
static void
say_something(unsigned *seed)
{
    unsigned n = some(seed, 3), m = some(seed, 2), hash = some(seed, 4), at = some(seed, 90);
    char line[200];

    switch (some(seed, 10)) {
    case 0:
    case 1:
        snprintf(line, sizeof line,
                 "{\"op\":\"key\",\"id\":\"k%u\",\"identity\":\"i%u\",\"hash\":\"h%u\"}\n", n, m,
                 hash);
        break;
    case 2:
        snprintf(line, sizeof line, "{\"op\":\"revoke\",\"id\":\"k%u\"}\n", n);
        break;
    case 3:
    case 4:
        snprintf(
            line, sizeof line,
            "{\"op\":\"schedule\",\"id\":\"s%u\",\"type\":\"t%u\",\"deliverAt\":90000000000%02u"
            ",\"repeatKey\":\"r\"}\n",
            n, m, at);
        break;
    case 5:
        snprintf(line, sizeof line, "{\"op\":\"%s\",\"id\":\"s%u\"}\n", m ? "cancel" : "deliver",
                 n);
        break;
    case 6:
        snprintf(line, sizeof line,
                 "{\"op\":\"subscribe\",\"by\":\"i%u\",\"pattern\":\"p:%u\",\"silent\":%s}\n", n, m,
                 at % 2 ? "true" : "false");
        break;
    case 7:
        snprintf(line, sizeof line,
                 "{\"op\":\"unsubscribe\",\"by\":\"i%u\",\"pattern\":\"p:%u\"}\n", n, m);
        break;
    case 8:
        snprintf(line, sizeof line,
                 "{\"op\":\"identity\",\"id\":\"i%u\",\"name\":\"n%u\",\"dir\":\"/%u\"}\n", n, m,
                 at);
        break;
    default:
        snprintf(line, sizeof line, "{\"op\":\"fill\",\"identity\":\"i%u\",\"role\":\"r%u\"}\n", n,
                 m);
    }
    append_file(HUB_LOG, line);
}

static void
whatever_happened_who_is_who_stays_the_same(void **state)
{
    uint64_t dropped = 0;

    (void)state;
    later(0);
    struct hub *h = open_small();
    for (unsigned round = 1, seed = 7; round <= 12; round++) {
        for (int i = 0; i < 60; i++) {
            say_something(&seed);
            if (i % 6 == 0)
                CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"p:0\"}"), 200);
        }
        for (int i = 0; i < 6; i++) { /* they would keep everything; but later segments have that */
            char line[100];
            snprintf(line, sizeof line,
                     "{\"op\":\"unsubscribe\",\"by\":\"i%d\",\"pattern\":\"p:%d\"}\n", i / 2,
                     i % 2);
            append_file(HUB_LOG, line);
        }
        later(2 * (int)round);
        char *before = who_is_who(h);
        dropped += compact(h);
        h = check_same(h, before);
        free(before);
        forget_answers();
    }
    assert_true(dropped > 20000);
    close_hub(h);
}

static void
a_last_line_of_a_segment_that_is_damaged_costs_no_other_segment(void **state)
{
    (void)state;
    later(0);
    struct hub *h = open_small();
    size_t n;

    fill(h);
    fill(h);
    struct hub_stats was, is;
    CHECK_OK(hub_stats(h, &was, &e), &e);
    char *all = read_file(SIGNALS "/events-1.jsonl", &n);
    memcpy(strstr(all, "\"rotate\""), "\"ROTATE\"", 8);
    write_file(SIGNALS "/events-1.jsonl", all);
    free(all);
    CHECK_OK(hub_rebuild(h, &e), &e);
    CHECK_OK(hub_stats(h, &is, &e), &e);
    assert_int_equal(is.signals, was.signals);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_lasts_is_kept_and_keeps_no_segment),
        CASE(what_ended_leaves_nothing_behind_and_does_not_come_back),
        CASE(the_line_that_made_it_is_kept_whatever_had_the_name_before),
        CASE(lines_that_tell_no_time_keep_theirs),
        CASE(segments_that_were_dropped_but_not_removed_do_not_count),
        CASE(a_damaged_line_of_what_is_kept_is_told_and_costs_itself_alone),
        CASE(what_is_kept_is_told_when_its_end_is_missing),
        CASE(a_retry_of_what_could_be_dropped_is_still_one),
        CASE(others_go_on),
        CASE(whatever_happened_who_is_who_stays_the_same),
        CASE(a_last_line_of_a_segment_that_is_damaged_costs_no_other_segment),
    };

    return cmocka_run_group_tests_name("hub compact", tests, NULL, NULL);
}
