/*
 * hug - a gate that people decide: makes a review (run/review.h), tells its reviewers, and gives
 * the verdict when they have decided.
 *
 * It does not wait. While the review is open it ends without a terminal line, and its orchestrator
 * starts it again, for the same attempt, when the review was answered, or a reminder or the end of
 * the review is due (attempt.c). Each time it does what the review asks for. So a gate that waits
 * has no process.
 */
#include "agents/agent_main.h"
#include "agents/review/review_copy.h"
#include "agents/review/review_task.h"
#include "base/clock.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "context/frames.h"
#include "run/review.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS ((int64_t)24 * 60 * 60 * 1000)
enum { REVIEWERS_MAX = 50, HANDOFF_TEXT_MAX = 64 << 10 };

struct hug {
    struct context *c;
    struct json *doc;
    bool is_below;   /* in a team phase: the reviews are those of .cliq/ */
    const char *way; /* of the gate: "build/accept" */
    char id[REVIEW_ID_SIZE];
    int64_t created_ms, expires_ms, remind_ms;
};

static int64_t
now_ms(void)
{
    return clock_wall_ns() / 1000000;
}

static bool
set_text(struct arena *a, struct json *to, const char *key, const char *text)
{
    return json_set(to, key, json_new_copy(a, text, strlen(text)));
}

/* ---- the review is made ---- */

static enum status
read_time(struct context *c, const char *key, int64_t otherwise, int64_t *ms, struct err *e)
{
    const struct json *v = json_get(json_get(c->dispatch, "review"), key);
    const char *text = json_is(v, JSON_NUMBER) ? arena_dup(c->arena, v->text.p, v->text.len)
                                               : json_dup_text(c->arena, v);

    *ms = otherwise;
    if (text && (!opt_parse_ms(text, ms) || *ms <= 0))
        return err_set(e, ST_INVALID, "review.%s must be a time like 30m, 24h or 2d, not \"%.40s\"",
                       key, text);
    return ST_OK;
}

static enum status
add_reviewer(struct context *c, struct json *list, const struct json *v, struct err *e)
{
    const char *ref = json_dup_text(c->arena, v), *who = ref ? review_identity(ref) : "";
    struct json *one = json_new(c->arena, JSON_OBJECT);

    if (!path_is_name(who))
        return err_set(e, ST_INVALID,
                       "review.reviewer: \"%.80s\" names nobody: write slack:elan, "
                       "email:ops or a name",
                       ref ? ref : "");
    json_each (other, list)
        if (json_eq(json_get(other, "identity"), who))
            return ST_OK;
    if (list->kids.count == REVIEWERS_MAX)
        return err_set(e, ST_INVALID, "review.reviewer has more than %d", REVIEWERS_MAX);
    if (!one || !set_text(c->arena, one, "ref", ref) || !set_text(c->arena, one, "identity", who))
        return err_nomem(e);
    json_add(list, one);
    return ST_OK;
}

static enum status
set_reviewers(struct context *c, struct json *doc, struct err *e)
{
    const struct json *review = json_get(c->dispatch, "review"), *v = json_get(review, "reviewer");
    const struct json *require = json_get(review, "require");
    struct json *list = json_new(c->arena, JSON_ARRAY);
    bool is_all = json_eq(require, "all");
    enum status s = list ? ST_OK : err_nomem(e);

    if (require && !is_all && !json_eq(require, "any"))
        return err_set(e, ST_INVALID, "review.require must be any or all");
    if (!s && !json_is(v, JSON_ARRAY))
        s = add_reviewer(c, list, v, e);
    else
        json_each (one, v)
            if (!s)
                s = add_reviewer(c, list, one, e);
    if (!s && !json_first(list))
        s = err_set(e, ST_INVALID, "the agent hug needs review.reviewer: who decides");
    if (!s && (!json_set(doc, "reviewers", list) ||
               !set_text(c->arena, doc, "require", is_all ? "all" : "any")))
        s = err_nomem(e);
    return s;
}

