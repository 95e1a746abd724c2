/*
 * Fault injection in hub/: after any failing call, a request with status 200 is visible to every
 * later reader, a failed one has status 503, and index and log agree.
 */
#include "fault.h"
#include "hubs.h"
#include "logs.h"

static struct err e;

#define MUST(fact)                                                                                 \
    do {                                                                                           \
        if (!(fact))                                                                               \
            fail_msg("%s: not so: %s", fault_what(f), #fact);                                      \
    } while (0)

static void
tell_problem(void *ctx, const struct hub_finding *found)
{
    fprintf(stderr, "# %s: %s\n", fault_what(ctx), found->reason);
}

/* After the faults: a new reader sees what the log has. */
static struct hub *
reopen(struct fault *f)
{
    uint64_t problems;
    struct hub *h = open_hub();

    CHECK_OK(hub_check(h, tell_problem, f, &problems, &e), &e);
    MUST(problems == 0);
    return h;
}

FAULT_STORY(an_emit_answered_with_200_is_there)
{
    struct hub *h = open_hub();

    fault_on(f);
    struct hub_reply *r = ask(h, HUB_EMIT, "ruby", TASK);
    fault_off(f);
    MUST(r->status == 200 || (r->status == 503 && f->has_failed && r->message[0]));
    const char *id = r->status == 200 ? got(r, "id") : NULL;
    hub_close(h);
    h = reopen(f);
    if (id)
        CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id), 200);
    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200);
    MUST(count_records(HUB_LOG, SEQUENCED, "\"task\"") <= 2);
    close_hub(h);
}

FAULT_STORY(a_store_is_opened_or_told_why_not)
{
    struct hub *h = open_hub();
    const char *id = emit(h, "ruby", TASK);

    hub_close(h);
    append_file(HUB_LOG, "{\"type\":\"foreign\"}\n{\"torn\":");
    e.text[0] = '\0';
    fault_on(f);
    enum status s = hub_open(&h, "config", &(struct hub_options){ .lock_wait_ms = 50 }, &e);
    struct hub_reply *r = s ? NULL : ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id);
    fault_off(f);
    MUST(s == ST_OK || (f->has_failed && e.text[0]));
    MUST(s || r->status == 200 || (r->status == 503 && f->has_failed)); /* never 404 */
    hub_close(h);
    h = reopen(f);
    assert_string_equal(each(ask(h, HUB_EVENTS, "ruby", "{}"), "type"), "task foreign");
    close_hub(h);
}

FAULT_STORY(a_first_store_is_made_or_told_why_not)
{
    struct hub *h;

    e.text[0] = '\0';
    fault_on(f);
    enum status s = hub_open(&h, "config", &(struct hub_options){ .lock_wait_ms = 50 }, &e);
    struct hub_reply *r = s ? NULL : ask(h, HUB_EMIT, "ruby", TASK);
    fault_off(f);
    MUST(s == ST_OK || (f->has_failed && e.text[0]));
    MUST(s || r->status == 200 || (r->status == 503 && f->has_failed));
    const char *id = !s && r->status == 200 ? got(r, "id") : NULL;
    hub_close(h);
    h = reopen(f);
    if (id)
        CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", id), 200);
    close_hub(h);
}

FAULT_STORY(a_claim_is_whole_or_absent)
{
    struct hub *h = open_hub(), *other = open_hub();
    const char *id = emit(h, "ruby", TASK);

    fault_on(f);
    struct hub_reply *r = ask(h, HUB_CLAIM, "bob", "{\"signal_id\":\"%s\"}", id);
    fault_off(f);
    MUST(r->status == 200 || (r->status == 503 && f->has_failed));
    hub_close(h); /* also releases the lock if an unlock failed */
    struct hub_reply *g = ask(other, HUB_GET, "eve", "{\"id\":\"%s\"}", id);
    CHECK_REPLY(g, 200);
    bool is_there = count_records(HUB_LOG, SEQUENCED, "\"op\":\"claim\"") == 1;
    MUST(r->status != 200 || is_there);
    MUST((strcmp(got(g, "delivery_state"), "leased") == 0) == is_there);
    struct hub_reply *second = ask(other, HUB_CLAIM, "eve", "{\"signal_id\":\"%s\"}", id);
    MUST(second->status == (is_there ? 409 : 200)); /* exactly one winner */
    hub_close(other);
    close_hub(reopen(f));
}

FAULT_STORY(a_delayed_signal_is_delivered_once_or_waits)
{
    struct hub *h = open_hub();

    CHECK_REPLY(ask(h, HUB_SCHEDULE, "bob", "{\"type\":\"late\",\"deliverAt\":1}"), 200);
    fault_on(f);
    hub_submit(h, NULL, 0, NULL, NULL);
    fault_off(f);
    hub_close(h);
    h = reopen(f);
    hub_submit(h, NULL, 0, NULL, NULL);
    assert_string_equal(each(ask(h, HUB_EVENTS, "bob", "{}"), "type"), "late");
    assert_string_equal(each(ask(h, HUB_DELAYED, "bob", "{}"), "type"), "");
    close_hub(h);
}

