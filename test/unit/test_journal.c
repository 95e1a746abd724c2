#include "run/journal.h"

#include "base/clock.h"
#include "fault.h"
#include "test.h"

#include <fcntl.h>

/* plan -> build -> review (gate), and the support phase fixer */
static size_t dep0[] = { 0 }, dep1[] = { 1 };
static struct phase phases[] = {
    { .name = "plan" },
    { .name = "build", .deps = dep0, .n_depends_on = 1, .retries = 1 },
    { .name = "review", .deps = dep1, .n_depends_on = 1, .type = PHASE_GATE, .max_iterations = 3 },
    { .name = "fixer", .is_support = true },
};
static const struct team team = { .phases = phases, .n_phases = 4, .n_main = 3 };
enum { PLAN, BUILD, REVIEW, FIXER };

static const struct journal_head head = {
    .run_id = "r-1",
    .team = "@local/x",
    .workflow = "9f86d081",
    .options = { .jobs = 4, .is_fail_fast = true },
};
#define AT "{\"at\":\"2026-05-29T06:04:14.222Z\","
#define BEGIN                                                                                      \
    AT "\"ev\":\"begin\",\"run\":\"r-1\",\"team\":\"@local/x\",\"workflow\":\"9f86d081\"}\n"

static void
set_clock(void)
{
    fake_clock(INT64_C(1780034654222) * 1000000);
}

/* ---- the events of a replay ---- */

struct seen {
    struct sched_event evs[64];
    char texts[64][64];
    int64_t at_ms[64];
    size_t n, refuse; /* the number of the event that the callback refuses, from 1; 0: none */
};

static bool
see(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    struct seen *seen = ctx;

    assert_true(seen->n < 64);
    seen->evs[seen->n] = *ev;
    if (ev->text) {
        snprintf(seen->texts[seen->n], sizeof seen->texts[0], "%s", ev->text);
        seen->evs[seen->n].text = seen->texts[seen->n];
    }
    seen->at_ms[seen->n] = at_ms;
    return ++seen->n != seen->refuse;
}

static void
check_same(const struct sched_event *a, const struct sched_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->phase, b->phase);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->is_final, b->is_final);
    assert_int_equal(a->text == NULL, b->text == NULL);
    if (a->text)
        assert_string_equal(a->text, b->text);
}

static const struct sched_options later = { .jobs = 3, .is_fail_fast = false };

/* A run with every kind of event. */
static const struct sched_event story[] = {
    { .kind = EV_STARTED, .phase = PLAN, .attempt = 1 },
    { .kind = EV_RESULT, .phase = PLAN, .attempt = 1 },
    { .kind = EV_GONE, .phase = PLAN, .attempt = 1 },
    { .kind = EV_STARTED, .phase = BUILD, .attempt = 1 },
    { .kind = EV_RESULT,
      .phase = BUILD,
      .attempt = 1,
      .outcome = OUT_ERROR,
      .text = "no \"disk\"\n" },
    { .kind = EV_GONE, .phase = BUILD, .attempt = 1 },
    { .kind = EV_DUE, .phase = BUILD },
    { .kind = EV_SKIP, .phase = BUILD, .attempt = 2 },
    { .kind = EV_STARTED, .phase = REVIEW, .attempt = 1 },
    { .kind = EV_RESULT,
      .phase = REVIEW,
      .attempt = 1,
      .verdict = VERDICT_ROUTE,
      .target = FIXER,
      .text = "tests fail" },
    { .kind = EV_GONE, .phase = REVIEW, .attempt = 1 },
    { .kind = EV_STARTED, .phase = FIXER, .attempt = 1 },
    { .kind = EV_RESULT, .phase = FIXER, .attempt = 1, .outcome = OUT_TIMEOUT, .is_final = true },
    { .kind = EV_GONE, .phase = FIXER, .attempt = 1 },
    { .kind = EV_RERUN, .phase = REVIEW },
    { .kind = EV_STARTED, .phase = REVIEW, .attempt = 2 },
    { .kind = EV_RESULT, .phase = REVIEW, .attempt = 2, .verdict = VERDICT_ESCALATE },
    { .kind = EV_GONE, .phase = REVIEW, .attempt = 2 },
    { .kind = EV_RERUN, .phase = REVIEW, .options = &later },
    { .kind = EV_STARTED, .phase = REVIEW, .attempt = 3 },
    { .kind = EV_RESULT, .phase = REVIEW, .attempt = 3, .outcome = OUT_CRASH, .text = "signal 9" },
    { .kind = EV_ESCALATE, .text = "budget of the run: $3.01 of $3.00" },
    { .kind = EV_CANCEL, .text = "by hand" },
    { .kind = EV_GONE, .phase = REVIEW, .attempt = 3 },
    { .kind = EV_RERUN, .phase = REVIEW },
    { .kind = EV_STARTED, .phase = REVIEW, .attempt = 4 },
    { .kind = EV_RESULT, .phase = REVIEW, .attempt = 4, .verdict = VERDICT_PASS },
    { .kind = EV_ABORT },
    { .kind = EV_GONE, .phase = REVIEW, .attempt = 4 },
};
enum { STORY = sizeof story / sizeof story[0] };

