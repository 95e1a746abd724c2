/* What must be true of hub/delayed and hub/source: the queue of delayed signals and its view. */
#include "hub/delayed.h"

#include "hub/when.h"
#include "test.h"

#define T(s) text_of(s)

static struct delayed_item
item_of(const char *id, const char *type, int64_t at, const char *key)
{
    return (struct delayed_item){ .id = T(id),
                                  .type = T(type),
                                  .repeat_key = T(key),
                                  .deliver_at_ms = at,
                                  .created_at_ms = 1,
                                  .updated_at_ms = 2 };
}

static void
add(struct delayed *q, const char *id, const char *type, int64_t at, const char *key)
{
    struct delayed_item item = item_of(id, type, at, key);
    struct err e;

    CHECK_OK(delayed_add(q, &item, &e), &e);
}

/* The ids in the order of the queue, "a b c"; valid until the next call. */
static const char *
ids(const struct delayed *q)
{
    static char text[4096];
    struct arena a = { 0 };
    const struct delayed_item **list = delayed_sorted(q, &a);
    size_t n = 0;

    assert_non_null(list);
    text[0] = '\0';
    for (size_t i = 0; i < q->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", i ? " " : "",
                              (int)list[i]->id.len, list[i]->id.p);
    arena_release(&a);
    return text;
}

static bool
is_id(const struct delayed_item *item, const char *id)
{
    return item ? text_same(item->id, T(id)) : !id;
}

static char *
view(const struct delayed *q)
{
    struct buf b = { 0 };
    struct err e;

    CHECK_OK(delayed_write(q, &b, &e), &e);
    CHECK_OK(buf_status(&b, "the view", &e), &e);
    return b.p;
}

static void
check_view(const struct delayed *q, const char *want)
{
    char *text = view(q);

    assert_string_equal(text, want);
    free(text);
}

static enum status
read_view(struct delayed *q, const char *text, struct err *e)
{
    return delayed_read(q, "delayed.json", text, strlen(text), e);
}

/* ---- order and time ---- */

static void
what_is_due_comes_by_time_then_type_then_id(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    assert_null(delayed_next(&q));
    assert_int_equal(delayed_wait_ms(&q, 0), -1);
    add(&q, "e", "b", 20, NULL);
    add(&q, "d", "a", 20, NULL);
    add(&q, "c", "a", 20, NULL);
    add(&q, "b", "z", 10, NULL);
    add(&q, "f", "a", 30, NULL);
    assert_string_equal(ids(&q), "b c d e f");
    assert_true(is_id(delayed_next(&q), "b"));
    assert_null(delayed_take_due(&q, 9)); /* never early */
    assert_true(is_id(delayed_take_due(&q, 20), "b"));
    assert_true(is_id(delayed_take_due(&q, 20), "c"));
    assert_true(is_id(delayed_take_due(&q, 20), "d"));
    assert_true(is_id(delayed_take_due(&q, 20), "e"));
    assert_null(delayed_take_due(&q, 20));
    delayed_settle(&q, true);
    assert_string_equal(ids(&q), "f");
    delayed_release(&q);
    delayed_release(&q);
}

static void
a_time_in_the_past_is_due_at_once(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    add(&q, "a", "t", 0, NULL);
    assert_int_equal(delayed_wait_ms(&q, 5000), 0);
    assert_true(is_id(delayed_take_due(&q, 5000), "a"));
    delayed_release(&q);
}

static void
the_wait_is_to_the_earliest_and_at_most_a_minute(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    add(&q, "a", "t", 100000, NULL);
    assert_int_equal(delayed_wait_ms(&q, 0), 60000);
    assert_int_equal(delayed_wait_ms(&q, 40000), 60000);
    assert_int_equal(delayed_wait_ms(&q, 40001), 59999);
    assert_int_equal(delayed_wait_ms(&q, 99999), 1);
    assert_int_equal(delayed_wait_ms(&q, INT64_MAX), 0);
    assert_int_equal(delayed_wait_ms(&q, -1), 60000);
    delayed_release(&q);
}

