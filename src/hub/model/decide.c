#include "hub/model/decide.h"

#include <stdio.h>
#include <string.h>

enum { BACKOFF_MS = 1000, BACKOFF_MAX_MS = 300000 };

const char *const delivery_names[DELIVERIES] = { "pending", "leased",      "acked",
                                                 "failed",  "dead_letter", "expired" };
const char *const work_names[WORKS + 1] = { NULL,      "open", "claimed",  "in_progress",
                                            "blocked", "done", "cancelled" };

int
delivery_find(const char *name)
{
    for (int i = 0; i < DELIVERIES; i++)
        if (strcmp(delivery_names[i], name) == 0)
            return i;
    return -1;
}

int
work_find(const char *name)
{
    for (int i = W_OPEN; i < WORKS; i++)
        if (strcmp(work_names[i], name) == 0)
            return i;
    return -1;
}

/* ---- events to state ---- */

static bool
is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* A foreign line may lack a time; no lease lasts for ever. */
static void
set_timer(struct item *it, const struct hub_event *ev)
{
    it->until = ev->until ? ev->until : ev->at + HUB_LEASE_S * 1000;
    it->boot_until = ev->boot_until;
    it->boot = ev->boot;
}

static void
clear_timer(struct item *it)
{
    it->until = it->boot_until = 0;
    it->boot = NULL;
}

/* The claim ends with `ev`. */
static void
end_claim(struct item *it, const struct hub_event *ev, enum delivery state)
{
    it->last = ev->kind;
    it->last_by = it->claimed_by;
    it->last_claim = it->claim;
    it->claimed_by = it->claim = NULL;
    it->claimed_at = 0;
    clear_timer(it);
    it->state = state;
    if (it->work)
        it->work = W_OPEN;
}

static void
settle(struct item *it, const struct hub_event *ev)
{
    it->last = ev->kind;
    it->last_by = ev->by;
    it->last_claim = it->claim;
    clear_timer(it);
    it->state = D_ACKED;
}

/* May a task go from one status to the other? Only a claim makes it claimed. */
static bool
may_become(enum work from, enum work to)
{
    static const bool table[WORKS][WORKS] = {
        [W_OPEN] = { [W_CANCELLED] = true },
        [W_CLAIMED] = { [W_IN_PROGRESS] = true, [W_CANCELLED] = true },
        [W_IN_PROGRESS] = { [W_BLOCKED] = true, [W_DONE] = true, [W_CANCELLED] = true },
        [W_BLOCKED] = { [W_IN_PROGRESS] = true, [W_DONE] = true, [W_CANCELLED] = true },
    };

    return table[from][to];
}

static bool
apply_status(struct item *it, const struct hub_event *ev)
{
    int to = work_find(ev->task_status);

    if (to < 0 || !may_become(it->work, (enum work)to))
        return false;
    if (it->claimed_by ? !is_same(it->claimed_by, ev->by) : to != W_CANCELLED)
        return false;
    if (ev->claim && !is_same(ev->claim, it->claim))
        return false;
    it->work = (enum work)to;
    if (to == W_DONE || to == W_CANCELLED)
        settle(it, ev); /* nothing is left that could expire */
    return true;
}