static void
written_events_are_read_back(void **state)
{
    struct journal j;
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    set_clock();
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    CHECK_OK(journal_write(&j, &(struct sched_event){ .kind = EV_BEGIN }, 1, &e),
             &e); /* in the head */
    CHECK_OK(journal_write(&j, story, 5, &e), &e);
    journal_close(&j);
    CHECK_OK(journal_open(&j, here(), &team, NULL, &e), &e);
    CHECK_OK(journal_write(&j, story + 5, STORY - 5, &e), &e);
    CHECK_OK(journal_note(&j, "hello", &e), &e);
    CHECK_OK(journal_end(&j, RUN_FAILED, "why", &e), &e);
    journal_close(&j);
    journal_close(&j);

    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    assert_int_equal(seen.n, STORY + 1);
    assert_int_equal(seen.evs[0].kind, EV_BEGIN);
    for (size_t i = 0; i < STORY; i++)
        check_same(&story[i], &seen.evs[i + 1]);
    assert_int_equal(seen.at_ms[3], INT64_C(1780034654222));
    assert_string_equal(h.run_id, "r-1");
    assert_string_equal(h.team, "@local/x");
    assert_string_equal(h.workflow, "9f86d081");
    assert_int_equal(h.options.jobs, 3); /* of the rerun that has some */
    assert_false(h.options.is_fail_fast);
    assert_int_equal(h.at_ms, INT64_C(1780034654222));
    assert_true(h.has_end);
    assert_int_equal(h.end, RUN_FAILED);
    journal_head_release(&h);
}

static void
the_lines_are_as_documented(void **state)
{
    struct journal j;
    struct err e;

    (void)state;
    set_clock();
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    CHECK_OK(journal_write(&j, story + 3, 2, &e), &e);
    CHECK_OK(journal_write(&j, story + 9, 1, &e), &e);
    CHECK_OK(journal_end(&j, RUN_ESCALATED, "gate x", &e), &e);
    journal_close(&j);
    CHECK_FILE(JOURNAL_NAME, AT
               "\"ev\":\"begin\",\"run\":\"r-1\",\"team\":\"@local/x\",\"workflow\":"
               "\"9f86d081\",\"jobs\":4,\"fail_fast\":true}\n" AT
               "\"ev\":\"started\",\"phase\":\"build\",\"attempt\":1}\n" AT
               "\"ev\":\"result\",\"phase\":\"build\",\"attempt\":1,\"outcome\":\"error\","
               "\"text\":\"no \\\"disk\\\"\\n\"}\n" AT
               "\"ev\":\"result\",\"phase\":\"review\",\"attempt\":1,\"outcome\":\"complete\","
               "\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"fixer\"},\"text\":\"tests "
               "fail\"}\n" AT "\"ev\":\"end\",\"status\":\"ESCALATED\",\"reason\":\"gate x\"}\n");
    assert_int_equal(file_mode(JOURNAL_NAME), 0600);
}