static void
a_failed_delivery_leaves_all_queued_and_a_good_one_removes_them(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    add(&q, "a", "t", 10, "k");
    add(&q, "b", "t", 20, NULL);
    add(&q, "c", "t", 30, NULL);
    assert_true(is_id(delayed_take_due(&q, 25), "a"));
    assert_true(is_id(delayed_take_due(&q, 25), "b"));
    assert_string_equal(ids(&q), "a b c"); /* still there for all to see */
    assert_true(is_id(delayed_next(&q), "c"));
    delayed_settle(&q, false);
    assert_true(is_id(delayed_take_due(&q, 25), "a"));
    assert_true(is_id(delayed_take_due(&q, 25), "b"));
    delayed_settle(&q, true);
    assert_string_equal(ids(&q), "c");
    assert_null(delayed_find(&q, T("a")));
    assert_non_null(delayed_find(&q, T("c")));
    delayed_release(&q);
}

static void
what_is_set_aside_can_be_cancelled_and_replaced(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    add(&q, "a", "t", 10, "k");
    add(&q, "b", "t", 10, NULL);
    add(&q, "c", "t", 10, NULL);
    while (delayed_take_due(&q, 10))
        ;
    assert_true(delayed_cancel(&q, T("b")));
    add(&q, "d", "t", 50, "k");
    assert_string_equal(ids(&q), "c d");
    assert_true(is_id(delayed_next(&q), "d"));
    delayed_settle(&q, false);
    assert_true(is_id(delayed_next(&q), "c"));
    delayed_release(&q);
}

/* ---- replacing and cancelling ---- */

static void
the_same_type_and_repeatKey_replace_the_older_one(void **state)
{
    struct delayed q = { 0 };

    (void)state;
    add(&q, "a", "agent:1:idle", 10, "lifecycle-idle");
    add(&q, "b", "agent:2:idle", 10, "lifecycle-idle");
    add(&q, "c", "agent:1:idle", 10, "other");
    add(&q, "d", "agent:1:idle", 10, NULL);
    add(&q, "e", " agent:1:idle ", 70, " lifecycle-idle ");
    assert_string_equal(ids(&q), "c d b e");
    assert_null(delayed_find(&q, T("a")));
    add(&q, "f", "agent:1:idle", 5, "  "); /* an empty key is none */
    add(&q, "g", "agent:1:idle", 5, "");
    assert_int_equal(q.n, 6);
    delayed_release(&q);
}

static void
cancelling_by_id_or_key_tells_what_was_removed(void **state)
{
    struct delayed q = { 0 };
    struct err e;
    size_t n;

    (void)state;
    add(&q, "a", "t", 10, "k");
    add(&q, "b", "u", 20, "k");
    add(&q, "c", "u", 30, "l");
    add(&q, "d", "v", 40, NULL);
    CHECK_OK(delayed_cancel_key(&q, T(" t "), T(" k "), &n, &e), &e);
    assert_int_equal(n, 1);
    CHECK_OK(delayed_cancel_key(&q, T("t"), T("k"), &n, &e), &e);
    assert_int_equal(n, 0);
    add(&q, "e", "t", 10, "k");
    CHECK_OK(delayed_cancel_key(&q, (struct text){ 0 }, T("k"), &n, &e), &e); /* any type */
    assert_int_equal(n, 2);
    assert_string_equal(ids(&q), "c d");
    assert_true(delayed_cancel(&q, T("d")));
    assert_false(delayed_cancel(&q, T("d")));
    assert_string_equal(ids(&q), "c");
    CHECK_FAILS(delayed_cancel_key(&q, T("t"), T(" "), &n, &e), ST_INVALID, &e,
                "Delayed signal repeatKey is required");
    CHECK_FAILS(delayed_cancel_key(&q, T(" "), T("k"), &n, &e), ST_INVALID, &e,
                "Delayed signal type is required");
    delayed_release(&q);
}

