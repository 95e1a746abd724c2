/*
 * query_ops - operations that only read: inboxes, threads, lists, identities, roles, rings, keys.
 */
#include "hub/hub_impl.h"

#include "base/path.h"
#include "hub/request/inbox_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT = 20,
    THREAD_MAX = 10000,
    EVENTS = 200,
    VALUES_MAX = 64,
    DAY_MS = 86400000,
};

/* ---- a query built from its filters ---- */

struct list_query {
    struct buf sql;
    struct value values[VALUES_MAX];
    size_t n;
};

static void
add_s(struct list_query *q, const char *sql, const char *s)
{
    buf_adds(&q->sql, sql);
    if (q->n < VALUES_MAX)
        q->values[q->n++] = (struct value){ .type = 's', .s = s };
}

static void
add_i(struct list_query *q, const char *sql, int64_t i)
{
    buf_adds(&q->sql, sql);
    if (q->n < VALUES_MAX)
        q->values[q->n++] = (struct value){ .type = 'i', .i = i };
}

static void
add_d(struct list_query *q, const char *sql, double d)
{
    buf_adds(&q->sql, sql);
    if (q->n < VALUES_MAX)
        q->values[q->n++] = (struct value){ .type = 'd', .d = d };
}

/* ---- cursors: where a page ended ---- "u-<bits of the urgency>-<seq>" or "s-<seq>" */

struct cursor {
    bool is_there, has_urgency;
    double urgency;
    int64_t seq;
};

static bool
read_cursor(struct op *t, bool by_urgency, struct cursor *c)
{
    const char *text = NULL;
    uint64_t bits, seq;
    char *end;

    *c = (struct cursor){ 0 };
    if (!arg_text(&t->in, "after", &text))
        return false;
    if (!text)
        return true;
    bool is_good = strlen(text) < 64 && text[1] == '-' && text[0] == (by_urgency ? 'u' : 's');
    const char *p = text + 2;
    if (is_good && by_urgency) {
        bits = strtoull(p, &end, 16);
        memcpy(&c->urgency, &bits, sizeof bits);
        is_good = end > p && *end == '-' && c->urgency >= 0 && c->urgency <= 1;
        p = end + 1;
    }
    if (is_good) {
        seq = strtoull(p, &end, 10);
        is_good = end > p && *p >= '0' && *p <= '9' && !*end && seq <= INT64_MAX;
        c->seq = (int64_t)seq;
    }
    c->is_there = true;
    return is_good || arg_wrong(&t->in, "after", "must be the meta.cursor of the page before");
}

static void
write_cursor(struct op *t, bool by_urgency, double urgency, int64_t seq)
{
    char text[64];
    uint64_t bits;

    memcpy(&bits, &urgency, sizeof bits);
    if (by_urgency)
        snprintf(text, sizeof text, "u-%" PRIx64 "-%" PRId64, bits, seq);
    else
        snprintf(text, sizeof text, "s-%" PRId64, seq);
    t->reply->cursor = arena_dup(t->a, text, strlen(text));
}

/* ---- filters that inbox and list share ---- */

static void
add_words(struct list_query *q, const char *sql, const struct json *words, struct arena *a)
{
    buf_adds(&q->sql, sql);
    buf_adds(&q->sql, " IN (");
    json_each (v, words) {
        const char *text = arena_dup(a, v->text.p, v->text.len);
        add_s(q, v == json_first(words) ? "?" : ", ?", text ? text : "");
    }
    buf_adds(&q->sql, ")");
}

/* Rare states are found by the index of `states`, which has the rows with state <> 2. */
static void
add_states(struct list_query *q, const struct json *names)
{
    bool has_pending = false, has_acked = false;

    if (!json_first(names))
        return;
    json_each (v, names) {
        has_pending = has_pending || json_eq(v, delivery_names[D_PENDING]);
        has_acked = has_acked || json_eq(v, delivery_names[D_ACKED]);
    }
    buf_adds(&q->sql, has_pending ? " AND coalesce(w.state, 0) IN ("
                      : has_acked ? " AND w.state IN ("
                                  : " AND w.state <> 2 AND w.state IN (");
    json_each (v, names) {
        char name[16] = "";
        if (v->text.len < sizeof name)
            memcpy(name, v->text.p, v->text.len);
        add_i(q, v == json_first(names) ? "?" : ", ?", delivery_find(name));
    }
    buf_adds(&q->sql, ")");
}