static bool
take_usage(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    struct usage *u = ctx;

    (void)at_ms;
    if (ev->usage) {
        assert_string_equal(ev->usage->model, "gpt-5");
        assert_string_equal(ev->usage->session_id, "s-1");
        usage_add(u, ev->usage);
    }
    return true;
}

static void
what_a_model_used_is_read_back(void **state)
{
    struct usage used = { .model = "gpt-5",
                          .session_id = "s-1",
                          .input_tokens = 5210,
                          .output_tokens = 830,
                          .cost_usd = 0.0148,
                          .has_cost = true };
    struct usage sum = { 0 };
    struct sched_event ev = { .kind = EV_RESULT, .phase = BUILD, .attempt = 1, .usage = &used };
    struct journal j;
    struct journal_head h;
    struct err e;

    (void)state;
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    CHECK_OK(journal_write(&j, &ev, 1, &e), &e);
    used.has_cost = false;
    used.cost_usd = 0;
    CHECK_OK(journal_write(&j, &ev, 1, &e), &e);
    journal_close(&j);
    CHECK_OK(journal_replay(here(), &team, take_usage, &sum, &h, &e), &e);
    assert_int_equal(sum.input_tokens, 2 * 5210);
    assert_false(sum.has_cost); /* one of them is not known */
    assert_true(sum.cost_usd > 0.0147 && sum.cost_usd < 0.0149);
    journal_head_release(&h);
}

static bool
apply(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    (void)at_ms;
    return sched_apply(ctx, ev, NULL);
}

static void
a_replay_leads_the_scheduler_to_the_same_state(void **state)
{
    struct sched *live = sched_new(&team, &head.options), *again = sched_new(&team, &head.options);
    struct journal j;
    struct journal_head h;
    struct err e;

    (void)state;
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    assert_true(sched_apply(live, &(struct sched_event){ .kind = EV_BEGIN }, NULL));
    for (size_t i = 0; i < STORY; i++)
        if (sched_apply(live, &story[i], NULL))
            CHECK_OK(journal_write(&j, &story[i], 1, &e), &e);
    journal_close(&j);
    CHECK_OK(journal_replay(here(), &team, apply, again, &h, &e), &e);
    assert_int_equal(sched_status(live), sched_status(again));
    assert_int_not_equal(sched_status(live), RUN_ACTIVE);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sched_phase(live, i)->state, sched_phase(again, i)->state);
        assert_int_equal(sched_phase(live, i)->attempt, sched_phase(again, i)->attempt);
    }
    journal_head_release(&h);
    sched_free(live);
    sched_free(again);
}

static void
many_events_are_one_write_and_one_sync(void **state)
{
    static struct sched_event many[2500];
    struct journal j;
    struct err e;
    struct log_reader r;
    struct log_record rec;
    size_t n = 0;

    (void)state;
    set_clock();
    for (size_t i = 0; i < 2500; i++)
        many[i] =
            (struct sched_event){ .kind = EV_STARTED, .phase = i % 4, .attempt = 1 + (unsigned)i };
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    fault_count_from_here();
    CHECK_OK(journal_write(&j, many, 2, &e), &e);
    assert_int_equal(fault_count("write"), 1); /* with the head line */
    assert_int_equal(fault_count("fdatasync"), 1);
    fault_count_from_here();
    CHECK_OK(journal_write(&j, many, 1000, &e), &e);
    assert_int_equal(fault_count("write"), 1);
    assert_int_equal(fault_count("fdatasync"), 1);
    CHECK_OK(journal_write(&j, many, 2500, &e), &e);
    assert_int_equal(fault_count("write"), 4); /* in thirds: LOG_BATCH_MAX */
    assert_int_equal(fault_count("fdatasync"), 4);
    CHECK_OK(journal_write(&j, NULL, 0, &e), &e);
    assert_int_equal(fault_count("write"), 4);
    log_reader_init(&r, j.log.fd, 0);
    while (log_next(&r, &rec))
        n++;
    log_reader_release(&r);
    assert_int_equal(n, 1 + 2 + 1000 + 2500);
    CHECK_OK(journal_add(&j, many, 1, &e), &e);
    assert_int_equal(fault_count("write"), 4);
    CHECK_OK(journal_end(&j, RUN_COMPLETED, NULL, &e), &e); /* together */
    assert_int_equal(fault_count("write"), 5);
    assert_int_equal(fault_count("fdatasync"), 5);
    journal_close(&j);
    assert_int_equal(fault_count("fdatasync"), 5);
}