bool
item_apply(struct item *it, const struct hub_event *ev)
{
    bool is_held = it->state == D_LEASED && (!ev->claim || is_same(ev->claim, it->claim));

    switch (ev->kind) {
    case EV_CLAIM:
        if (it->state != D_PENDING || it->work != W_OPEN)
            return false;
        it->state = D_LEASED;
        it->work = W_CLAIMED;
        it->claimed_by = ev->by;
        it->claim = ev->claim;
        it->claimed_at = ev->at;
        set_timer(it, ev);
        return true;
    case EV_EXTEND:
        if (!is_held || !is_same(it->claimed_by, ev->by))
            return false;
        set_timer(it, ev);
        return true;
    case EV_ACK:
        if (it->state == D_LEASED ? !is_held || !is_same(it->claimed_by, ev->by)
                                  : it->state != D_PENDING || ev->claim)
            return false;
        settle(it, ev);
        return true;
    case EV_RELEASE:
        if (!is_held || !is_same(it->claimed_by, ev->by))
            return false;
        end_claim(it, ev, D_PENDING);
        return true;
    case EV_FAIL:
        if (!is_held || !is_same(it->claimed_by, ev->by))
            return false;
        end_claim(it, ev, ++it->count >= HUB_MAX_DELIVERIES ? D_DEAD_LETTER : D_FAILED);
        if (it->state == D_FAILED)
            set_timer(it, ev);
        return true;
    case EV_EXPIRE:
        if (!is_held)
            return false;
        end_claim(it, ev, ++it->count >= HUB_MAX_DELIVERIES ? D_DEAD_LETTER : D_PENDING);
        return true;
    case EV_RETRY:
        if (it->state != D_FAILED)
            return false;
        it->state = D_PENDING;
        clear_timer(it);
        return true;
    case EV_LAPSE:
        if (it->state != D_PENDING && it->state != D_FAILED)
            return false;
        it->state = D_EXPIRED;
        it->last = ev->kind;
        it->last_by = NULL;
        clear_timer(it);
        return true;
    case EV_STATUS:
        return apply_status(it, ev);
    case EV_REQUEUE:
        if (it->state != D_FAILED && it->state != D_DEAD_LETTER)
            return false;
        it->state = D_PENDING;
        it->count = 0;
        it->last = ev->kind;
        it->last_by = ev->by;
        it->last_claim = NULL;
        clear_timer(it);
        return true;
    default:
        return false;
    }
}

/* ---- commands to events ---- */

bool
refuse(struct refusal *r, int status, const char *code, const char *fmt, ...)
{
    va_list ap;

    r->status = status;
    r->code = code;
    va_start(ap, fmt);
    vsnprintf(r->message, sizeof r->message, fmt, ap);
    va_end(ap);
    return false;
}

bool
refuse_starved(struct refusal *r)
{
    return refuse(r, 503, "STORE_UNAVAILABLE", "out of memory");
}

bool
is_due(const struct hub_now *now, int64_t until, int64_t boot_until, const char *boot)
{
    if (boot && boot[0] && is_same(boot, now->boot))
        return now->boot_ms >= boot_until;
    return now->wall_ms >= until;
}