/* A copy that can stand in another tree. NULL: out of memory. */
static struct json *
copy_of(struct arena *a, const struct json *v)
{
    struct buf text = { 0 };
    struct json *out = NULL;

    json_write(&text, v);
    const char *kept = buf_failed(&text) ? NULL : arena_dup(a, text.p, text.len);
    if (!kept || !json_parse(a, kept, text.len, &out, NULL))
        out = NULL;
    buf_release(&text);
    return out;
}

/* The handoffs of the phases before. */
static enum status
set_handoffs(struct context *c, struct json *doc, struct err *e)
{
    struct json *list = json_new(c->arena, JSON_ARRAY);

    if (!list || !json_set(doc, "handoffs", list))
        return err_nomem(e);
    for (size_t i = 0; i < c->n_inputs; i++) {
        const struct context_input *in = &c->inputs[i];
        struct json *one = json_new(c->arena, JSON_OBJECT);
        size_t n = in->is_there && in->handoff.text ? in->handoff.text_len : 0;
        if (!in->is_there)
            continue;
        if (!one || !set_text(c->arena, one, "from", in->from) ||
            !json_set(one, "text",
                      json_new_copy(c->arena, n ? in->handoff.text : "",
                                    n < HANDOFF_TEXT_MAX ? n : HANDOFF_TEXT_MAX)) ||
            !json_set(one, "data", copy_of(c->arena, in->handoff.data)))
            return err_nomem(e);
        json_add(list, one);
    }
    return ST_OK;
}

static enum status
set_gate(struct hug *h, int64_t attempt, const char *run, struct err *e)
{
    struct context *c = h->c;
    struct json *targets = json_new(c->arena, JSON_ARRAY), *doc = h->doc;
    struct json *checks =
        c->check_results ? copy_of(c->arena, c->check_results) : json_new(c->arena, JSON_ARRAY);

    for (size_t i = 0; targets && i < c->n_route_targets; i++)
        json_add(targets, json_new_str(c->arena, c->route_targets[i], strlen(c->route_targets[i])));
    struct run_latest whole; /* of a gate in a team phase: the run that people know */
    const char *shown =
        h->is_below && run_latest(&c->state, &whole, NULL) == ST_OK ? whole.id : run;
    bool ok = targets && json_set(doc, "v", json_new_int(c->arena, 1)) &&
              set_text(c->arena, doc, "id", h->id) && set_text(c->arena, doc, "run", shown) &&
              set_text(c->arena, doc, "team", c->team_name) &&
              set_text(c->arena, doc, "gate", h->way) &&
              json_set(doc, "attempt", json_new_int(c->arena, attempt)) &&
              json_set(doc, "iteration", json_new_int(c->arena, c->iteration)) &&
              json_set(doc, "max_iterations", json_new_int(c->arena, c->max_iterations)) &&
              set_text(c->arena, doc, "state", "open") &&
              json_set(doc, "created_ms", json_new_int(c->arena, h->created_ms)) &&
              json_set(doc, "expires_ms", json_new_int(c->arena, h->expires_ms)) &&
              json_set(doc, "remind_ms", json_new_int(c->arena, h->remind_ms)) &&
              json_set(doc, "route_targets", targets) && json_set(doc, "checks", checks);
    return ok ? ST_OK : err_nomem(e);
}

static enum status
make(struct hug *h, int64_t attempt, const char *run, struct err *e)
{
    struct context *c = h->c;
    int64_t timeout_ms;
    enum status s = read_time(c, "timeout", TIMEOUT_MS, &timeout_ms, e);

    if (!s)
        s = read_time(c, "remind_every", 0, &h->remind_ms, e);
    h->doc = json_new(c->arena, JSON_OBJECT);
    h->created_ms = now_ms();
    h->expires_ms = h->created_ms + timeout_ms;
    if (!s)
        s = h->doc ? set_gate(h, attempt, run, e) : err_nomem(e);
    if (!s)
        s = set_reviewers(c, h->doc, e);
    if (!s)
        s = set_handoffs(c, h->doc, e);
    if (!s)
        s = review_copy_artifacts(c, h->id, json_get(json_get(c->dispatch, "review"), "artifacts"),
                                  h->doc, e);
    if (!s)
        s = review_copy_changes(c, h->id, h->doc, e);
    return s ? s : review_make(&c->state, h->doc, e);
}