static void
a_new_run_replaces_the_old_journal(void **state)
{
    struct journal j;
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    write_file(JOURNAL_NAME, BEGIN AT "\"ev\":\"started\",\"phase\":\"plan\",\"attempt\":1}\ntorn");
    CHECK_OK(journal_open(&j, here(), &team,
                          &(struct journal_head){ .run_id = "r-2", .workflow = "0" }, &e),
             &e);
    CHECK_OK(journal_write(&j, NULL, 0, &e), &e);
    journal_close(&j);
    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    assert_int_equal(seen.n, 1);
    assert_string_equal(h.run_id, "r-2");
    assert_null(h.team);
    assert_false(h.has_end);
    journal_head_release(&h);
}

static void
without_a_journal_no_run_can_be_resumed(void **state)
{
    struct journal j;
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    assert_int_equal(journal_open(&j, here(), &team, NULL, &e), ST_NOT_FOUND);
    journal_close(&j);
    assert_false(file_exists(JOURNAL_NAME));
    assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_NOT_FOUND);
    journal_head_release(&h);
    write_file(JOURNAL_NAME, "");
    assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_NOT_FOUND);
    journal_head_release(&h);
    write_file(JOURNAL_NAME, "{\"at\":\"20"); /* torn before the first event */
    assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_NOT_FOUND);
    journal_head_release(&h);
    assert_int_equal(seen.n, 0);
}

static void
a_line_torn_by_a_crash_is_skipped(void **state)
{
    struct journal j;
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    write_file(JOURNAL_NAME, BEGIN AT "\"ev\":\"started\",\"phase\":\"pl");
    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    assert_int_equal(seen.n, 1);
    journal_head_release(&h);
    CHECK_OK(journal_open(&j, here(), &team, NULL, &e), &e);
    CHECK_OK(journal_write(&j, story, 1, &e), &e);
    journal_close(&j);
    seen.n = 0;
    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    assert_int_equal(seen.n, 2);
    check_same(&seen.evs[1], &story[0]);
    journal_head_release(&h);
}

