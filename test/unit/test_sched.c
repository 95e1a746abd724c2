/*
 * Tests run/sched by stories: a team in one line, then its events and the actions they lead to.
 *
 *     team    name[!max][~retries][=files][:dep,dep] a phase; ! makes it a gate; +name: a support
 *             phase; files: a pattern of what it writes
 *     event   begin | run P | ok P | done P | error P [text] | crash P | timeout P | gone P |
 *             skip P | due P | pass G | route G P | escalate G [text] | none G |
 *             cancel | abort [text] | giveup [text] | rerun P
 *             P@3 is said of attempt 3; otherwise it is the latest. ok = run, done, gone.
 *             passed G = run, pass, gone.
 *     leads   +p.2 start attempt 2 (gates: /iteration; * routed)   -p.2 stop   ~p:500 wait
 *             g>p route   =STATUS the end   ! refused   nothing: no action
 *     ?       the reason        ?P  the state of a phase
 */
#include "scheds.h"

#include "run/sched.h"

struct story {
    const char *name, *team, *lines;
    unsigned jobs;
    bool is_fail_fast;
};

static void
say_actions(struct buf *b, const struct team *t, const struct actions *acts)
{
    for (size_t i = 0; i < acts->n; i++) {
        const struct action *a = &acts->a[i];
        const char *name = t->phases[a->phase].name;
        if (b->len)
            buf_addc(b, ' ');
        switch (a->kind) {
        case ACT_START:
            buf_addf(b, "+%s.%u", name, a->attempt);
            if (t->phases[a->phase].type == PHASE_GATE)
                buf_addf(b, "/%u", a->iteration);
            buf_adds(b, a->is_routed ? "*" : "");
            break;
        case ACT_STOP:
            buf_addf(b, "-%s.%u", name, a->attempt);
            break;
        case ACT_WAIT:
            buf_addf(b, "~%s:%d", name, (int)a->ms);
            break;
        case ACT_ROUTE:
            buf_addf(b, "%s>%s", name, t->phases[a->target].name);
            break;
        case ACT_END:
            buf_addf(b, "=%s", run_status_name(a->status));
            break;
        }
    }
}

static const struct {
    const char *word;
    struct sched_event ev[3];
    size_t n;
    bool has_phase, has_target;
} words[] = {
    { "begin", { { .kind = EV_BEGIN } }, 1, false, false },
    { "run", { { .kind = EV_STARTED } }, 1, true, false },
    { "done", { { .kind = EV_RESULT } }, 1, true, false },
    { "ok",
      { { .kind = EV_STARTED }, { .kind = EV_RESULT }, { .kind = EV_GONE } },
      3,
      true,
      false },
    { "error", { { .kind = EV_RESULT, .outcome = OUT_ERROR } }, 1, true, false },
    { "crash", { { .kind = EV_RESULT, .outcome = OUT_CRASH } }, 1, true, false },
    { "last", { { .kind = EV_RESULT, .outcome = OUT_ERROR, .is_final = true } }, 1, true, false },
    { "lastroute",
      { { .kind = EV_RESULT, .verdict = VERDICT_ROUTE, .is_final = true } },
      1,
      true,
      true },
    { "timeout", { { .kind = EV_RESULT, .outcome = OUT_TIMEOUT } }, 1, true, false },
    { "gone", { { .kind = EV_GONE } }, 1, true, false },
    { "skip", { { .kind = EV_SKIP } }, 1, true, false },
    { "due", { { .kind = EV_DUE } }, 1, true, false },
    { "pass", { { .kind = EV_RESULT, .verdict = VERDICT_PASS } }, 1, true, false },
    { "passed",
      { { .kind = EV_STARTED },
        { .kind = EV_RESULT, .verdict = VERDICT_PASS },
        { .kind = EV_GONE } },
      3,
      true,
      false },
    { "route", { { .kind = EV_RESULT, .verdict = VERDICT_ROUTE } }, 1, true, true },
    { "routed",
      { { .kind = EV_STARTED },
        { .kind = EV_RESULT, .verdict = VERDICT_ROUTE },
        { .kind = EV_GONE } },
      3,
      true,
      true },
    { "escalate", { { .kind = EV_RESULT, .verdict = VERDICT_ESCALATE } }, 1, true, false },
    { "none", { { .kind = EV_RESULT, .verdict = VERDICT_NONE } }, 1, true, false },
    { "cancel", { { .kind = EV_CANCEL } }, 1, false, false },
    { "giveup", { { .kind = EV_ESCALATE } }, 1, false, false },
    { "abort", { { .kind = EV_ABORT } }, 1, false, false },
    { "rerun", { { .kind = EV_RERUN } }, 1, true, false },
};