/* ---- people are told ---- */

/* "elan, ops": who has not answered. */
static const char *
awaited(struct hug *h)
{
    struct buf text = { 0 };
    const char *out = NULL;

    review_awaited(h->c->arena, h->doc, &text);
    if (text.len && !buf_failed(&text))
        out = arena_dup(h->c->arena, text.p, text.len);
    buf_release(&text);
    return out ? out : "";
}

/* A reviewer that is only a name has no channel: the task in the hub tells. Who has answered is
 * reminded of nothing. */
static enum status
notify(struct hug *h, const char *event, struct err *e)
{
    struct arena *a = h->c->arena;
    char until[CLOCK_ISO_SIZE];
    enum status s = ST_OK;

    clock_iso_ms(until, h->expires_ms);
    json_each (r, json_get(h->doc, "reviewers")) {
        const char *ref = review_text(a, r, "ref"), *who = review_text(a, r, "identity");
        struct json *payload = json_new(a, JSON_OBJECT);
        if (s || !strchr(ref, ':') || review_has_answer_of(h->doc, r))
            continue;
        if (!payload || !set_text(a, payload, "review_id", h->id) ||
            !set_text(a, payload, "reviewer", who) || !set_text(a, payload, "until", until) ||
            !json_set(payload, "iteration", json_new_int(a, h->c->iteration)))
            return err_nomem(e);
        s = context_notify(h->c, event, ref, payload, e);
    }
    return s;
}

/* ---- the verdict ---- */

/* "elan asks for changes: the title is wrong" */
static void
add_answer(struct hug *h, const struct json *answer, struct buf *to)
{
    static const char *const says[] = { "", "approved", "asks for changes", "rejected" };
    struct arena *a = h->c->arena;
    const char *text = review_text(a, answer, "text");

    buf_addf(to, "%s%s %s%s%s", to->len ? "; " : "", review_text(a, answer, "by"),
             says[review_verdict_of(review_text(a, answer, "verdict"))], *text ? ": " : "", text);
}

static enum status
end(struct hug *h, struct err *e)
{
    static const char *const outcomes[] = { "ESCALATE", "PASS", "ROUTE", "ESCALATE" };
    struct arena *a = h->c->arena;
    const struct json *decides = review_decision(h->doc);
    enum review_verdict verdict = review_verdict_of(review_text(a, decides, "verdict"));
    struct context_verdict v = { .outcome = outcomes[verdict] };
    struct buf comment = { 0 };

    if (verdict == REVIEW_APPROVE)
        json_each (answer, json_get(h->doc, "answers"))
            add_answer(h, answer, &comment);
    else if (verdict)
        add_answer(h, decides, &comment);
    else
        buf_addf(&comment, "review %s expired: no answer from %s", h->id, awaited(h));
    v.target = verdict == REVIEW_CHANGES ? review_text(a, decides, "to") : NULL;
    v.reviewer = verdict ? review_text(a, decides, "by") : NULL;
    v.decided_at = verdict ? review_text(a, decides, "at") : NULL;
    v.comment = comment.p;
    enum status s = buf_status(&comment, "the verdict", e);
    if (!s)
        s = context_finalize_gate(h->c, &v, e);
    buf_release(&comment);
    return s;
}

/* ---- the whole ---- */

static void
read_times(struct hug *h)
{
    json_int(json_get(h->doc, "created_ms"), &h->created_ms);
    json_int(json_get(h->doc, "expires_ms"), &h->expires_ms);
    json_int(json_get(h->doc, "remind_ms"), &h->remind_ms);
}