static void
what_breaks_a_rule_is_refused_and_changes_nothing(void **state)
{
    struct delayed q = { 0 };
    struct delayed_item x;
    struct err e;
    char deep[2 * JSON_MAX_DEPTH + 1];

    (void)state;
    add(&q, "a", "t", 10, "k");
#define REFUSED(change, status, sentence)                                                          \
    do {                                                                                           \
        x = item_of("b", "t", 10, "k");                                                            \
        change;                                                                                    \
        CHECK_FAILS(delayed_add(&q, &x, &e), status, &e, sentence);                                \
        assert_string_equal(ids(&q), "a");                                                         \
    } while (0)
    REFUSED(x.type = T("  "), ST_INVALID, "Delayed signal type is required");
    REFUSED(x.id = T(""), ST_INVALID, "Delayed signal id is required");
    REFUSED(x.id = T("a"), ST_CONFLICT, "a delayed signal with the id a is queued already");
    REFUSED(x.deliver_at_ms = -1, ST_INVALID, "Delayed signal deliverAt must be positive");
    REFUSED(x.deliver_at_ms = WHEN_MAX_MS + 1, ST_INVALID,
            "Delayed signal deliverAt must be a finite unix timestamp");
    REFUSED(x.type = T("\xFF"), ST_INVALID, "Delayed signal type is not UTF-8");
    REFUSED(x.repeat_key = T("\xFF"), ST_INVALID, "Delayed signal repeatKey is not UTF-8");
    REFUSED(x.data = T("{]"), ST_INVALID,
            "Delayed signal data:1:2: expected a key in double quotes");
    REFUSED(x.source.kind = SOURCE_AGENT, ST_INVALID, "Agent signal source id is required");
    memset(deep, '[', DELAYED_DATA_DEPTH + 1);
    memset(deep + DELAYED_DATA_DEPTH + 1, ']', DELAYED_DATA_DEPTH + 1);
    REFUSED(x.data = ((struct text){ deep, 2 * (DELAYED_DATA_DEPTH + 1) }), ST_INVALID,
            "Delayed signal data is nested more than 125 deep");
    x.data = (struct text){ deep + 1, 2 * DELAYED_DATA_DEPTH }; /* what is left can be read again */
    CHECK_OK(delayed_add(&q, &x, &e), &e);
    char *text = view(&q);
    delayed_release(&q);
    CHECK_OK(read_view(&q, text, &e), &e);
    free(text);
    delayed_release(&q);
}

static void
a_large_queue_keeps_its_order_through_all_changes(void **state)
{
    enum { N = 3000 };
    struct delayed q = { 0 };
    char id[16], key[16];
    unsigned seed = 7;

    (void)state;
    for (int i = 0; i < 4 * N; i++) {
        snprintf(id, sizeof id, "i%d", i);
        snprintf(key, sizeof key, "k%d", rand_r(&seed) % N);
        add(&q, id, "t", rand_r(&seed) % 1000, rand_r(&seed) % 2 ? key : NULL);
        snprintf(id, sizeof id, "i%d", rand_r(&seed) % (i + 1));
        delayed_cancel(&q, T(id));
        if (i % 100 == 0) {
            while (delayed_take_due(&q, rand_r(&seed) % 50))
                ;
            delayed_settle(&q, rand_r(&seed) % 2);
        }
    }
    struct delayed_item last = { .deliver_at_ms = -1 };
    size_t left = q.n;
    for (const struct delayed_item *x; (x = delayed_take_due(&q, 1000)); left--) {
        assert_true(x->deliver_at_ms > last.deliver_at_ms ||
                    (x->deliver_at_ms == last.deliver_at_ms && text_compare(x->id, last.id) > 0));
        last = *x;
    }
    assert_int_equal(left, 0);
    delayed_settle(&q, true);
    assert_int_equal(q.n, 0);
    assert_null(q.by_id);
    assert_null(q.by_key);
    delayed_release(&q);
}

/* ---- the view ---- */

static const char full_view[] = "{\n"
                                "  \"version\": 1,\n"
                                "  \"events\": [\n"
                                "    {\n"
                                "      \"id\": \"b\",\n"
                                "      \"type\": \"agent:x:idle\",\n"
                                "      \"deliverAt\": 1775215174499,\n"
                                "      \"source\": {\n"
                                "        \"type\": \"agent\",\n"
                                "        \"id\": \"x\"\n"
                                "      },\n"
                                "      \"data\": {\n"
                                "        \"agentId\": \"x\",\n"
                                "        \"list\": [\n"
                                "          1,\n"
                                "          {}\n"
                                "        ]\n"
                                "      },\n"
                                "      \"repeatKey\": \"lifecycle-idle\",\n"
                                "      \"createdAt\": 1,\n"
                                "      \"updatedAt\": 2\n"
                                "    },\n"
                                "    {\n"
                                "      \"id\": \"a\",\n"
                                "      \"type\": \"t\",\n"
                                "      \"deliverAt\": 1775215174500,\n"
                                "      \"source\": {\n"
                                "        \"type\": \"system\"\n"
                                "      },\n"
                                "      \"createdAt\": 1,\n"
                                "      \"updatedAt\": 2\n"
                                "    }\n"
                                "  ]\n"
                                "}\n";

