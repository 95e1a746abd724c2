/*
 * claim_ops - what is done with one signal: claimed, extended, released, failed, acknowledged, its
 * status set; and what an identity does with it in its own inbox. Facts from the index, a decision
 * (decide.h), its events into the round.
 */
#include "hub/hub_impl.h"

#include "hub/model/signal_id.h"

#include <stdio.h>
#include <string.h>

/* ---- one signal ---- */

static bool
holds_role(struct op *t, const char *role)
{
    struct row *r = index_peek(t->h->ix, "SELECT 1 FROM fills WHERE identity = ? AND role = ?",
                               "ss", t->req->identity, role);

    return index_next(t->h->ix, r);
}

/* Is the signal for the caller, by name, by a role that they hold, or as a member of a ring? */
static bool
is_addressee(struct op *t, const struct signal_row *x)
{
    const char *name = x->addr ? x->addr + 1 : "";

    if (!x->addr)
        return true;
    if (*x->addr == '@')
        return strcmp(name, t->req->identity) == 0;
    if (*x->addr == '=')
        return holds_role(t, name);
    struct row *r = index_peek(t->h->ix, "SELECT 1 FROM joins WHERE identity = ? AND ring = ?",
                               "ss", t->req->identity, name);
    return index_next(t->h->ix, r);
}

static struct asker
learn_asker(struct op *t, const struct signal_row *x)
{
    return (struct asker){ .identity = t->req->identity,
                           .is_admin = t->req->is_admin,
                           .is_sender = x->sender && strcmp(x->sender, t->req->identity) == 0,
                           /* makes no difference for an admin: saves a query */
                           .is_addressee = t->req->is_admin || is_addressee(t, x),
                           .is_everyones = !x->addr };
}

/* The row's texts live until the next statement or event (fold_look). */
static bool
find_signal(struct op *t, struct signal_row *x)
{
    const char *id = NULL;

    if (!arg_id(&t->in, "signal_id", &id))
        return false;
    if (!id)
        return arg_missing(&t->in, "signal_id");
    if (!op_full_id(t, "signal_id", &id))
        return false;
    return fold_look(&t->h->fold, id, t->a, x) ||
           refuse(&t->refusal, 404, "SIGNAL_NOT_FOUND", "signal_id: there is no signal:%s", id);
}

static bool
read_order(struct op *t, struct order *o)
{
    int64_t lease_s = HUB_LEASE_S;
    double retry_s = -1;
    const char *status = NULL;
    enum hub_op op = t->req->op;

    *o = (struct order){ .retry_ms = -1 };
    if (op != HUB_CLAIM && op != HUB_REQUEUE && !arg_text(&t->in, "claim_id", &o->claim))
        return false;
    if ((op == HUB_CLAIM || op == HUB_EXTEND) && !arg_int(&t->in, "lease_seconds", &lease_s))
        return false;
    o->lease_ms = lease_s * 1000;
    if (op == HUB_FAIL) {
        if (!arg_number(&t->in, "retry_in", &retry_s) || !arg_json(&t->in, "error", &o->error))
            return false;
        o->retry_ms = retry_s < 0 ? -1 : (int64_t)(retry_s * 1000);
    }
    if (op == HUB_STATUS) {
        if (!arg_word(&t->in, "task_status", &status))
            return false;
        if (!status)
            return arg_missing(&t->in, "task_status");
        o->work = (enum work)work_find(status);
    }
    return true;
}

/* A refusal's details: the signal's state, and who has claimed it. */
static bool
refuse_with_state(struct op *t, const struct item *it)
{
    struct buf *b = t->out;

    json_open(b, '{');
    render_id(b, "signal_id", it->id);
    render_text(b, "delivery_state", delivery_names[it->state]);
    render_text(b, "task_status", work_names[it->work]);
    render_text(b, "claimed_by", it->claimed_by);
    render_time(b, "claim_expires_at", it->state == D_LEASED ? it->until : 0);
    json_close(b, '}');
    t->reply->details = buf_failed(b) ? NULL : arena_dup(t->a, b->p, b->len);
    return false;
}