/* A new review, or the one that an earlier process of this attempt made. */
static enum status
begin(struct hug *h, struct err *e)
{
    struct context *c = h->c;
    const char *run = json_dup_text(c->arena, json_get(c->dispatch, "run_id"));
    int64_t attempt = 0;

    json_int(json_get(c->dispatch, "attempt"), &attempt);
    run = run ? run : c->instance_id;
    review_make_id(h->id, run, c->phase, attempt);
    enum status s = review_load(&c->state, c->arena, h->id, &h->doc, e);
    if (s == ST_NOT_FOUND)
        s = make(h, attempt, run, e);
    else if (!s)
        s = review_move(&c->state, c->arena, h->id, "cancelled", "open", &h->doc, e);
    if (!s)
        read_times(h);
    return s;
}

/* In the attempt's pane and status, by notifiers, and in inboxes. That it was done is noted last:
 * of a process that dies here the next one tells it again. */
static enum status
announce(struct hug *h, struct err *e)
{
    bool is_first = !json_get(h->doc, "told_ms");
    struct buf says = { 0 };

    buf_addf(&says, "waits for %s: cliq review show %s", awaited(h), h->id);
    enum status s = buf_failed(&says) ? err_nomem(e) : context_progress(h->c, says.p, e);
    if (!s)
        s = notify(h, is_first ? "hug_review" : "hug_reminder", e);
    buf_release(&says);
    if (!s)
        review_task_open(h->c, h->doc);
    return s ? s : review_note_told(&h->c->state, h->c->arena, h->id, now_ms(), e);
}

static enum status
look(struct hug *h, struct err *e)
{
    struct context *c = h->c;
    enum status s = begin(h, e);

    if (!s && review_is(h->doc, "open") && now_ms() >= h->expires_ms)
        s = review_move(&c->state, c->arena, h->id, "open", "expired", &h->doc, e);
    if (!s && review_is(h->doc, "open"))
        return now_ms() >= review_due_ms(h->doc) ? announce(h, e) : ST_OK;
    if (!s)
        s = end(h, e);
    if (!s)
        review_task_close(c->agent, h->doc);
    return s;
}

/* All reviews of a run are in one place, where people look for them. */
static enum status
handle(struct context *c, struct err *e)
{
    struct hug h = { .c = c };
    struct state_dir own, top = { .dir = -1 };
    struct buf way = { 0 };
    enum status s =
        c->is_gate ? context_read(c, e) : err_set(e, ST_INVALID, "the agent hug is for gates");

    if (!s)
        s = frame_way(&c->state, c->phase, &way, e);
    if (!s)
        s = frame_top(&top, &c->state, e);
    if (!s) {
        h.way = way.p;
        own = c->state;
        h.is_below = strcmp(own.state_dir, top.state_dir) != 0;
        c->state = top;
        s = look(&h, e);
        c->state = own;
    }
    state_dir_close(&top);
    buf_release(&way);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_run(handle, e);
}

const struct cmd cmd_agent_hug = {
    .name = "agent hug",
    .brief = "the built-in agent that asks people to decide a gate",
    .about =
        "Reads an AgentMessage on standard input. Makes a review for the gate, tells its\n"
        "reviewers, and ends; it is started again when they answered with cliq review. The\n"
        "gate's commands run first; the reviewers see their results. approve is PASS, changes is\n"
        "ROUTE, reject and the end "
        "of the time are ESCALATE.\n"
        "\n"
        "The phase's review has reviewer (one or a list: slack:elan and email:ops are told "
        "through\n"
        "that channel of the settings, and are the identities elan and ops; a plain name is an\n"
        "identity), require (any: the first answer decides; all: everyone has to approve),\n"
        "artifacts (patterns of files, which are kept as they are), timeout (24h) and\n"
        "remind_every. Each reviewer has a task in the hub: cliq inbox @elan.",
    .examples = "cliq review show accept-1\n"
                "cliq review approve accept-1 -m \"well done\"",
    .opts = agent_no_opts,
    .run = run,
};