static bool
add_filters(struct op *t, struct list_query *q)
{
    const struct json *types = NULL, *states = NULL;
    const char *tag = NULL;
    double urgency = -1;

    if (!arg_texts(&t->in, "type", &types) || !arg_number(&t->in, "min_urgency", &urgency) ||
        !arg_texts(&t->in, "delivery_state", &states) || !arg_text(&t->in, "project_tag", &tag))
        return false;
    if (json_first(types) && types->kids.count <= 20)
        add_words(q, " AND s.type", types, t->a);
    else if (types && types->kids.count > 20)
        return arg_wrong(&t->in, "type", "must have at most 20 elements");
    if (urgency >= 0)
        add_d(q, " AND s.urgency >= ?", urgency);
    add_states(q, states);
    if (tag)
        add_s(q, " AND instr(s.tags, char(31) || ? || char(31))", tag);
    return true;
}

/* Only what the caller may read. */
static void
add_sight(struct op *t, struct list_query *q)
{
    if (op_reads_all(t))
        return;
    add_s(q, " AND " SIGNAL_ROW_MAY_READ("?"), t->req->identity);
    add_s(q, "", t->req->identity);
}

/* Where the rows of a page come from: the query gives all of them, or it is run once for each
 * signal that the merge gives, bound as its value number `nth`. */
struct query_source {
    struct inbox_merge *merge; /* NULL: the query gives all rows */
    int nth;
};

static bool
next_row(struct index *ix, struct row *r, const struct query_source *from)
{
    struct inbox_merge_at at;

    if (!from->merge)
        return index_next(ix, r);
    while (inbox_merge_next(from->merge, &at)) {
        index_again(ix, r, from->nth, at.seq);
        if (index_next(ix, r))
            return true;
    }
    return false;
}

/* Writes the page. A row beyond `limit` only shows that there is more. */
static bool
answer_page(struct op *t, struct list_query *q, const struct query_source *from, int64_t limit,
            bool by_urgency, bool with_receipts)
{
    struct index *ix = t->h->ix;
    struct signal_row x = { 0 };
    int64_t n = 0;

    t->reply->has_cursor = true;
    add_i(q, " LIMIT ?", from->merge ? 1 : limit + 1);
    if (buf_failed(&q->sql) || q->n >= VALUES_MAX) {
        buf_release(&q->sql);
        return refuse_starved(&t->refusal);
    }
    struct row *r = index_run_text(ix, q->sql.p, q->values, q->n);
    buf_release(&q->sql);
    json_open(t->out, '[');
    while (next_row(ix, r, from)) {
        if (n == limit) {
            write_cursor(t, by_urgency, x.urgency, (int64_t)x.it.seq);
            break;
        }
        if (!signal_row_read(r, t->a, &x))
            return refuse_starved(&t->refusal);
        const char *receipt = with_receipts ? row_text(r, SIGNAL_ROW_COLUMNS) : NULL;
        size_t end = t->out->len;
        json_sep(t->out);
        if (render_row(t->out, &x, "receipt_state", with_receipts && !receipt ? "unread" : receipt,
                       t->a))
            n++;
        else
            buf_cut(t->out, end);
    }
    index_end(r);
    json_close(t->out, ']');
    return true;
}

/* ---- inbox ---- */

static void
add_receipts(struct list_query *q, const char *receipt, int64_t now)
{
    if (strcmp(receipt, "snoozed") == 0)
        add_i(q, " AND r.state = 'snoozed' AND r.until > ?", now);
    else if (strcmp(receipt, "unread") == 0)
        add_i(q, " AND (r.state IS NULL OR (r.state = 'snoozed' AND r.until <= ?))", now);
    else
        add_s(q, " AND r.state = ?", receipt);
}