/* The answer is written first: the row's texts may be gone after the event. */
static bool
act_on(struct op *t, struct signal_row *x, struct order *o, const char *key, const char *hash)
{
    struct asker who = learn_asker(t, x);
    struct hub_event ev;

    enum decision v = decide_item(t->req->op, &x->it, o, &who, &t->h->now, &ev, &t->refusal);
    if (v == DECIDE_REFUSED)
        return refuse_with_state(t, &x->it);
    ev.dedup_key = key;
    ev.dedup_hash = hash;
    struct signal_row after = *x;
    if (v != DECIDE_REPEAT)
        item_apply(&after.it, &ev);
    render_row(t->out, &after, "claim_id",
               v != DECIDE_REPEAT && ev.kind == EV_CLAIM ? ev.claim : NULL, t->a);
    if (v == DECIDE_REPEAT)
        return true;
    t->h->fold.known = x;
    bool is_good = op_event(t, &ev);
    t->h->fold.known = NULL;
    return is_good;
}

bool
op_act(struct op *t)
{
    struct signal_row x;
    struct order o;

    if (!read_order(t, &o) || !find_signal(t, &x) || !act_on(t, &x, &o, NULL, NULL))
        return false;
    if (t->req->op == HUB_RELEASE || t->req->op == HUB_REQUEUE)
        hub_do_lapses(t->h, t->a); /* before it is claimed in this round */
    return true;
}

/* ---- claims ---- */

/* Takes the first task of that address, if it is better than the best so far. */
static void
try_address(struct op *t, const char *addr, const char *types, struct signal_row *best)
{
    struct signal_row x, its;

    if (fold_find_ready(&t->h->fold, addr, types, t->a, &x) &&
        (!best->it.seq || x.urgency > best->urgency ||
         (x.urgency == best->urgency && x.it.seq < best->it.seq)) &&
        signal_row_dup(&its, &x, t->a))
        *best = its;
}

/* The task to claim next; its seq is 0 when there is none. */
static bool
find_next(struct op *t, const char *role, const char *types, struct signal_row *best)
{
    struct index *ix = t->h->ix;
    char addr[EVENT_TEXT_MAX + 2];
    struct row *r;

    *best = (struct signal_row){ 0 };
    if (role) {
        if (!t->req->is_admin && !holds_role(t, role))
            return refuse(&t->refusal, 403, "AUTH_FORBIDDEN",
                          "role: %s does not hold the role \"%s\"", t->req->identity, role);
        snprintf(addr, sizeof addr, "=%s", role);
        if (!fold_find_ready(&t->h->fold, addr, types, t->a, best))
            *best = (struct signal_row){ 0 };
        return true;
    }
    r = index_peek(ix,
                   "SELECT '@' || ?1 UNION ALL SELECT '=' || role FROM fills WHERE identity = ?1"
                   " UNION ALL SELECT '+' || ring FROM joins WHERE identity = ?1",
                   "s", t->req->identity);
    while (index_next(ix, r)) {
        snprintf(addr, sizeof addr, "%s", row_text(r, 0));
        try_address(t, addr, types, best);
    }
    try_address(t, "", types, best);
    return true;
}

/* Answers a repeated request with its claim, made by the line reply->seq, if it still holds. */
static bool
claim_again(struct op *t, const char *key)
{
    struct index *ix = t->h->ix;
    const char *at, *body, *was = NULL;
    struct hub_event ev;
    uint64_t line = t->reply->seq, seq, signal;
    struct signal_row x;
    size_t len;

    t->reply->seq = 0;
    struct row *r = index_run(ix, "SELECT signal FROM dedup WHERE identity = ? AND key = ?", "ss",
                              t->req->is_system ? "" : t->req->identity, key);
    if (!index_next(ix, r))
        return refuse(&t->refusal, 409, "SIGNAL_LEASE_LOST", "%s: its claim is gone",
                      op_key_name(t));
    signal = (uint64_t)row_int(r, 0);
    r = index_run(ix, HISTORY_LINES, "i", (int64_t)signal);
    while (!was && index_next(ix, r)) {
        at = row_dup(r, 0, t->a);
        while (history_next(&at, &seq, &body, &len))
            if (seq == line && hub_event_parse(&ev, body, len, t->a))
                was = ev.claim;
    }
    if (!was || !fold_find_at(&t->h->fold, signal, t->a, &x) || !x.it.claim ||
        strcmp(x.it.claim, was) != 0)
        return refuse(&t->refusal, 409, "SIGNAL_LEASE_LOST",
                      "%s: the claim made with \"%s\" is over", op_key_name(t), key);
    return render_row(t->out, &x, "claim_id", was, t->a) || refuse_starved(&t->refusal);
}