static void
a_line_that_cannot_be_replayed_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *line, *says;
    } bad[] = {
        { "\"ev\":\"started\",\"phase\":\"gone-away\",\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"phase\":\"plan\\u0000x\",\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"phase\":\"plann\",\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"phase\":\"pla\",\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"phase\":7,\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"attempt\":1}", "no such phase" },
        { "\"ev\":\"started\",\"phase\":\"plan\"}", "attempt" },
        { "\"ev\":\"started\",\"phase\":\"plan\",\"attempt\":-1}", "attempt" },
        { "\"ev\":\"started\",\"phase\":\"plan\",\"attempt\":99999999999}", "attempt" },
        { "\"ev\":\"result\",\"phase\":\"plan\",\"attempt\":1}", "result" },
        { "\"ev\":\"result\",\"phase\":\"plan\",\"attempt\":1,\"outcome\":\"odd\"}", "result" },
        { "\"ev\":\"result\",\"phase\":\"review\",\"attempt\":1,\"outcome\":\"complete\","
          "\"verdict\":{\"outcome\":\"\"}}",
          "result" },
        { "\"ev\":\"result\",\"phase\":\"review\",\"attempt\":1,\"outcome\":\"complete\","
          "\"verdict\":{\"outcome\":\"ROUTE\",\"target\":\"nobody\"}}",
          "result" },
        { "\"ev\":\"levitate\"}", "no known kind" },
        { "\"phase\":\"plan\"}", "no known kind" },
        { "\"ev\":\"cancel\"} trailing", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct journal_head h;
        struct seen seen = { 0 };
        struct err e;
        write_file(JOURNAL_NAME, BEGIN AT);
        append_file(JOURNAL_NAME, bad[i].line);
        append_file(JOURNAL_NAME, "\n" AT "\"ev\":\"cancel\"}\n");
        assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_INVALID);
        assert_non_null(strstr(e.text, "line 2"));
        assert_int_equal(h.bad_line, 2);
        if (*bad[i].says)
            assert_non_null(strstr(e.text, "workflow has changed"));
        else
            assert_non_null(strstr(e.text, "mend or remove that line"));
        assert_non_null(strstr(e.text, "--force"));
        if (!strstr(e.text, bad[i].says))
            fail_msg("%s: %s", bad[i].line, e.text);
        assert_int_equal(seen.n, 1);
        journal_head_release(&h);
    }
}

static void
count_bad(void *ctx, uint64_t line, const char *problem)
{
    size_t *n = ctx;

    assert_true(line >= 1);
    assert_non_null(problem);
    ++*n;
}

static bool
take_all(void *ctx, const struct sched_event *ev, int64_t at_ms)
{
    (void)ctx, (void)ev, (void)at_ms;
    return true;
}

static void
a_reader_of_the_journal_skips_bad_lines(void **state)
{
    struct journal_head h;
    size_t n = 0;
    struct journal_taker taker = { .event = take_all, .bad = count_bad, .ctx = &n };
    struct err e;

    (void)state;
    write_file(JOURNAL_NAME, BEGIN "garbage\n" AT "\"ev\":\"levitate\"}\n" AT
                                   "\"ev\":\"end\",\"status\":\"FAILED\",\"reason\":\"why\"}\n");
    CHECK_OK(journal_look(here(), &team, &taker, &h, &e), &e);
    assert_int_equal(n, 2);
    assert_int_equal(h.bad_line, 2);
    assert_true(h.has_end);
    assert_string_equal(h.reason, "why");
    journal_head_release(&h);
    n = 0;
    write_file(JOURNAL_NAME,
               "garbage\n" AT "\"ev\":\"started\",\"phase\":\"plan\",\"attempt\":1}\n");
    CHECK_OK(journal_look(here(), &team, &taker, &h, &e), &e);
    assert_int_equal(n, 1);
    assert_null(h.run_id);
    journal_head_release(&h);
    write_file(JOURNAL_NAME, "garbage\nmore\n");
    assert_int_equal(journal_look(here(), &team, &taker, &h, &e), ST_INVALID);
    journal_head_release(&h);
}

static void
the_first_line_of_a_journal_describes_its_run(void **state)
{
    static const char *const bad[] = {
        AT "\"ev\":\"cancel\"}\n",
        AT "\"ev\":\"begin\"}\n",
        AT "\"ev\":\"begin\",\"run\":7,\"workflow\":\"x\"}\n",
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct journal_head h;
        struct seen seen = { 0 };
        struct err e;
        write_file(JOURNAL_NAME, bad[i]);
        assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_INVALID);
        assert_int_equal(seen.n, 0);
        journal_head_release(&h);
    }
}