/* The arguments of op_inbox. */
struct inbox {
    const char *target, *whose; /* whose receipts; for @identity, whose inbox */
    const char *receipt;        /* NULL: any */
    const struct json *states;
    enum hub_event_flag snoozed, resolved;
    bool is_identity, is_now, is_recent, is_stale;
    int64_t limit, now;
    double min_urgency;
    struct cursor after;
};

/* "@ruby" for ruby; NULL without memory. */
static const char *
own_inbox(struct op *t)
{
    char name[HUB_NAME_MAX + 2];
    int n = snprintf(name, sizeof name, "@%s", t->req->identity);

    return arena_dup(t->a, name, (size_t)n);
}

static bool
take_inbox(struct op *t, struct inbox *in)
{
    const char *view = "now";

    *in = (struct inbox){ .whose = t->req->identity,
                          .limit = LIMIT,
                          .now = t->h->now.wall_ms,
                          .snoozed = FLAG_UNSET,
                          .resolved = FLAG_UNSET };
    if (!arg_text(&t->in, "target", &in->target))
        return false;
    if (!in->target)
        return arg_missing(&t->in, "target");
    if (strcmp(in->target, "@") == 0)
        in->target = own_inbox(t);
    if (!in->target)
        return refuse_starved(&t->refusal);
    in->is_identity = *in->target == '@';
    if (!path_is_name(in->target + in->is_identity))
        return arg_wrong(&t->in, "target", "must be the name of a role, or @ and an identity");
    if (!arg_word(&t->in, "view", &view) || !arg_word(&t->in, "receipt_state", &in->receipt) ||
        !arg_int(&t->in, "limit", &in->limit) ||
        !arg_flag(&t->in, "include_snoozed", &in->snoozed) ||
        !arg_flag(&t->in, "include_resolved", &in->resolved) ||
        !arg_texts(&t->in, "delivery_state", &in->states) ||
        !arg_number(&t->in, "min_urgency", &in->min_urgency))
        return false;
    if (in->is_identity)
        in->whose = in->target + 1;
    in->is_now = strcmp(view, "now") == 0;
    in->is_recent = strcmp(view, "recent") == 0;
    in->is_stale = strcmp(view, "stale") == 0;
    return read_cursor(t, in->is_now, &in->after);
}

/* Do the sorted lists answer it? They have all signals that were not acked, in the order of the
 * view `now`. Other states are rare, and found by their index. */
static bool
is_listed(const struct inbox *in)
{
    bool has_pending = !json_first(in->states), has_acked = false;

    json_each (v, in->states) {
        has_pending = has_pending || json_eq(v, delivery_names[D_PENDING]);
        has_acked = has_acked || json_eq(v, delivery_names[D_ACKED]);
    }
    return in->is_now && has_pending && !has_acked;
}

/* All signals of an identity, to be sorted by SQLite. */
static void
add_sources(struct list_query *q, const char *whose)
{
    add_s(q, " WHERE s.seq IN (SELECT seq FROM signals WHERE addr IN (SELECT '@' || ?", whose);
    add_s(q, " UNION ALL SELECT '=' || role FROM fills WHERE identity = ?", whose);
    add_s(q, " UNION ALL SELECT '+' || ring FROM joins WHERE identity = ?)", whose);
    add_s(q,
          " UNION SELECT m.signal FROM matches m JOIN subscriptions b ON b.identity = m.identity"
          " AND b.pattern = m.pattern WHERE m.identity = ?)",
          whose);
}

static bool
add_merge(struct op *t, const struct inbox *in, struct list_query *q, struct query_source *from)
{
    struct inbox_merge_at after = { in->is_now ? in->after.urgency : 0, in->after.seq };

    add_i(q, " WHERE s.seq = ?", 0);
    from->merge = arena_alloc(t->a, sizeof *from->merge);
    from->nth = (int)q->n;
    return from->merge && inbox_merge_init(from->merge, t->h->ix, t->a, in->whose,
                                           in->is_now     ? INBOX_MERGE_URGENT
                                           : in->is_stale ? INBOX_MERGE_OLDEST
                                                          : INBOX_MERGE_NEWEST,
                                           in->after.is_there ? &after : NULL, in->min_urgency);
}

