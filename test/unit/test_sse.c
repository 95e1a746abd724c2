/* Tests net/sse: events by the rules of HTML, however the bytes are split. */
#include "test.h"

#include "net/sse.h"

/* "TYPE|ID|DATA;" of every event, and at the end "@ID" and the retry. */
static void
tell(struct sse *s, const char *p, size_t n, struct buf *got)
{
    size_t used;

    for (;;) {
        enum sse_result r = sse_feed(s, p, n, &used);
        assert_true(used <= n);
        p += used;
        n -= used;
        if (r == SSE_MORE)
            break;
        assert_int_equal(r, SSE_EVENT);
        buf_addf(got, "%s|%s|%s;", sse_text(&s->type), sse_text(&s->id), sse_text(&s->data));
    }
    assert_int_equal(n, 0);
}

static void
check(const char *text, size_t len, const char *want)
{
    /* whole, byte by byte, and split in two at every byte */
    for (size_t cut = 0; cut <= len + 1; cut++) {
        struct sse s = { 0 };
        struct buf got = { 0 };
        if (cut > len) {
            for (size_t i = 0; i < len; i++)
                tell(&s, text + i, 1, &got);
        } else {
            tell(&s, text, cut, &got);
            tell(&s, text + cut, len - cut, &got);
        }
        buf_addf(&got, "@%s", sse_text(&s.id));
        if (s.retry_ms)
            buf_addf(&got, " %d", (int)s.retry_ms);
        assert_string_equal(got.p, want);
        buf_release(&got);
        sse_release(&s);
    }
}
#define CHECK(text, want) check("" text, sizeof text - 1, want)

static void
events_are_parsed_by_the_rules_of_HTML(void **state)
{
    (void)state;
    CHECK("", "@");
    CHECK("data: a\n\n", "||a;@");
    CHECK("data:a\n\n", "||a;@");
    CHECK("data:  a\n\n", "|| a;@");
    CHECK("data: a\ndata: b\n\n", "||a\nb;@");
    CHECK("data\n\n", "||;@");
    CHECK("data\ndata\n\n", "||\n;@");
    CHECK("data: a\n\ndata: b\n\n", "||a;||b;@");
    CHECK("id: 7\nevent: task\ndata: {}\n\n", "task|7|{};@7");
    CHECK("event: x\ndata: 1\n\ndata: 2\n\n", "x||1;||2;@");
    CHECK(": hello\n\n:\n\ndata: a\n\n", "||a;@");
    CHECK("unknown: x\nDATA: y\ndata x: z\n\n", "@");
    CHECK("data: a:b\n\n", "||a:b;@");
}

static void
lines_end_in_three_ways(void **state)
{
    (void)state;
    CHECK("data: a\r\n\r\ndata: b\r\rdata: c\n\n", "||a;||b;||c;@");
    CHECK("data: a\r\n\ndata: b\n\r\n", "||a;||b;@");
    CHECK("data: a\r\ndata: b\r\n\r\n", "||a\nb;@");
}

static void
the_id_stays_and_counts_without_data(void **state)
{
    (void)state;
    CHECK("id: 1\ndata: a\n\ndata: b\n\n", "|1|a;|1|b;@1");
    CHECK("id: 41\n\n", "@41");
    CHECK("id: 41\n\ndata: x\n\n", "|41|x;@41");
    CHECK("id: 1\n\nid\ndata: x\n\n", "||x;@");
    CHECK("id: 1\n\nid: 2\0003\ndata: x\n\n", "|1|x;@1");
    CHECK("id: 1\ndata: a\n\nid: 2\ndata: cut off", "|1|a;@1");
    CHECK("id: 1\ndata: a\n\nid: 2\n", "|1|a;@1");
}

static void
byte_order_mark_retry_and_event_name_follow_the_rules(void **state)
{
    (void)state;
    CHECK("\xEF\xBB\xBF"
          "data: a\n\n\xEF\xBB\xBF"
          "data: b\n\n",
          "||a;@");
    CHECK("retry: 1500\ndata: a\n\n", "||a;@ 1500");
    CHECK("retry: 15x\nretry: -1\nretry:\nretry: 99999999999\n\n", "@");
    CHECK("event: x\n\ndata: a\n\n", "||a;@"); /* an event name without data is dropped */
}

static void
a_new_connection_keeps_the_id_and_nothing_else(void **state)
{
    struct sse s = { 0 };
    struct buf got = { 0 };

    (void)state;
    tell(&s, "id: 5\ndata: a\n\nid: 6\nevent: half\ndata: hal", 42, &got);
    sse_restart(&s);
    tell(&s, "data: b\n\n", 9, &got);
    assert_string_equal(got.p, "|5|a;|5|b;");
    buf_release(&got);
    sse_release(&s);
}

static void
an_event_has_a_size_limit(void **state)
{
    struct sse s = { 0 };
    size_t used, n = 1 << 20;
    char *line = malloc(n);
    enum sse_result r = SSE_MORE;

    (void)state;
    assert_non_null(line);
    memset(line, 'a', n);
    memcpy(line, "data:", 5);
    line[n - 1] = '\n';
    for (int i = 0; i < 15; i++)
        assert_int_equal(sse_feed(&s, line, n, &used), SSE_MORE);
    for (int i = 0; i < 3 && r == SSE_MORE; i++)
        r = sse_feed(&s, line, n, &used);
    assert_int_equal(r, SSE_FULL);
    free(line);
    sse_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(events_are_parsed_by_the_rules_of_HTML),
        CASE(lines_end_in_three_ways),
        CASE(the_id_stays_and_counts_without_data),
        CASE(byte_order_mark_retry_and_event_name_follow_the_rules),
        CASE(a_new_connection_keeps_the_id_and_nothing_else),
        CASE(an_event_has_a_size_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
