/* run_picture_json - a run as JSON: what `cliq status --json` prints and the tool pipeline_status
 * answers. */
#include "base/clock.h"
#include "run/history.h"
#include "run/next_step.h"
#include "run/panes.h"
#include "run/review_line.h"
#include "run/run_json.h"
#include "run/run_picture.h"

#include <string.h>

static void
key_time(struct buf *out, const char *key, int64_t at_ms)
{
    char text[CLOCK_ISO_SIZE];

    if (at_ms)
        json_key_str(out, key, clock_iso_ms(text, at_ms));
}

static void write_json_sub(const struct run_picture *p, struct buf *out);

static void
write_json_phase(const struct run_picture *p, size_t i, struct buf *out)
{
    const struct phase *ph = &p->workflow.team.phases[i];
    const struct sched_phase *st = replay_phase(&p->replay, i);
    const struct replay_words *words = &p->replay.words[i];
    struct usage used = run_picture_phase_usage(p, i);
    struct buf said = { 0 };

    json_open(out, '{');
    json_key_str(out, "phase", ph->name);
    json_key_str(out, "type", phase_type_name(ph->type));
    json_key_strs(out, "depends_on", ph->depends_on, ph->n_depends_on);
    if (ph->is_support)
        json_key_bool(out, "is_support", true);
    json_key_str(out, "agent", run_picture_agent(p, i));
    json_key_str(out, "state", run_picture_phase_state(p, i));
    json_key_int(out, "attempts", st->attempt - st->skips);
    key_time(out, "started", p->replay.started_ms[i]);
    key_time(out, "ended", p->replay.ended_ms[i]);
    key_time(out, "heard", run_picture_heard_ms(p, i));
    if (run_picture_phase_ms(p, i) >= 0)
        json_key_int(out, "duration_ms", run_picture_phase_ms(p, i));
    json_key_str(out, "waits_for_files_of", run_picture_files_holder(p, i));
    run_picture_progress(p, i, &said);
    if (said.len && !buf_failed(&said))
        json_key_strn(out, "progress", said.p, said.len);
    json_key_str(out, words->is_good ? "result" : "error", words->text);
    usage_key_json(out, "usage", &used);
    if (sched_is_untried(st))
        json_key_bool(out, "is_untried", true);
    if (ph->type == PHASE_GATE) {
        json_key_int(out, "iteration", st->iteration);
        json_key_int(out, "max_iterations", ph->max_iterations);
    }
    if (run_picture_sub(p, i)) {
        json_key(out, "run");
        write_json_sub(run_picture_sub(p, i), out);
    }
    json_close(out, '}');
    buf_release(&said);
}

static void
write_phases(const struct run_picture *p, struct buf *out)
{
    json_key(out, "phases");
    json_open(out, '[');
    for (size_t i = 0; i < p->workflow.team.n_phases; i++) {
        json_sep(out);
        write_json_phase(p, i, out);
    }
    json_close(out, ']');
}

/* The run of a team phase: what of a run is its own. */
static void
write_json_sub(const struct run_picture *p, struct buf *out)
{
    struct usage used = run_picture_usage(p);

    json_open(out, '{');
    json_key_str(out, "run", p->replay.head.run_id);
    json_key_str(out, "team", p->replay.head.team);
    json_key_str(out, "status", run_picture_state(p));
    json_key_str(out, "reason", replay_reason(&p->replay));
    key_time(out, "started", p->replay.head.at_ms);
    if (p->replay.head.has_end)
        key_time(out, "ended", p->replay.head.end_ms);
    usage_key_json(out, "usage", &used);
    write_phases(p, out);
    json_close(out, '}');
}

void
run_picture_json(const struct run_picture *p, const char *attach, struct buf *out)
{
    struct buf next = { 0 };
    struct usage used = run_picture_usage(p);

    json_open(out, '{');
    json_key_str(out, "run", p->replay.head.run_id);
    json_key_str(out, "team", p->replay.head.team);
    json_key_str(out, "status", run_picture_state(p));
    json_key_str(out, "reason", replay_reason(&p->replay));
    key_time(out, "started", p->replay.head.at_ms);
    if (p->replay.head.has_end)
        key_time(out, "ended", p->replay.head.end_ms);
    if (p->replay.head.has_end || !p->is_driven) /* else each look would be a change */
        json_key_int(out, "duration_ms", run_picture_ms(p));
    if (p->is_asleep)
        key_time(out, "wakes", p->sleep.wake_ms);
    usage_key_json(out, "usage", &used);
    run_picture_next(p, &next);
    if (next.len && !buf_failed(&next))
        json_key_strn(out, "next", next.p + strlen(NEXT_STEP_WORD),
                      next.len - strlen(NEXT_STEP_WORD) - 1);
    if (*attach)
        json_key_str(out, "attach", attach);
    size_t n_notes = p->replay.head.n_notes;
    if (n_notes)
        json_key_strs(out, "notes", p->replay.head.notes,
                      n_notes < JOURNAL_NOTES ? n_notes : JOURNAL_NOTES);
    write_phases(p, out);
    review_line_json(p->state, p->replay.head.has_end, out);
    json_close(out, '}');
    buf_addc(out, '\n');
    buf_release(&next);
}

enum status
run_json(const struct state_dir *project, const char *id, struct buf *to, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct run_picture p = { 0 };
    char attach[128] = "";
    bool is_present = true;
    enum status s = history_open(project, id, &f, &is_present, e);

    if (!s)
        s = run_picture_load(&p, &f, e);
    if (!s) {
        if (!panes_are_there(&f, attach, sizeof attach))
            attach[0] = '\0';
        run_picture_json(&p, attach, to);
        if (to->len && to->p[to->len - 1] == '\n')
            buf_cut(to, to->len - 1);
    }
    if (s && p.workflow.said.len) /* its first error says more than their number */
        err_say(e, "%.*s", (int)strcspn(p.workflow.said.p, "\n"), p.workflow.said.p);
    run_picture_release(&p);
    state_dir_close(&f);
    return s;
}