static void
perform(struct sched *s, const struct team *t, char *line, struct buf *got)
{
    char *save, *word = strtok_r(line, " ", &save);
    struct actions acts = { 0 };
    size_t w = 0, phase = 0, target = 0;
    unsigned attempt = 0;

    if (word[0] == '?') {
        const char *reason = sched_reason(s);
        if (word[1])
            buf_adds(got, phase_state_name(
                              sched_phase(s, find_phase(t, word + 1, strlen(word + 1)))->state));
        else
            buf_adds(got, reason ? reason : "none");
        return;
    }
    if (strcmp(word, "close") == 0) {
        bool is_complete = strcmp(save, "COMPLETED") == 0;
        buf_adds(got, sched_close(s, is_complete ? RUN_COMPLETED : RUN_ESCALATED) ? "yes" : "no");
        buf_addf(got, " %s", run_status_name(sched_status(s)));
        return;
    }
    while (w < sizeof words / sizeof words[0] && strcmp(words[w].word, word) != 0)
        w++;
    if (w == sizeof words / sizeof words[0])
        fail_msg("what is %s?", word);
    if (words[w].has_phase) {
        char *name = strtok_r(NULL, " ", &save), *number = strchr(name, '@');
        phase = find_phase(t, name, number ? (size_t)(number - name) : strlen(name));
        attempt = number ? (unsigned)atoi(number + 1) : sched_phase(s, phase)->attempt;
    }
    if (words[w].has_target) {
        char *name = strtok_r(NULL, " ", &save);
        target = find_phase(t, name, strlen(name));
    }
    for (size_t i = 0; i < words[w].n; i++) {
        struct sched_event ev = words[w].ev[i];
        ev.phase = phase;
        ev.attempt = attempt;
        ev.target = target;
        ev.text = *save ? save : NULL;
        if (!sched_apply(s, &ev, &acts))
            buf_adds(got, "!");
    }
    say_actions(got, t, &acts);
    actions_release(&acts);
}

static void
tell(void **state)
{
    const struct story *story = *state;
    struct team t;
    struct sched *s;
    char *lines = strdup(story->lines), *save = NULL;

    team_of(&t, story->team);
    s = sched_new(&t, &(struct sched_options){ story->jobs, story->is_fail_fast });
    assert_non_null(s);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *arrow = strstr(line, "=>"), copy[200];
        const char *wanted = "";
        struct buf got = { 0 };
        buf_adds(&got, "");
        if (arrow) {
            *arrow = '\0';
            wanted = arrow + 2 + strspn(arrow + 2, " ");
            while (arrow > line && arrow[-1] == ' ')
                *--arrow = '\0';
        }
        snprintf(copy, sizeof copy, "%s", line);
        perform(s, &t, line, &got);
        if (strcmp(got.p ? got.p : "", wanted) != 0)
            fail_msg("%s: %s => %s, but it should be: %s", story->name, copy, got.p, wanted);
        buf_release(&got);
    }
    sched_free(s);
    team_drop(&t);
    free(lines);
}