bool
op_claim(struct op *t)
{
    const struct json *types = NULL;
    const char *role = NULL, *key, *id = NULL;
    int64_t wait_s;
    char hash[65], claim[HUB_ID_SIZE];
    struct buf b = { 0 };
    struct order o;
    struct signal_row x;
    struct err e;
    bool is_done = false;

    if (!read_order(t, &o) || !arg_id(&t->in, "signal_id", &id) ||
        !arg_name(&t->in, "role", &role) || !arg_texts(&t->in, "types", &types) ||
        !arg_int(&t->in, "wait_seconds", &wait_s))
        return false;
    if (!op_find_key(t, &key))
        return false;
    if (key && !op_dedup(t, key, hash, &is_done))
        return false;
    if (is_done)
        return claim_again(t, key);
    if (id) {
        if (!find_signal(t, &x))
            return false;
    } else {
        if (types) {
            buf_addc(&b, '\x1f');
            json_each (v, types) {
                buf_add(&b, v->text.p, v->text.len);
                buf_addc(&b, '\x1f');
            }
        }
        bool is_good = find_next(t, role, types ? b.p : NULL, &x);
        buf_release(&b);
        if (is_good && !x.it.seq && role)
            op_warn_unknown(t, false, "role", role);
        if (!is_good || !x.it.seq)
            return is_good; /* nothing to claim: null */
    }
    if (hub_new_id(claim, &e))
        return refuse(&t->refusal, 503, "STORE_UNAVAILABLE", "%s", e.text);
    o.new_claim = arena_dup(t->a, hub_event_bare_id(claim), EVENT_ID_LEN);
    return o.new_claim ? act_on(t, &x, &o, key, key ? hash : NULL) : refuse_starved(&t->refusal);
}

/* ---- receipts ---- */

bool
op_receipt(struct op *t)
{
    struct hub_event ev = { .kind = EV_RECEIPT, .by = t->req->identity, .at = t->h->now.wall_ms };
    struct index *ix = t->h->ix;
    const char *was = "unread";
    int64_t until = 0;
    struct signal_row x;

    if (t->req->op == HUB_INBOX_SNOOZE) {
        if (!arg_time(&t->in, "until", &until))
            return false;
        if (!until)
            return arg_missing(&t->in, "until");
        if (until <= t->h->now.wall_ms)
            return arg_wrong(&t->in, "until", "must be in the future");
    }
    if (!find_signal(t, &x))
        return false;
    if (!signal_row_dup(&x, &x, t->a))
        return refuse_starved(&t->refusal);
    struct row *r =
        index_run(ix, "SELECT state, until FROM receipts WHERE identity = ? AND signal = ?", "si",
                  ev.by, (int64_t)x.it.seq);
    int64_t was_until = 0;
    if (index_next(ix, r)) {
        was = row_dup(r, 0, t->a);
        was_until = row_int(r, 1);
    }
    ev.signal = x.it.id;
    ev.until = until;
    ev.state = t->req->op == HUB_INBOX_ACKNOWLEDGE ? "acknowledged"
               : t->req->op == HUB_INBOX_RESOLVE   ? "resolved"
               : t->req->op == HUB_INBOX_SNOOZE    ? "snoozed"
                                                   : "unread";
    /* Only a snoozed signal is unsnoozed; a state that it has already is not written again. */
    bool is_moot = !was || (strcmp(was, ev.state) == 0 && was_until == until) ||
                   (t->req->op == HUB_INBOX_UNSNOOZE && strcmp(was, "snoozed") != 0);
    if (is_moot && was)
        ev.state = was;
    if (!is_moot && !op_event(t, &ev))
        return false;
    json_open(t->out, '{');
    render_id(t->out, "signal_id", x.it.id);
    render_text(t->out, "identity", ev.by);
    render_text(t->out, "receipt_state", ev.state);
    render_time(t->out, "snoozed_until", until);
    json_close(t->out, '}');
    return true;
}