static void
the_view_is_pretty_and_sorted(void **state)
{
    struct delayed q = { 0 };
    struct err e;

    (void)state;
    check_view(&q, "{\n  \"version\": 1,\n  \"events\": []\n}\n");
    add(&q, "a", "t", 1775215174500, NULL);
    struct delayed_item x = item_of("b", "agent:x:idle", 1775215174499, "lifecycle-idle");
    x.source = (struct source){ SOURCE_AGENT, T(" x ") };
    x.data = T(" {\"agentId\":\"x\", \"list\":[1,{}]}");
    CHECK_OK(delayed_add(&q, &x, &e), &e);
    check_view(&q, full_view);
    assert_true(is_id(delayed_take_due(&q, 1775215174499), "b"));
    check_view(&q, full_view); /* until it is settled */
    delayed_release(&q);
}

static void
what_was_written_is_read_back_after_a_restart(void **state)
{
    struct delayed q = { 0 };
    struct err e;
    size_t n;

    (void)state;
    CHECK_OK(read_view(&q, full_view, &e), &e);
    check_view(&q, full_view);
    const struct delayed_item *b = delayed_find(&q, T("b"));
    assert_non_null(b);
    assert_true(text_same(b->data, T("{\"agentId\":\"x\",\"list\":[1,{}]}")));
    assert_true(text_same(b->source.id, T("x")));
    assert_int_equal(b->updated_at_ms, 2);
    CHECK_OK(delayed_cancel_key(&q, T("agent:x:idle"), T("lifecycle-idle"), &n, &e), &e);
    assert_int_equal(n, 1);
    delayed_release(&q);
    CHECK_OK(read_view(&q, "{\"version\":1,\"events\":[]}", &e), &e);
    assert_int_equal(q.n, 0);
    delayed_release(&q);
}

#define EVENTS(list) "{\"version\":1,\"events\":[" list "]}"
#define SYSTEM       "\"source\":{\"type\":\"system\"}"
#define REST         "\"createdAt\":1,\"updatedAt\":2"
#define GOOD(id)     "{\"id\":\"" id "\",\"type\":\"t\",\"deliverAt\":5," SYSTEM "," REST "}"
#define KEYED(id)                                                                                  \
    "{\"id\":\"" id "\",\"type\":\"t\",\"deliverAt\":5,\"repeatKey\":\"k\"," SYSTEM "," REST "}"

static void
a_damaged_file_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        { "", "1:1: the text ends too early" },
        { "{\"version\":1,\n\"events\":[", "2:11: the text ends too early" },
        { "null", "1:1: must be an object" },
        { "[]", "1:1: must be an object" },
        { "{}", "1:1: version is missing" },
        { "{\"version\":1}", "1:1: events is missing" },
        { "{\"version\":2,\"events\":[]}", "1:2: version must be 1" },
        { "{\"version\":1,\"events\":{}}", "1:14: events must be a list" },
        { "{\"version\":1,\"events\":[],\n  \"more\\n\":0}", "2:3: unknown key \"more\\n\"" },
        { EVENTS("\n  null"), "2:3: must be an object" },
        { EVENTS(GOOD("a") ",\n 5"), "2:2: must be an object" },
        { EVENTS("\n{}"), "2:1: id is missing" },
        { EVENTS("{\"id\":5}"), "1:25: id must be a string that is not empty" },
        { EVENTS("{\"id\":\"\"}"), "1:25: id must be a string that is not empty" },
        { EVENTS("{\"type\":\" t\"}"), "1:25: type must have no white space around it" },
        { EVENTS("{\"repeatKey\":null}"), "1:25: repeatKey must be a string that is not empty" },
        { EVENTS("{\"deliverAt\":1.5}"),
          "1:25: deliverAt must be a whole number of milliseconds since 1970" },
        { EVENTS("{\"updatedAt\":-1}"),
          "1:25: updatedAt must be a whole number of milliseconds since 1970" },
        { EVENTS("{\"id\":\"a\",\"type\":\"t\",\"deliverAt\":5," REST "}"),
          "1:24: source is missing" },
        { EVENTS("{\"id\":\"a\",\"type\":\"t\",\"deliverAt\":5,\n\"source\":{\"type\":\"system\","
                 "\"userId\":\"u\"}," REST "}"),
          "2:1: Signal source has an unknown key: userId" },
        { EVENTS(
              "{\"id\":\"a\",\"type\":\"t\",\"deliverAt\":5,\n\"source\":{\"type\":\"moon\"}," REST
              "}"),
          "2:1: Unsupported signal source type: moon" },
        { EVENTS(GOOD("a") ",\n" GOOD("a")),
          "2:1: a delayed signal with the id a is queued already" },
        { EVENTS(KEYED("a") ",\n" KEYED("b")),
          "2:1: an event before has the same type and repeatKey" },
    };
    struct delayed q = { 0 };
    struct err e;
    char want[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(want, sizeof want, "delayed.json:%s", bad[i].sentence);
        CHECK_FAILS(read_view(&q, bad[i].text, &e), ST_INVALID, &e, want);
        assert_int_equal(q.n, 0);
        CHECK_FAILS(read_view(&q, bad[i].text, &e), ST_INVALID, &e, want); /* nor the second time */
    }
    delayed_release(&q);
}