FAULT_STORY(a_batch_stands_or_falls_together)
{
    struct hub *h = open_hub();

    emit(h, "ruby", TASK);
    fault_on(f);
    struct hub_reply *r = ask(h, HUB_EMIT_BATCH, "ruby",
                              "{\"signals\":[{\"signal_type\":\"a\"},{\"signal_type\":\"b\"}]}");
    fault_off(f);
    int status = r->status;
    hub_close(h);
    h = reopen(f);
    const char *types = each(ask(h, HUB_EVENTS, "ruby", "{}"), "type");
    MUST(strcmp(types, "task a b") == 0 || (status == 503 && strcmp(types, "task") == 0));
    close_hub(h);
}

FAULT_STORY(rounds_that_share_a_commit_stand_for_themselves)
{
    struct hub *h = open_hub();
    struct hub_reply *r[4];
    const char *ids[4];

    CHECK_REPLY(ask(h, HUB_EMIT, "ruby", TASK), 200); /* the file is there */
    fault_on(f);
    r[0] = ask_on(h, HUB_EMIT, "ruby", TASK);
    r[1] = ask_on(h, HUB_EMIT_BATCH, "ruby", "{\"signals\":[{\"signal_type\":\"a\"},{}]}");
    r[2] = ask_on(h, HUB_CLAIM, "bob", "{}");
    r[3] = ask_on(h, HUB_EMIT, "ruby", TASK);
    hub_settle(h);
    fault_off(f);
    for (int i = 0; i < 4; i++) {
        int good = i == 1 ? 400 : 200; /* a batch is all or nothing */
        MUST(r[i]->status == good || (r[i]->status == 503 && f->has_failed && r[i]->message[0]));
        ids[i] = r[i]->status == 200 ? got(r[i], "id") : NULL;
    }
    hub_close(h);
    h = reopen(f);
    for (int i = 0; i < 4; i++)
        if (ids[i])
            CHECK_REPLY(ask(h, HUB_GET, "ruby", "{\"id\":\"%s\"}", ids[i]), 200);
    MUST(count_records(HUB_LOG, SEQUENCED, "\"type\":\"a\"") == 0);
    if (ids[2])
        MUST(strcmp(got(ask(h, HUB_GET, "bob", "{\"id\":\"%s\"}", ids[2]), "delivery_state"),
                    "leased") == 0);
    close_hub(h);
}

/* Completed signals in several segments, after a valid key and a revoked one. */
static struct hub *
make_segments(const char *keys[2])
{
    struct hub_options small = { .rotate_bytes = 2000, .lock_wait_ms = 50 };
    struct hub *h;

    CHECK_OK(hub_open(&h, "config", &small, &e), &e);
    for (int i = 0; i < 2; i++) {
        struct hub_reply *r = ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"bob\"}");
        keys[i] = got(r, "key");
        if (i == 1)
            CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", got(r, "id")), 200);
    }
    for (int i = 0; i < 30; i++)
        CHECK_REPLY(ask(h, HUB_GENERATE, "ruby", "{\"type\":\"a:b\"}"), 200);
    emit(h, "ruby", TASK);
    return h;
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

FAULT_STORY(what_lasts_outlives_the_segments_that_are_dropped)
{
    const char *keys[2];
    struct hub *h = make_segments(keys);
    struct hub_stats was, is;
    uint64_t dropped;

    CHECK_OK(hub_stats(h, &was, &e), &e);
    e.text[0] = '\0';
    fault_on(f);
    enum status s = hub_compact(h, -60000, &dropped, &e);
    fault_off(f);
    MUST(s == ST_OK || (f->has_failed && e.text[0]));
    MUST(s || dropped > 0);
    hub_close(h);
    for (int i = 0; i < 2; i++) { /* after the failure, and after a second compaction */
        h = reopen(f);
        CHECK_OK(hub_stats(h, &is, &e), &e);
        MUST(is.last_seq == was.last_seq && is.pending > 0);
        MUST((is.signals == was.signals) == (is.first_seq == 1));
        MUST((s && i == 0) || is.first_seq > 1);
        MUST(try_key(h, keys[0]) == ST_OK);
        MUST(try_key(h, keys[1]) == ST_NOT_FOUND);
        CHECK_OK(hub_compact(h, -60000, &dropped, &e), &e);
        MUST(i == 0 || dropped == 0);
        hub_close(h);
    }
    forget_answers();
}

int
main(void)
{
    static const struct story stories[] = {
        STORY(an_emit_answered_with_200_is_there),
        STORY(a_store_is_opened_or_told_why_not),
        STORY(a_first_store_is_made_or_told_why_not),
        STORY(a_claim_is_whole_or_absent),
        STORY(a_delayed_signal_is_delivered_once_or_waits),
        STORY(a_batch_stands_or_falls_together),
        STORY(rounds_that_share_a_commit_stand_for_themselves),
        STORY(what_lasts_outlives_the_segments_that_are_dropped),
    };

    return run_stories("faults of the hub", stories, sizeof stories / sizeof *stories);
}