static void
an_impossible_event_stops_the_replay(void **state)
{
    struct journal_head h;
    struct seen seen = { .refuse = 2 };
    struct err e;

    (void)state;
    write_file(JOURNAL_NAME, BEGIN AT "\"ev\":\"cancel\"}\n" AT "\"ev\":\"abort\"}\n");
    assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_INVALID);
    assert_int_equal(seen.n, 2);
    assert_non_null(strstr(e.text, "--force"));
    journal_head_release(&h);
}

static void
unknown_members_and_lines_of_the_run_loop_are_skipped(void **state)
{
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    write_file(JOURNAL_NAME, BEGIN "\n" AT "\"ev\":\"note\",\"text\":1}\n" AT
                                   "\"ev\":\"end\",\"status\":\"CANCELLED\"}\n" AT
                                   "\"ev\":\"rerun\",\"phase\":\"plan\",\"mood\":\"good\"}\n");
    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.evs[1].kind, EV_RERUN);
    assert_false(h.has_end); /* the run was resumed */
    journal_head_release(&h);
}

static void
a_route_to_an_unknown_phase_is_recorded(void **state)
{
    struct sched_event ev = { .kind = EV_RESULT,
                              .phase = REVIEW,
                              .attempt = 1,
                              .verdict = VERDICT_ROUTE,
                              .target = SIZE_MAX };
    struct journal j;
    struct journal_head h;
    struct seen seen = { 0 };
    struct err e;

    (void)state;
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    CHECK_OK(journal_write(&j, &ev, 1, &e), &e);
    journal_close(&j);
    CHECK_OK(journal_replay(here(), &team, see, &seen, &h, &e), &e);
    check_same(&seen.evs[1], &ev);
    journal_head_release(&h);
}

static void
a_long_text_is_truncated(void **state)
{
    static char text[1 << 21];
    struct sched_event ev = { .kind = EV_ABORT, .text = text };
    struct journal j;
    struct err e;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    CHECK_OK(journal_open(&j, here(), &team, &head, &e), &e);
    CHECK_OK(journal_write(&j, &ev, 1, &e), &e);
    journal_close(&j);
    assert_in_range(file_size(JOURNAL_NAME), JOURNAL_TEXT_MAX, JOURNAL_TEXT_MAX + 1000);
}

static void
an_event_is_written_whole_or_reported(void **state)
{
    (void)state;
    FAULT_SWEEP(f)
    {
        struct journal j;
        struct journal_head h;
        struct seen seen = { 0 };
        struct err e;
        enum status s, written = ST_IO;

        set_clock();
        write_file(JOURNAL_NAME, BEGIN);
        fault_on(&f);
        s = journal_open(&j, here(), &team, NULL, &e);
        if (!s)
            written = journal_write(&j, story, 3, &e);
        fault_off(&f);
        journal_close(&j);
        assert_int_equal(journal_replay(here(), &team, see, &seen, &h, &e), ST_OK);
        if (!written)
            assert_int_equal(seen.n, 4);
        else
            assert_true(f.has_failed &&
                        (seen.n == 1 || seen.n == 4)); /* after a failed sync: either */
        journal_head_release(&h);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(written_events_are_read_back),
        CASE(what_a_model_used_is_read_back),
        CASE(the_lines_are_as_documented),
        CASE(a_replay_leads_the_scheduler_to_the_same_state),
        CASE(many_events_are_one_write_and_one_sync),
        CASE(a_new_run_replaces_the_old_journal),
        CASE(without_a_journal_no_run_can_be_resumed),
        CASE(a_line_torn_by_a_crash_is_skipped),
        CASE(a_line_that_cannot_be_replayed_is_refused_with_the_reason),
        CASE(a_reader_of_the_journal_skips_bad_lines),
        CASE(the_first_line_of_a_journal_describes_its_run),
        CASE(an_impossible_event_stops_the_replay),
        CASE(unknown_members_and_lines_of_the_run_loop_are_skipped),
        CASE(a_route_to_an_unknown_phase_is_recorded),
        CASE(a_long_text_is_truncated),
        CASE(an_event_is_written_whole_or_reported),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