static void
every_torn_view_is_refused(void **state)
{
    struct delayed q = { 0 };
    struct err e;

    (void)state;
    for (size_t len = 0; len < sizeof full_view - 2; len++)
        assert_int_equal(delayed_read(&q, "d", full_view, len, &e), ST_INVALID);
    CHECK_OK(delayed_read(&q, "d", full_view, sizeof full_view - 2, &e), &e); /* the last '\n' */
    delayed_release(&q);
}

/* ---- sources ---- */

static enum status
read_source(const char *text, struct source *out, struct err *e)
{
    static struct arena a;
    struct json *v = NULL;

    arena_release(&a);
    assert_true(!text || json_parse(&a, text, strlen(text), &v, NULL));
    return source_read(v, out, e);
}

static void
sources_are_system_agent_webhook_or_process(void **state)
{
    struct source s;
    struct err e;

    (void)state;
    CHECK_OK(read_source(NULL, &s, &e), &e);
    assert_int_equal(s.kind, SOURCE_SYSTEM);
    CHECK_OK(read_source("{\"type\":\"agent\",\"id\":\" a \"}", &s, &e), &e);
    assert_int_equal(s.kind, SOURCE_AGENT);
    assert_true(text_same(s.id, T("a")));
    CHECK_OK(read_source("{\"type\":\"webhook\"}", &s, &e), &e);
    assert_string_equal(source_name(s.kind), "webhook");
    CHECK_OK(read_source("{\"id\":\"p\",\"type\":\"process\"}", &s, &e), &e);
    assert_true(text_same(s.id, T("p")));
    CHECK_FAILS(read_source("{\"type\":\"agent\"}", &s, &e), ST_INVALID, &e,
                "Agent signal source id is required");
    CHECK_FAILS(read_source("{\"type\":\"agent\",\"id\":\" \"}", &s, &e), ST_INVALID, &e,
                "Agent signal source id is required");
    CHECK_FAILS(read_source("{\"type\":\"X\"}", &s, &e), ST_INVALID, &e,
                "Unsupported signal source type: X");
    CHECK_FAILS(read_source("{\"id\":\"x\"}", &s, &e), ST_INVALID, &e,
                "Signal source type is required");
    CHECK_FAILS(read_source("\"system\"", &s, &e), ST_INVALID, &e,
                "Signal source must be an object");
    CHECK_FAILS(read_source("{\"type\":\"system\",\"id\":\"x\"}", &s, &e), ST_INVALID, &e,
                "System signal source has no id");
    CHECK_FAILS(read_source("{\"type\":\"webhook\",\"id\":5}", &s, &e), ST_INVALID, &e,
                "Signal source id must be a string");
    read_source(NULL, &s, &e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_due_comes_by_time_then_type_then_id),
        CASE(a_time_in_the_past_is_due_at_once),
        CASE(the_wait_is_to_the_earliest_and_at_most_a_minute),
        CASE(a_failed_delivery_leaves_all_queued_and_a_good_one_removes_them),
        CASE(what_is_set_aside_can_be_cancelled_and_replaced),
        CASE(the_same_type_and_repeatKey_replace_the_older_one),
        CASE(cancelling_by_id_or_key_tells_what_was_removed),
        CASE(what_breaks_a_rule_is_refused_and_changes_nothing),
        CASE(a_large_queue_keeps_its_order_through_all_changes),
        CASE(the_view_is_pretty_and_sorted),
        CASE(what_was_written_is_read_back_after_a_restart),
        CASE(a_damaged_file_is_refused_with_its_place),
        CASE(every_torn_view_is_refused),
        CASE(sources_are_system_agent_webhook_or_process),
    };
    return cmocka_run_group_tests_name("delayed", tests, NULL, NULL);
}