/* Selects the inbox's signals: by a merge of lists, or by the query itself. */
static bool
add_target(struct op *t, const struct inbox *in, struct list_query *q, struct query_source *from)
{
    bool is_list = !in->is_identity && is_listed(in);
    char *addr = arena_alloc(t->a, strlen(in->target) + 2);

    if (!addr)
        return false;
    sprintf(addr, "=%s", in->target);
    buf_adds(&q->sql, is_list
                          ? " FROM waiting n CROSS JOIN signals s ON s.seq = n.signal" INDEX_STATES
                          : SIGNAL_ROW_FROM);
    add_s(q, " LEFT JOIN receipts r ON r.signal = s.seq AND r.identity = ?", in->whose);
    if (in->is_identity && (!in->is_now || is_listed(in)))
        return add_merge(t, in, q, from);
    if (in->is_identity)
        add_sources(q, in->whose);
    else
        add_s(q, is_list ? " WHERE n.addr = ?" : " WHERE s.addr = ?", addr);
    return true;
}

static void
add_view(const struct inbox *in, struct list_query *q)
{
    if (in->is_now && !json_first(in->states))
        buf_adds(&q->sql, " AND coalesce(w.state, 0) NOT IN (2, 5)");
    if (in->is_now) /* there may be no write since */
        add_i(q, " AND NOT EXISTS(SELECT 1 FROM expiring e WHERE e.signal = s.seq AND e.at <= ?)",
              in->now);
    if (in->receipt)
        add_receipts(q, in->receipt, in->now);
    else if ((in->is_now || in->is_stale) && in->resolved != FLAG_YES)
        buf_adds(&q->sql, " AND r.state IS NOT 'resolved'");
    if (in->is_now && !in->receipt && in->snoozed != FLAG_YES)
        add_i(q, " AND NOT (r.state IS 'snoozed' AND r.until > ?)", in->now);
    if (in->is_recent)
        add_i(q, " AND s.created > ?", in->now - DAY_MS);
    if (in->is_stale)
        add_i(q, " AND s.created < ?", in->now - 3 * (int64_t)DAY_MS);
}

/* For a query that gives all rows: the cursor, and the order. */
static void
add_order(const struct inbox *in, struct list_query *q)
{
    const struct cursor *c = &in->after;
    bool is_list = !in->is_identity && is_listed(in);

    if (c->is_there && in->is_now) {
        add_d(q, is_list ? " AND n.urgency <= ?" : " AND s.urgency <= ?", c->urgency);
        add_d(q, " AND (s.urgency < ?", c->urgency);
        add_i(q, " OR s.seq > ?)", c->seq);
    } else if (c->is_there) {
        add_i(q, in->is_stale ? " AND s.seq > ?" : " AND s.seq < ?", c->seq);
    }
    buf_adds(&q->sql, is_list        ? " ORDER BY n.urgency DESC, n.signal"
                      : in->is_now   ? " ORDER BY s.urgency DESC, s.seq"
                      : in->is_stale ? " ORDER BY s.seq"
                                     : " ORDER BY s.seq DESC");
}

bool
op_inbox(struct op *t)
{
    struct list_query q = { 0 };
    struct query_source from = { 0 };
    struct inbox in;

    if (!take_inbox(t, &in))
        return false;
    add_i(&q, "SELECT " SIGNAL_ROW ", CASE WHEN r.state = 'snoozed' AND r.until <= ?", in.now);
    buf_adds(&q.sql, " THEN 'unread' ELSE r.state END");
    if (!add_target(t, &in, &q, &from)) {
        buf_release(&q.sql);
        return refuse_starved(&t->refusal);
    }
    if (!add_filters(t, &q)) {
        buf_release(&q.sql);
        return false;
    }
    add_sight(t, &q);
    add_view(&in, &q);
    if (!from.merge)
        add_order(&in, &q);
    bool is_good = answer_page(t, &q, &from, in.limit, in.is_now, true);
    if (is_good && t->out->len == 2 && !in.is_identity) /* [] */
        op_warn_unknown(t, false, "target", in.target);
    return is_good;
}