static const struct story stories[] = {
    { "a chain runs one after the other", "a; b:a; c:b",
      "begin => +a.1\n"
      "run a\n"
      "?a => running\n"
      "done a => +b.1\n"
      "gone a\n"
      "ok b => +c.1\n"
      "ok c => =COMPLETED\n"
      "? => none\n"
      "ok c => !!!\n"
      "begin => !\n" },
    { "a diamond waits for both", "a; b:a; c:a; d:b,c",
      "begin => +a.1\n"
      "ok a => +b.1 +c.1\n"
      "ok c\n"
      "ok b => +d.1\n"
      "ok d => =COMPLETED" },
    { "fan-out starts in file order", "a; z:a; m:a; b:a",
      "begin => +a.1\n"
      "ok a => +z.1 +m.1 +b.1\n"
      "ok b\nok z\nok m => =COMPLETED" },
    { "fan-in waits for the last", "a; b; c; d:a,b,c",
      "begin => +a.1 +b.1 +c.1\n"
      "ok b\nok c\nok a => +d.1\n"
      "ok d => =COMPLETED" },
    { "no batches: a fast branch does not wait for a slow one", "a; b; c:a; d:c; e:b,d",
      "begin => +a.1 +b.1\n"
      "run b\n"
      "ok a => +c.1\n"
      "ok c => +d.1\n"
      "ok d\n"
      "done b => +e.1\n"
      "gone b\n"
      "ok e => =COMPLETED" },
    { "a team without phases is done", "", "begin => =COMPLETED" },
    { "nothing happens before the beginning", "a",
      "run a => !\ndone a => !\ngone a => !\nskip a => !\ndue a => !\nbegin => +a.1" },
    { "jobs limit what runs at a time", "a; b; c; d:a",
      "begin => +a.1 +b.1\n"
      "run a\n"
      "done a => +c.1\n" /* roots before the phases that depend on them */
      "ok b => +d.1\n"
      "gone a\n"
      "ok c\n"
      "ok d => =COMPLETED",
      .jobs = 2 },
    { "the end waits for the last tree", "a",
      "begin => +a.1\nrun a\ndone a\n?a => done\ngone a => =COMPLETED" },
    { "a lingering tree uses no job", "a; b",
      "begin => +a.1\nrun a\ndone a => +b.1\nok b\ngone a => =COMPLETED", .jobs = 1 },
    { "phases with overlapping files run one after the other",
      "a=src/**; b=src/x.c; c=doc/**; d=src/x.c",
      "begin => +a.1 +c.1\n"
      "run a\n"
      "done a\n" /* its tree is left */
      "gone a => +b.1\n"
      "ok c\n"
      "ok b => +d.1\n"
      "ok d => =COMPLETED" },
    { "a phase that is tried again keeps no files meanwhile", "a~1=x; b=x",
      "begin => +a.1\nrun a\nerror a no => ~a:500\ngone a => +b.1\ndue a\nok b => +a.2\n"
      "ok a => =COMPLETED" },
    { "a false when frees the files", "a=x; b=x",
      "begin => +a.1\nskip a => +b.1\nok b => =COMPLETED" },
    { "a false when skips, and what follows runs", "a; b:a; c:b",
      "begin => +a.1\nok a => +b.1\nskip b => +c.1\n?b => skipped\nskip b => !\nok c => "
      "=COMPLETED" },
    { "a skip of an earlier attempt is refused", "a",
      "begin => +a.1\nskip a@7 => !\nskip a@0 => =COMPLETED" },

    /* a replay of events by a workflow that was changed since */
    { "a result that was the last one stays so with more retries", "a~3; b:a",
      "begin => +a.1\nrun a\nlast a\ngone a => =ESCALATED\n?a => failed\n"
      "rerun a => +a.2\nrun a\nerror a => ~a:500\n" },
    { "a route that was the last one stays so with more iterations", "a; g!3:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nlastroute g a\n"
      "? => gate g: still not passed after 1 iteration (max_iterations)\n"
      "gone g => =ESCALATED\nrerun g => +g.2/1\nrouted g a => g>a +a.2*\n" },
    { "a phase that was added behind a run that completed waits", "a; b:a; c:a",
      "begin => +a.1\nok a => +b.1 +c.1\nok b\nclose COMPLETED => yes COMPLETED\n?c => waiting\n"
      "rerun b => +b.2 +c.1\nok b\nok c => =COMPLETED" },
    { "and so does one behind a run that escalated", "a; b:a; c:a",
      "begin => +a.1\nok a => +b.1 +c.1\nrun b\nerror b\ngone b\nclose ESCALATED => yes "
      "ESCALATED\n"
      "?c => waiting\nrerun b => +b.2 +c.1\n" },
    { "what runs, or is to be tried again, is no end", "a~1; b",
      "begin => +a.1 +b.1\nrun a\nrun b\nclose COMPLETED => no ACTIVE\nerror a => ~a:500\n"
      "gone a\ndone b\ngone b\nclose COMPLETED => no ACTIVE\nclose ESCALATED => no ACTIVE" },
    { "a run that stood still would have gone on with what was added", "a; b; c",
      "begin => +a.1 +b.1 +c.1\nrun a\nerror a\nok b\ngone a\nclose ESCALATED => yes ESCALATED\n"
      "rerun b => +b.2 +c.1\nok b\nclose ESCALATED => no ACTIVE" },

    /* errors, crashes, timeouts */
    { "an error escalates", "a; b:a",
      "begin => +a.1\nrun a\nerror a no such file\n?a => failed\n"
      "? => phase a: agent error: no such file\ngone a => =ESCALATED\n?b => waiting" },
    { "an error without text", "a",
      "begin => +a.1\nrun a\nerror a\n? => phase a: agent error\ngone a => =ESCALATED" },
    { "a crash escalates", "a",
      "begin => +a.1\nrun a\ncrash a\n? => phase a crashed\ngone a => =ESCALATED" },
    { "a crash says how", "a",
      "begin => +a.1\nrun a\ncrash a killed by signal 9\n"
      "? => phase a crashed: killed by signal 9\ngone a => =ESCALATED" },
    { "a timeout escalates", "a",
      "begin => +a.1\nrun a\ntimeout a\n? => phase a timed out\ngone a => =ESCALATED" },
    { "a phase that cannot be prepared fails at once", "a; b:a",
      "begin => +a.1\nerror a $(inputs.x) is not set => =ESCALATED\n"
      "? => phase a could not be started: $(inputs.x) is not set" },
    { "a phase that cannot be prepared is retried, too", "a~1",
      "begin => +a.1\nerror a => ~a:500\ndue a => +a.2\nok a => =COMPLETED" },
    { "retries double their wait, then it is over", "a~3",
      "begin => +a.1\n"
      "run a\nerror a => ~a:500\n?a => backoff\ngone a\ndue a => +a.2\n"
      "run a\ncrash a => ~a:1000\ngone a\ndue a => +a.3\n"
      "run a\ntimeout a => ~a:2000\ngone a\ndue a => +a.4\n"
      "run a\nerror a boom\ngone a => =ESCALATED\n"
      "? => phase a: agent error: boom" },
    { "a retry that works", "a~1; b:a",
      "begin => +a.1\nrun a\ncrash a => ~a:500\ngone a\ndue a => +a.2\nok a => +b.1\nok b => "
      "=COMPLETED" },
    { "a retry waits for the old tree", "a~1",
      "begin => +a.1\nrun a\ntimeout a => ~a:500\ndue a\n?a => waiting\ndue a => !\ngone a => "
      "+a.2\nok a => =COMPLETED" },
    { "a retry waits for a job", "a~1; b; c",
      "begin => +a.1\nrun a\nerror a => ~a:500 +b.1\ngone a\ndue a\nok b => +a.2\nok a => +c.1\n"
      "ok c => =COMPLETED",
      .jobs = 1 },
    { "others finish after an escalation, nothing new starts", "a; b; c:b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror a x\ngone a\ndone b\n?b => done\ngone b => "
      "=ESCALATED\n?c => waiting" },
    { "fail-fast stops the others", "a; b; c:b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror a x => -a.1 -b.1\ngone a\ncrash b\n?b => waiting\n"
      "gone b => =ESCALATED\n? => phase a: agent error: x",
      .is_fail_fast = true },
    { "fail-fast stops what was about to start", "a; b",
      "begin => +a.1 +b.1\nerror a x\nrun b => -b.1\ngone b => =ESCALATED\n?b => waiting",
      .is_fail_fast = true },
    { "the first reason stands", "a; b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror b first\nerror a second\ngone a\ngone b => "
      "=ESCALATED\n? => phase b: agent error: first" },
    { "an escalation drops a retry that waits", "a~1; b",
      "begin => +a.1 +b.1\nrun a\nerror a => ~a:500\ngone a\nrun b\nerror b x\ndue a => !\n"
      "gone b => =ESCALATED\n?a => waiting" },
    { "a failure while ending gets no retry", "a~1; b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror b x\ngone b\nerror a y\n?a => waiting\ngone a => "
      "=ESCALATED" },

    /* impossible events */
    { "repeated events are refused", "a; b:a",
      "begin => +a.1\nbegin => !\nrun a\nrun a => !\ndone a => +b.1\ndone a => !\nerror a => !\n"
      "gone a\ngone a => !\nskip a => !\ndue a => !" },
    { "results of an earlier attempt are refused", "a~1",
      "begin => +a.1\nrun a\ncrash a => ~a:500\ngone a\ndone a@1 => !\ndue a => +a.2\nrun a@1 => "
      "!\n"
      "run a\ndone a@1 => !\ngone a@1 => !\ndone a\ngone a => =COMPLETED" },
    { "a result counts once", "a",
      "begin => +a.1\nrun a\ndone a\nerror a late => !\ngone a => =COMPLETED\ndone a => !" },
    { "a tree may be gone before its result is known", "a",
      "begin => +a.1\nrun a\ngone a\n?a => running\ndone a => =COMPLETED" },

    /* gates */
    { "a gate that passes", "a; g!:a; b:g",
      "begin => +a.1\nok a => +g.1/1\npassed g => +b.1\nok b => =COMPLETED" },
    { "a gate sends work back, then passes", "a; g!:a; b:g",
      "begin => +a.1\nok a => +g.1/1\nrun g\nroute g a => g>a +a.2*\n?g => routing\ngone g\n"
      "ok a => +g.2/2\npassed g => +b.1\nok b => =COMPLETED" },
    { "a gate's next iteration waits for its old tree", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nroute g a => g>a +a.2*\nok a\n?g => waiting\n"
      "gone g => +g.2/2\npassed g => =COMPLETED" },
    { "the target's next attempt waits for its old tree", "a; g!:a",
      "begin => +a.1\nrun a\ndone a => +g.1/1\nrouted g a => g>a\ngone a => +a.2*\n"
      "ok a => +g.2/2\npassed g => =COMPLETED" },
    { "everything between the target and the gate runs again", "a; b:a; c:b; x:a; g!:c; d:g,x",
      "begin => +a.1\nok a => +b.1 +x.1\nok x\nok b => +c.1\nok c => +g.1/1\n"
      "routed g a => g>a +a.2*\nok a => +b.2*\nok b => +c.2*\nok c => +g.2/2\n"
      "passed g => +d.1\nok d => =COMPLETED" },
    { "a route into a diamond", "a; b:a; c:a; g!:b,c",
      "begin => +a.1\nok a => +b.1 +c.1\nok b\nok c => +g.1/1\n"
      "routed g a => g>a +a.2*\nok a => +b.2* +c.2*\nok c\nok b => +g.2/2\n"
      "routed g c => g>c +c.3*\nok c => +g.3/3\npassed g => =COMPLETED" },
    { "a support phase runs only when routed to", "a; g!:a; +s",
      "begin => +a.1\nok a => +g.1/1\nrouted g s => g>s +s.1*\nok s => +g.2/2\n"
      "routed g s => g>s +s.2*\nok s => +g.3/3\npassed g => =COMPLETED" },
    { "a support phase that nobody needs", "a; g!:a; +s",
      "begin => +a.1\nok a => +g.1/1\npassed g => =COMPLETED\n?s => waiting" },
    { "a target that is skipped counts as done", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nskip a => +g.2/2\npassed g => "
      "=COMPLETED" },
    { "a gate that is skipped counts as passed", "a; g!:a; b:g",
      "begin => +a.1\nok a => +g.1/1\nskip g => +b.1\nok b => =COMPLETED" },
    { "the budget ends: the target is not run", "a; g!2:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok a => +g.2/2\nrun g\nroute g a\n"
      "?g => failed\ngone g => =ESCALATED\n"
      "? => gate g: still not passed after 2 iterations (max_iterations)" },
    { "a budget of one", "a; g!1:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nroute g a tests fail\ngone g => =ESCALATED\n"
      "? => gate g: still not passed after 1 iteration (max_iterations): tests fail" },
    { "a gate escalates", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nescalate g needs a lawyer\ngone g => =ESCALATED\n"
      "? => gate g escalated: needs a lawyer" },
    { "a gate may not route to what is not before it", "a; x; g!:a",
      "begin => +a.1 +x.1\nok x\nok a => +g.1/1\nrun g\nroute g x\ngone g => =ESCALATED\n"
      "? => gate g may not route to x, which is neither before it nor support" },
    { "a gate may not route to itself", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nroute g g\ngone g => =ESCALATED" },
    { "a gate without a verdict is an agent's error", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrun g\nnone g\ngone g => =ESCALATED\n"
      "? => phase g: agent error: gate gave no verdict" },
    { "a gate's retry is the same iteration", "a; g!~1:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok a => +g.2/2\n"
      "run g\nnone g => ~g:500\ngone g\ndue g => +g.3/2\n"
      "routed g a => g>a +a.3*\nok a => +g.4/3\n"
      "run g\ncrash g => ~g:500\ngone g\ndue g => +g.5/3\npassed g => =COMPLETED" },
    { "a routed phase may fail and be retried", "a~1; b:a; g!:b",
      "begin => +a.1\nok a => +b.1\nok b => +g.1/1\nrouted g a => g>a +a.2*\n"
      "run a\ncrash a => ~a:500\ngone a\ndue a => +a.3*\nok a => +b.2*\nok b => +g.2/2\n"
      "passed g => =COMPLETED" },
    { "a routed phase that fails escalates", "a; b:a; g!:b",
      "begin => +a.1\nok a => +b.1\nok b => +g.1/1\nrouted g a => g>a +a.2*\nok a => +b.2*\n"
      "run b\ntimeout b\ngone b => =ESCALATED\n? => phase b timed out\n?g => routing" },
    { "two gates in a row", "a; g!:a; b:g; h!:b",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok a => +g.2/2\npassed g => +b.1\n"
      "ok b => +h.1/1\nrouted h b => h>b +b.2*\nok b => +h.2/2\npassed h => =COMPLETED" },
    { "a gate inside another's errand begins at iteration 1", "a; g!2:a; b:g; h!:b",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok a => +g.2/2\npassed g => +b.1\n"
      "ok b => +h.1/1\nrouted h a => h>a +a.3*\nok a => +g.3/1*\n"
      /* its own errand is nested: it may use a, which the outer errand holds */
      "routed g a => g>a +a.4*\nok a => +g.4/2*\npassed g => +b.2*\nok b => +h.2/2\n"
      "passed h => =COMPLETED" },
    { "a nested errand may reach further up than the outer one", "a; b:a; g!:b; c:g; h!:c",
      "begin => +a.1\nok a => +b.1\nok b => +g.1/1\npassed g => +c.1\nok c => +h.1/1\n"
      "routed h g => h>g +g.2/1*\nrouted g a => g>a +a.2*\nok a => +b.2*\nok b => +g.3/2*\n"
      "passed g => +c.2*\nok c => +h.2/2\npassed h => =COMPLETED" },
    { "two gates take turns on one phase", "a; g!:a; h!:a",
      "begin => +a.1\nok a => +g.1/1 +h.1/1\nrouted g a => g>a +a.2*\nrouted h a => h>a\n"
      "run a\ndone a\ngone a => +a.3*\n" /* g judges only finished work: after h's errand */
      "ok a => +g.2/2 +h.2/2\npassed g\npassed h => =COMPLETED" },
    { "two gates take turns on a support phase", "a; g!:a; h!:a; +s",
      "begin => +a.1\nok a => +g.1/1 +h.1/1\nrouted h s => h>s +s.1*\nrouted g s => g>s\n"
      "ok s => +h.2/2 +s.2*\nok s => +g.2/2\npassed g\npassed h => =COMPLETED" },
    { "errands over different phases run side by side", "a; b; g!:a; h!:b",
      "begin => +a.1 +b.1\nok a => +g.1/1\nok b => +h.1/1\nrouted g a => g>a +a.2*\n"
      "routed h b => h>b +b.2*\nok b => +h.2/2\nok a => +g.2/2\npassed g\npassed h => =COMPLETED" },
    { "the queue is first come, first served", "a; b:a; g!:b; h!:a; i!:b",
      "begin => +a.1\nok a => +b.1 +h.1/1\nok b => +g.1/1 +i.1/1\n"
      "routed g b => g>b +b.2*\nrouted i a => i>a\n" /* needs a and b: waits for b */
      "routed h a => h>a\n"                          /* a is free, but i came first */
      "ok b => +a.2*\n"
      "ok a => +b.3*\n"
      "ok b => +a.3* +g.2/2 +i.2/2\n"
      "ok a => +h.2/2\npassed h\npassed g\npassed i => =COMPLETED" },
    { "errands that wait for each other in a circle do not stand still",
      "t; u; y:t; x:u; p!:t,x; q!:u,y; g!:y,p; h!:x,q",
      /* g's errand is t, y, p; h's is u, x, q. p needs x, q needs y. */
      "begin => +t.1 +u.1\nok t => +y.1\nok u => +x.1\nok y => +q.1/1\nok x => +p.1/1\n"
      "passed p => +g.1/1\npassed q => +h.1/1\n"
      "routed g t => g>t +t.2*\nrouted h u => h>u +u.2*\n"
      "ok t => +y.2* +p.2/1*\nok u => +x.2* +q.2/1*\nok y\nok x\n"
      "run p\nroute p x => p>x\ngone p\nrun q\nroute q y => q>y\ngone q => +x.3*\n"
      "ok x => +p.3/2*\npassed p => +y.3*\n" /* now y is free; g waits for it too */
      "ok y => +q.3/2* +g.2/2\npassed q => +h.2/2\npassed g\npassed h => =COMPLETED" },
    { "what waits for a phase waits for its re-run, too", "a; g!:a; x; b:a,x",
      "begin => +a.1 +x.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok x\n"
      "ok a => +g.2/2 +b.1\nok b\npassed g => =COMPLETED" },
    { "a route while ending starts nothing", "a; g!:a; x",
      "begin => +a.1 +x.1\nok a => +g.1/1\nrun x\nrun g\nerror x no\ngone x\nroute g a => g>a\n"
      "gone g => =ESCALATED\n?g => routing" },
    { "support gates that send work to each other are stopped", "a; g!:a; +s!; +r!",
      "begin => +a.1\nok a => +g.1/1\nrouted g s => g>s +s.1/1*\nrouted s r => s>r +r.1/1*\n"
      "run r\nroute r s => r>s\ngone r => =ESCALATED\n"
      "? => gate r routed to s, which waits for that gate" },

    /* a budget is used up */
    { "giveup lets what runs finish, and starts nothing", "a; b; c:a",
      "begin => +a.1 +b.1\nrun a\nrun b\ngiveup budget of a\ngiveup twice => !\ndone a\n"
      "gone a\ndone b\ngone b => =ESCALATED\n? => budget of a\n?a => done\n?c => waiting\n"
      "rerun c => +c.1\nok c => =COMPLETED" },
    { "giveup before its agent's error is the reason", "a~2",
      "begin => +a.1\nrun a\ngiveup budget of a\nlast a x\ngone a => =ESCALATED\n"
      "? => budget of a\n?a => failed" },
    { "giveup when a phase is to be started", "a",
      "giveup => !\nbegin => +a.1\ngiveup budget\ngone a => =ESCALATED\n?a => waiting" },
    /* cancel and abort */
    { "cancel before the beginning", "a", "cancel => =CANCELLED\nbegin => !" },
    { "cancel while starting", "a; b:a",
      "begin => +a.1\ncancel\nrun a => -a.1\ncrash a\n?a => waiting\ngone a => =CANCELLED" },
    { "cancel while starting, and it was not begun", "a",
      "begin => +a.1\ngone a => !\ncancel\ngone a => =CANCELLED\n? => cancelled" },
    { "cancel while running", "a; b:a",
      "begin => +a.1\nrun a\ncancel => -a.1\ncancel => !\ngone a => =CANCELLED\n?a => waiting" },
    { "cancel while running, and it completes", "a; b:a",
      "begin => +a.1\nrun a\ncancel => -a.1\ndone a\n?a => done\ngone a => =CANCELLED" },
    { "cancel while running, and it errs", "a~2",
      "begin => +a.1\nrun a\ncancel => -a.1\nerror a x\ngone a => =CANCELLED" },
    { "cancel in back-off", "a~1",
      "begin => +a.1\nrun a\nerror a => ~a:500\ngone a\ncancel => =CANCELLED\ndue a => !" },
    { "cancel while routing", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nrun a\ncancel => -a.2\n"
      "gone a => =CANCELLED\n?g => routing" },
    { "cancel while a tree lingers", "a",
      "begin => +a.1\nrun a\ndone a\ncancel => -a.1\ngone a => =CANCELLED\n?a => done" },
    { "cancel after the end", "a", "begin => +a.1\nok a => =COMPLETED\ncancel => !\nabort => !" },
    { "cancel beats escalation", "a; b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror a x\ngone a\ncancel => -b.1\ngone b => =CANCELLED" },
    { "abort fails the run", "a",
      "begin => +a.1\nrun a\nabort disk full => -a.1\ncancel => !\ngone a => =FAILED\n"
      "? => disk full" },
    { "abort beats escalation", "a; b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror a x\ngone a\nabort => -b.1\ngone b => =FAILED\n"
      "? => the orchestrator could not go on" },
    { "after a cancel, abort changes nothing", "a",
      "begin => +a.1\nrun a\ncancel => -a.1\nabort => !\ngone a => =CANCELLED" },

    /* rerun */
    { "rerun a failed phase", "a; b:a; c:b",
      "begin => +a.1\nok a => +b.1\nrun b\nerror b x\ngone b => =ESCALATED\n"
      "rerun b => +b.2\n? => none\nok b => +c.1\nok c => =COMPLETED" },
    { "rerun goes downstream only", "a; b:a; c:b; x:a",
      "begin => +a.1\nok a => +b.1 +x.1\nok x\nok b => +c.1\nok c => =COMPLETED\n"
      "rerun b => +b.2\nok b => +c.2\nok c => =COMPLETED" },
    { "rerun of a completed run from its root", "a; g!:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => g>a +a.2*\nok a => +g.2/2\npassed g => "
      "=COMPLETED\nrerun a => +a.3\nok a => +g.3/1\npassed g => =COMPLETED" },
    { "rerun a gate whose budget was used up", "a; g!1:a",
      "begin => +a.1\nok a => +g.1/1\nrouted g a => =ESCALATED\nrerun g => +g.2/1\npassed g => "
      "=COMPLETED" },
    { "rerun in the middle of an errand", "a; b:a; g!:b",
      "begin => +a.1\nok a => +b.1\nok b => +g.1/1\nrouted g a => g>a +a.2*\nok a => +b.2*\n"
      "run b\nerror b x\ngone b => =ESCALATED\nrerun b => +b.3\nok b => +g.2/1\npassed g => "
      "=COMPLETED" },
    { "rerun while a failed support phase is at rest", "a; g!:a; +s",
      "begin => +a.1\nok a => +g.1/1\nrouted g s => g>s +s.1*\nrun s\nerror s x\ngone s => "
      "=ESCALATED\nrerun g => +g.2/1\nrouted g s => g>s +s.2*\nok s => +g.3/2\npassed g => "
      "=COMPLETED" },
    { "another gate's errand goes on after a rerun", "a; g!:a; x",
      "begin => +a.1 +x.1\nok a => +g.1/1\nrun x\nrouted g a => g>a +a.2*\nerror x no\ngone x\n"
      "ok a => =ESCALATED\n?g => waiting\nrerun x => +x.2 +g.2/2\nok x\npassed g => =COMPLETED" },
    { "what still failed ends the run again", "a; b; c:a,b",
      "begin => +a.1 +b.1\nrun a\nrun b\nerror a x\nerror b y\ngone a\ngone b => =ESCALATED\n"
      "rerun a => +a.2\nok a => =ESCALATED\n? => phase b failed before and was not run again\n"
      "rerun b => +b.2\nok b => +c.1\nok c => =COMPLETED" },
    { "rerun after a cancel runs what was stopped, too", "a; b; c:a,b",
      "begin => +a.1 +b.1\nrun a\nrun b\ncancel => -a.1 -b.1\ncrash a\ngone a\ngone b => "
      "=CANCELLED\nrerun a => +a.2 +b.2\nok a\nok b => +c.1\nok c => =COMPLETED" },
    { "rerun of a fresh run begins it", "a; b:a",
      "rerun b => +a.1\nbegin => !\nok a => +b.1\nok b => =COMPLETED" },
    { "rerun of what runs is refused", "a; b:a",
      "begin => +a.1\nrerun a => !\nrerun b\nrun a\nrerun a => !\ndone a => +b.1\nrerun a => !" },
    { "rerun of a support phase is refused", "a; +s",
      "begin => +a.1\nok a => =COMPLETED\nrerun s => !" },
    { "rerun while ending is refused", "a; b",
      "begin => +a.1 +b.1\nrun b\nerror a x\nrerun a => !\ngone b\ndone b => =ESCALATED" },
};

static void
an_invalid_team_has_no_scheduler(void **state)
{
    struct team t;
    size_t unknown = SIZE_MAX;

    (void)state;
    team_of(&t, "a; b:a");
    t.phases[0].deps = &unknown;
    t.phases[0].n_depends_on = 1;
    assert_null(sched_new(&t, &(struct sched_options){ 0 }));
    unknown = 1; /* a cycle */
    assert_null(sched_new(&t, &(struct sched_options){ 0 }));
    team_drop(&t);
}

static void
a_long_reason_is_truncated_between_characters(void **state)
{
    struct team t;
    char text[8001];
    struct actions acts = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[8000] = '\0';
    team_of(&t, "a");
    struct sched *s = sched_new(&t, &(struct sched_options){ 0 });
    assert_true(sched_apply(s, &(struct sched_event){ .kind = EV_BEGIN }, &acts));
    assert_true(
        sched_apply(s,
                    &(struct sched_event){
                        .kind = EV_RESULT, .attempt = 1, .outcome = OUT_ERROR, .text = text },
                    &acts));
    memset(text, 'x', sizeof text - 1); /* it was copied */
    assert_in_range(strlen(sched_reason(s)), 4000, 4200);
    assert_null(strchr(sched_reason(s) + 22, 'x'));
    assert_string_equal(acts.a[acts.n - 1].text, sched_reason(s));
    sched_free(s);
    actions_release(&acts);
    team_drop(&t);
}

static void
states_and_statuses_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < PS_STATES; i++)
        assert_non_null(phase_state_name((enum phase_state)i));
    assert_string_equal(phase_state_name(PS_WAITING), "waiting");
    assert_string_equal(run_status_name(RUN_COMPLETED), "COMPLETED");
    assert_string_equal(run_status_name(RUN_ACTIVE), "ACTIVE");
}

int
main(void)
{
    enum { STORIES = sizeof stories / sizeof stories[0] };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(an_invalid_team_has_no_scheduler),
        cmocka_unit_test(a_long_reason_is_truncated_between_characters),
        cmocka_unit_test(states_and_statuses_have_names),
    };
    enum { OTHERS = sizeof others / sizeof others[0] };
    struct CMUnitTest tests[STORIES + OTHERS] = { 0 };

    for (size_t i = 0; i < STORIES; i++)
        tests[i] = (struct CMUnitTest){ .name = stories[i].name,
                                        .test_func = tell,
                                        .initial_state = (void *)(uintptr_t)&stories[i] };
    memcpy(tests + STORIES, others, sizeof others);
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