int64_t
decide_backoff_ms(int64_t failures)
{
    int64_t ms = BACKOFF_MS;

    while (failures-- > 0 && ms < BACKOFF_MAX_MS)
        ms *= 2;
    return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

static enum decision
no(struct refusal *r, int status, const char *code, const char *text)
{
    refuse(r, status, code, "%s", text);
    return DECIDE_REFUSED;
}

static const char *
shown(const struct item *it)
{
    static _Thread_local char text[EVENT_TEXT_MAX + 8];

    snprintf(text, sizeof text, "signal:%s", it->id);
    return text;
}

/* Another identity has claimed it. */
static enum decision
held_by_other(const struct item *it, struct refusal *r)
{
    refuse(r, 409, "SIGNAL_CLAIM_CONFLICT", "signal_id: %s is claimed by %s", shown(it),
           it->claimed_by);
    return DECIDE_REFUSED;
}

static enum decision
lease_lost(const struct item *it, const struct order *o, struct refusal *r)
{
    if (o->claim)
        refuse(r, 409, "SIGNAL_LEASE_LOST",
               "claim_id: %s is no longer the claim of %s, which is %s", o->claim, shown(it),
               delivery_names[it->state]);
    else
        refuse(r, 409, "SIGNAL_LEASE_LOST", "signal_id: %s is not claimed by you: it is %s",
               shown(it), delivery_names[it->state]);
    return DECIDE_REFUSED;
}

static enum decision
not_for_you(const struct item *it, const struct asker *who, struct refusal *r)
{
    refuse(r, 403, "AUTH_FORBIDDEN", "signal_id: %s is not addressed to %s", shown(it),
           who->identity);
    return DECIDE_REFUSED;
}

static void
lease(struct hub_event *out, const struct hub_now *now, int64_t ms)
{
    out->until = now->wall_ms + ms;
    if (now->boot[0]) {
        out->boot = now->boot;
        out->boot_until = now->boot_up_ms + ms;
    }
}

static enum decision
decide_claim(const struct item *it, const struct order *o, const struct asker *who,
             const struct hub_now *now, struct hub_event *out, struct refusal *r)
{
    if (!it->work) {
        refuse(r, 409, "SIGNAL_NOT_CLAIMABLE", "signal_id: %s is not a task", shown(it));
        return DECIDE_REFUSED;
    }
    if (it->state == D_LEASED)
        return held_by_other(it, r);
    if (it->state != D_PENDING || it->work != W_OPEN) {
        refuse(r, 409, "SIGNAL_NOT_CLAIMABLE",
               "signal_id: %s cannot be claimed: its delivery_state is %s, its task_status %s",
               shown(it), delivery_names[it->state], work_names[it->work]);
        return DECIDE_REFUSED;
    }
    if (!who->is_addressee && !who->is_admin)
        return not_for_you(it, who, r);
    out->claim = o->new_claim;
    lease(out, now, o->lease_ms);
    return DECIDE_EVENT;
}

/* Did the same holder do the same before? */
static bool
is_repeat(const struct item *it, enum hub_event_kind kind, const struct order *o,
          const struct asker *who)
{
    return it->last == kind && is_same(it->last_by, who->identity) &&
           (o->claim ? is_same(o->claim, it->last_claim) : it->state != D_LEASED);
}

static enum decision
decide_ack(const struct item *it, const struct order *o, const struct asker *who,
           struct hub_event *out, struct refusal *r)
{
    if (it->state == D_ACKED) {
        if (is_same(it->last_by, who->identity) && (!o->claim || is_same(o->claim, it->last_claim)))
            return DECIDE_REPEAT;
        if (o->claim)
            return lease_lost(it, o, r);
        refuse(r, 409, "SIGNAL_CLAIM_CONFLICT", "signal_id: %s is acked already, by %s", shown(it),
               it->last_by ? it->last_by : "someone unknown");
        return DECIDE_REFUSED;
    }
    if (it->state == D_LEASED) {
        if (!is_same(it->claimed_by, who->identity))
            return o->claim && !is_same(o->claim, it->claim) ? lease_lost(it, o, r)
                                                             : held_by_other(it, r);
        if (o->claim && !is_same(o->claim, it->claim))
            return lease_lost(it, o, r);
        out->claim = it->claim;
        return DECIDE_EVENT;
    }
    if (it->state != D_PENDING || o->claim)
        return lease_lost(it, o, r);
    if (who->is_everyones && !it->work && !who->is_sender && !who->is_admin) {
        refuse(r, 403, "AUTH_FORBIDDEN",
               "signal_id: %s is for everyone: only its sender can ack it for all; acknowledge it "
               "in your inbox instead",
               shown(it));
        return DECIDE_REFUSED;
    }
    return who->is_addressee || who->is_admin ? DECIDE_EVENT : not_for_you(it, who, r);
}

/* extend, release and fail are for the holder. */
static enum decision
decide_held(enum hub_event_kind kind, const struct item *it, const struct order *o,
            const struct asker *who, const struct hub_now *now, struct hub_event *out,
            struct refusal *r)
{
    if (kind != EV_EXTEND && is_repeat(it, kind, o, who))
        return DECIDE_REPEAT;
    if (it->state != D_LEASED || (o->claim && !is_same(o->claim, it->claim)))
        return lease_lost(it, o, r);
    if (!is_same(it->claimed_by, who->identity))
        return held_by_other(it, r);
    out->claim = it->claim;
    if (kind == EV_EXTEND)
        lease(out, now, o->lease_ms);
    if (kind == EV_FAIL) {
        out->error = o->error;
        if (it->count + 1 < HUB_MAX_DELIVERIES)
            lease(out, now, o->retry_ms >= 0 ? o->retry_ms : decide_backoff_ms(it->count));
    }
    return DECIDE_EVENT;
}

static const char *
status_advice(const struct item *it)
{
    switch (it->work) {
    case W_OPEN:
        return it->last == EV_EXPIRE ? ": the lease of its claim has ended, claim it again"
                                     : ": claim it first";
    case W_CLAIMED:
        return ": it becomes in_progress first";
    case W_IN_PROGRESS:
    case W_BLOCKED:
        return "";
    default:
        return ": it has ended";
    }
}

static enum decision
decide_status(const struct item *it, const struct order *o, const struct asker *who,
              struct hub_event *out, struct refusal *r)
{
    bool is_holder = is_same(it->claimed_by, who->identity);

    if (!it->work) {
        refuse(r, 409, "SIGNAL_NOT_CLAIMABLE", "signal_id: %s is not a task", shown(it));
        return DECIDE_REFUSED;
    }
    if (o->claim && !is_same(o->claim, it->claim))
        return lease_lost(it, o, r);
    if (it->claimed_by && !is_holder)
        return held_by_other(it, r);
    if (it->work == o->work && (is_holder || is_same(it->last_by, who->identity)))
        return DECIDE_REPEAT;
    if (!may_become(it->work, o->work)) {
        refuse(r, 409, "SIGNAL_CLAIM_CONFLICT", "task_status: %s cannot go from %s to %s%s",
               shown(it), work_names[it->work], work_names[o->work], status_advice(it));
        return DECIDE_REFUSED;
    }
    if (!is_holder && !who->is_addressee && !who->is_sender && !who->is_admin)
        return not_for_you(it, who, r);
    out->claim = it->claim;
    out->task_status = work_names[o->work];
    return DECIDE_EVENT;
}

static enum decision
decide_requeue(const struct item *it, const struct asker *who, struct refusal *r)
{
    if (it->state == D_PENDING && it->last == EV_REQUEUE && is_same(it->last_by, who->identity))
        return DECIDE_REPEAT;
    if (it->state != D_DEAD_LETTER && it->state != D_FAILED) {
        refuse(r, 409, "SIGNAL_NOT_CLAIMABLE",
               "signal_id: %s is %s; only what is dead_letter or failed can be requeued", shown(it),
               delivery_names[it->state]);
        return DECIDE_REFUSED;
    }
    return who->is_addressee || who->is_sender || who->is_admin ? DECIDE_EVENT
                                                                : not_for_you(it, who, r);
}

enum decision
decide_item(enum hub_op op, const struct item *it, const struct order *o, const struct asker *who,
            const struct hub_now *now, struct hub_event *out, struct refusal *r)
{
    *out = (struct hub_event){ .signal = it->id, .by = who->identity, .at = now->wall_ms };
    switch (op) {
    case HUB_CLAIM:
        out->kind = EV_CLAIM;
        return decide_claim(it, o, who, now, out, r);
    case HUB_ACK:
        out->kind = EV_ACK;
        return decide_ack(it, o, who, out, r);
    case HUB_EXTEND:
        out->kind = EV_EXTEND;
        return decide_held(EV_EXTEND, it, o, who, now, out, r);
    case HUB_RELEASE:
        out->kind = EV_RELEASE;
        return decide_held(EV_RELEASE, it, o, who, now, out, r);
    case HUB_FAIL:
        out->kind = EV_FAIL;
        return decide_held(EV_FAIL, it, o, who, now, out, r);
    case HUB_STATUS:
        out->kind = EV_STATUS;
        return decide_status(it, o, who, out, r);
    case HUB_REQUEUE:
        out->kind = EV_REQUEUE;
        return decide_requeue(it, who, r);
    default:
        return no(r, 400, "VALIDATION_INVALID_TYPE", "not a command on a signal");
    }
}