/* ---- list, thread, one ---- */

bool
op_list(struct op *t)
{
    enum { ROLE = 1, RING };
    static const struct {
        const char *key, *column;
        char sign;
        int group; /* that the name is of; 0: an identity */
    } exact[] = {
        { "from_identity", " AND s.sender = ?", 0, 0 },
        { "from_role", " AND s.from_role = ?", 0, ROLE },
        { "to_identity", " AND s.addr = ?", '@', 0 },
        { "to_role", " AND s.addr = ?", '=', ROLE },
        { "to_ring", " AND s.addr = ?", '+', RING },
        { "claimed_by", " AND w.claimed_by = ?", 0, 0 },
    };
    const char *names[sizeof exact / sizeof *exact] = { NULL };
    const char *status = NULL;
    int64_t limit = LIMIT;
    struct list_query q = { 0 };
    enum hub_event_flag anyone = FLAG_UNSET;
    struct cursor c;

    if (!arg_word(&t->in, "task_status", &status) || !arg_int(&t->in, "limit", &limit) ||
        !arg_flag(&t->in, "open_to_anyone", &anyone) || !read_cursor(t, false, &c))
        return false;
    buf_adds(&q.sql, "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE 1");
    if (!add_filters(t, &q)) {
        buf_release(&q.sql);
        return false;
    }
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (!arg_name(&t->in, exact[i].key, &names[i])) {
            buf_release(&q.sql);
            return false;
        }
        const char *name = names[i];
        if (!name)
            continue;
        char *text = arena_alloc(t->a, strlen(name) + 2);
        if (text)
            snprintf(text, strlen(name) + 2, "%.1s%s",
                     exact[i].sign ? (char[]){ exact[i].sign, '\0' } : "", name);
        add_s(&q, exact[i].column, text);
    }
    if (anyone == FLAG_YES)
        buf_adds(&q.sql, " AND s.seq IN (SELECT signal FROM ready WHERE addr = ''"
                         " ORDER BY urgency DESC, signal LIMIT 1000)");
    if (status)
        add_i(&q, " AND coalesce(w.work, s.task) = ?", work_find(status));
    add_sight(t, &q);
    if (c.is_there)
        add_i(&q, " AND s.seq < ?", c.seq);
    buf_adds(&q.sql, " ORDER BY s.seq DESC");
    if (!answer_page(t, &q, &(struct query_source){ 0 }, limit, false, false))
        return false;
    for (size_t i = 0; i < sizeof exact / sizeof *exact && t->out->len == 2; i++) /* [] */
        if (names[i] && exact[i].group)
            op_warn_unknown(t, exact[i].group == RING, exact[i].key, names[i]);
    return true;
}

static bool
take_id(struct op *t, const char **id)
{
    *id = NULL;
    if (!arg_id(&t->in, "id", id))
        return false;
    return *id ? op_full_id(t, "id", id) : arg_missing(&t->in, "id");
}

static bool
no_signal(struct op *t, const char *id)
{
    return refuse(&t->refusal, 404, "SIGNAL_NOT_FOUND", "id: there is no signal:%s", id);
}

bool
op_thread(struct op *t)
{
    struct index *ix = t->h->ix;
    struct list_query q = { 0 };
    const char *id;

    if (!take_id(t, &id))
        return false;
    struct row *r = index_run(ix, "SELECT coalesce(thread, id) FROM signals WHERE id = ?", "s", id);
    const char *thread = index_next(ix, r) ? row_dup(r, 0, t->a) : id;
    add_s(&q, "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM " WHERE (s.thread = ?", thread);
    add_s(&q, " OR s.id = ?)", thread);
    add_sight(t, &q);
    buf_adds(&q.sql, " ORDER BY s.seq");
    if (!answer_page(t, &q, &(struct query_source){ 0 }, THREAD_MAX, false, false))
        return false;
    t->reply->has_cursor = false;
    t->reply->cursor = NULL;
    return t->out->len > 2 || no_signal(t, id);
}

/* The signal that a request names, if its sender may see it. */
static bool
find_one(struct op *t, struct signal_row *x)
{
    struct index *ix = t->h->ix;
    const char *id, *who = t->req->identity;

    if (!take_id(t, &id))
        return false;
    struct row *r = index_run(ix,
                              "SELECT " SIGNAL_ROW SIGNAL_ROW_FROM
                              " WHERE s.id = ? AND (? OR " SIGNAL_ROW_MAY_READ("?") ")",
                              "siss", id, (int64_t)op_reads_all(t), who, who);
    if (!index_next(ix, r))
        return no_signal(t, id);
    return signal_row_read(r, t->a, x) || refuse_starved(&t->refusal);
}

bool
op_get(struct op *t)
{
    struct signal_row x;

    if (!find_one(t, &x))
        return false;
    render_row(t->out, &x, NULL, NULL, t->a);
    return true;
}

/* One transition, from its event. */
static void
render_event(struct op *t, const struct hub_event *ev, uint64_t seq)
{
    json_sep(t->out);
    json_open(t->out, '{');
    render_text(t->out, "op", hub_event_name(ev->kind));
    render_text(t->out, "by", ev->by);
    render_time(t->out, "at", ev->at);
    if (ev->kind != EV_SIGNAL) {
        json_key_str(t->out, "claim_id", ev->claim);
        json_key_str(t->out, "task_status", ev->task_status);
        json_key_json(t->out, "error", ev->error);
        if (ev->until)
            render_time(t->out, ev->kind == EV_FAIL ? "retry_at" : "claim_expires_at", ev->until);
    }
    json_key_int(t->out, "sequence", (int64_t)seq);
    json_close(t->out, '}');
}

bool
op_history(struct op *t)
{
    struct index *ix = t->h->ix;
    struct signal_row x;
    struct hub_event ev;

    if (!find_one(t, &x))
        return false;
    json_open(t->out, '[');
    if (x.body && hub_event_parse(&ev, x.body, strlen(x.body), t->a))
        render_event(t, &ev, x.it.seq);
    struct row *r = index_run(ix, HISTORY_LINES, "i", (int64_t)x.it.seq);
    while (index_next(ix, r)) {
        const char *at = row_dup(r, 0, t->a), *body;
        uint64_t seq;
        size_t len;
        while (history_next(&at, &seq, &body, &len))
            if (hub_event_parse(&ev, body, len, t->a))
                render_event(t, &ev, seq);
    }
    json_close(t->out, ']');
    return true;
}

/* ---- identities, roles, rings, keys ---- */

/* The column as a list of names: "a b" is ["a","b"]. */
static void
render_names(struct buf *to, const char *key, const char *names)
{
    json_key(to, key);
    json_open(to, '[');
    for (const char *p = names; p && *p;) {
        size_t len = strcspn(p, " ");
        json_sep(to);
        json_write_str(to, p, len);
        p += len + (p[len] == ' ');
    }
    json_close(to, ']');
}

/* Rows as objects. Names of columns: *x is a list of names, @x a time, &x scopes. */
static bool
answer_rows(struct op *t, struct row *r, const char *const *names)
{
    struct buf *to = t->out;

    json_open(to, '[');
    while (index_next(t->h->ix, r)) {
        json_sep(to);
        json_open(to, '{');
        for (int i = 0; names[i]; i++) {
            const char *name = names[i];
            if (*name == '*')
                render_names(to, name + 1, row_text(r, i));
            else if (*name == '@')
                render_time(to, name + 1, row_int(r, i));
            else if (*name == '&')
                render_scopes(to, name + 1, (unsigned)row_int(r, i));
            else
                render_text(to, name, row_text(r, i));
        }
        json_close(to, '}');
    }
    json_close(to, ']');
    return true;
}

bool
op_people(struct op *t)
{
    static const char *const groups[] = {
        "id", "name", "purpose", "*members", "@created_at", NULL
    };
    static const char *const people[] = { "id",     "name",   "type",        "agent", "dir",
                                          "*roles", "*rings", "@created_at", NULL };
    static const char *const keys[] = { "id",          "identity",    "&scopes", "created_by",
                                        "@created_at", "@expires_at", NULL };
    struct index *ix = t->h->ix;

    switch (t->req->op) {
    case HUB_ROLES:
        return answer_rows(t,
                           index_run(ix,
                                     "SELECT id, coalesce(name, id), purpose, (SELECT"
                                     " group_concat(identity, ' ') FROM fills WHERE role = id),"
                                     " created FROM roles ORDER BY id",
                                     ""),
                           groups);
    case HUB_RINGS:
        return answer_rows(t,
                           index_run(ix,
                                     "SELECT id, coalesce(name, id), purpose, (SELECT"
                                     " group_concat(identity, ' ') FROM joins WHERE ring = id),"
                                     " created FROM rings ORDER BY id",
                                     ""),
                           groups);
    case HUB_IDENTITIES:
        return answer_rows(
            t,
            index_run(ix,
                      "SELECT id, coalesce(name, id), kind, agent, dir, (SELECT group_concat(role,"
                      " ' ') FROM fills WHERE identity = id), (SELECT group_concat(ring, ' ') FROM"
                      " joins WHERE identity = id), created FROM identities ORDER BY id",
                      ""),
            people);
    default:
        return answer_rows(
            t,
            index_run(
                ix,
                "SELECT id, identity, scopes, by, created, until FROM keys ORDER BY created, id",
                ""),
            keys);
    }
}

/* ---- broadcast ---- */

bool
op_subscriptions(struct op *t)
{
    struct buf *to = t->out;
    struct row *r =
        index_run(t->h->ix,
                  "SELECT identity, pattern, silent, created, updated FROM subscriptions"
                  " ORDER BY identity, pattern",
                  "");

    buf_adds(to, "{\"subscriptions\":[");
    while (index_next(t->h->ix, r)) {
        json_sep(to);
        json_open(to, '{');
        render_text(to, "agentId", row_text(r, 0));
        render_text(to, "pattern", row_text(r, 1));
        json_key_bool(to, "silent", row_int(r, 2));
        json_key_int(to, "createdAt", row_int(r, 3));
        json_key_int(to, "updatedAt", row_int(r, 4));
        json_close(to, '}');
    }
    buf_adds(to, "]}");
    return true;
}

/* Lines as broadcasts show them, oldest first. */
static void
answer_lines(struct op *t, struct row *r)
{
    buf_adds(t->out, "{\"events\":[");
    while (index_next(t->h->ix, r)) {
        size_t end = t->out->len;
        json_sep(t->out);
        if (!render_broadcast_line(t->out, row_text(r, 0), false, t->a))
            buf_cut(t->out, end);
    }
    buf_adds(t->out, "]}");
}

bool
op_delayed(struct op *t)
{
    answer_lines(t, index_run(t->h->ix, "SELECT body FROM delayed ORDER BY at, type, id", ""));
    return true;
}

bool
op_events(struct op *t)
{
    struct index *ix = t->h->ix;
    int64_t limit = EVENTS;
    struct list_query q = { 0 };

    if (!arg_int(&t->in, "limit", &limit))
        return refuse(&t->refusal, 400, "VALIDATION_INVALID_TYPE", "Invalid query");
    buf_adds(&q.sql, "SELECT body FROM (SELECT s.seq, s.body FROM signals s WHERE 1");
    add_sight(t, &q);
    add_i(&q, " ORDER BY s.seq DESC LIMIT ?) ORDER BY seq", limit);
    struct row *r = buf_failed(&q.sql) ? NULL : index_run_text(ix, q.sql.p, q.values, q.n);
    buf_release(&q.sql);
    answer_lines(t, r);
    index_end(r);
    return true;
}
