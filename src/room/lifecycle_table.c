/* The table of a lifecycle: made from roles, read from lifecycle.json, written to it. */
#include "base/path.h"
#include "base/suggest.h"
#include "room/lifecycle.h"

#include <stdio.h>
#include <string.h>

static const char *const guards[] = { NULL, "retries < max_retries", "retries >= max_retries" };

/* ---- roles -------------------------------------------------------------- */

/* The next role of the text; false: there is none. */
static bool
next_role(const char **at, const char **p, size_t *len)
{
    const char *s = *at + strspn(*at, " \t,");

    while (s[0] == '-' && s[1] == '>')
        s += 2, s += strspn(s, " \t,");
    *p = s;
    while (*s && !strchr(" \t,", *s) && !(s[0] == '-' && s[1] == '>'))
        s++;
    *len = (size_t)(s - *p);
    *at = s;
    return *len > 0;
}

enum status
lifecycle_roles(struct arena *a, const char *text, const char ***roles, size_t *n, struct err *e)
{
    const char *p;
    size_t len;

    *n = 0;
    *roles = arena_alloc(a, LIFE_ROLES_MAX * sizeof **roles);
    if (!*roles)
        return err_nomem(e);
    while (next_role(&text, &p, &len)) {
        if (*n == LIFE_ROLES_MAX)
            return err_set(e, ST_INVALID, "more than %d roles", LIFE_ROLES_MAX);
        if (!((*roles)[(*n)++] = arena_dup(a, p, len)))
            return err_nomem(e);
    }
    return ST_OK;
}

/* The roles of a pipeline: without suffixes, without the manager, each once. */
static enum status
clean_roles(struct arena *a, const char *const *roles, size_t n, const char **clean,
            size_t *n_clean, struct err *e)
{
    *n_clean = 0;
    for (size_t i = 0; i < n; i++) {
        char *role = arena_dup(a, roles[i], strcspn(roles[i], ":"));
        if (!role)
            return err_nomem(e);
        enum status s = path_check_name("role", role, e);
        if (s)
            return s;
        if (strcmp(role, LIFE_MANAGER) == 0)
            continue;
        for (size_t k = 0; k < *n_clean; k++)
            if (strcmp(clean[k], role) == 0)
                return err_set(e, ST_INVALID, "the role %s is named twice", role);
        if (*n_clean == LIFE_ROLES_MAX)
            return err_set(e, ST_INVALID, "more than %d roles", LIFE_ROLES_MAX);
        clean[(*n_clean)++] = role;
    }
    if (*n_clean == 0)
        return err_set(e, ST_INVALID, "no role that works: name it, for example engineer,qa");
    if (*n_clean == 1) {
        if (strcmp(clean[0], "qa") == 0)
            return err_set(e, ST_INVALID, "qa cannot review its own work: name a worker, too");
        clean[(*n_clean)++] = "qa";
    }
    return ST_OK;
}

/* ---- the default --------------------------------------------------------- */

enum { DEVELOPING, OPTIMIZE, FIRST_REVIEW }; /* then the reviews, triage, failed, the ends */

static struct life_state
state(struct arena *a, const char *name, const char *role, enum life_type type,
      const struct life_signal *signals, size_t n, bool *is_good)
{
    struct life_state s = { .name = name, .role = role, .type = type, .n_signals = n };

    if (n) {
        s.signals = arena_alloc(a, n * sizeof *signals);
        if (s.signals)
            memcpy(s.signals, signals, n * sizeof *signals);
        else
            *is_good = false;
    }
    return s;
}

static const char *
review_name(struct arena *a, size_t i)
{
    char name[32] = "review";

    if (i)
        snprintf(name, sizeof name, "review-%zu", i + 1);
    return arena_dup(a, name, strlen(name));
}

#define SIGNALS(...)                                                                               \
    (const struct life_signal[]){ __VA_ARGS__ },                                                   \
        sizeof((const struct life_signal[]){ __VA_ARGS__ }) / sizeof(struct life_signal)

enum status
lifecycle_default(struct lifecycle *c, struct arena *a, const char *const *roles, size_t n,
                  unsigned max_retries, struct err *e)
{
    const char *clean[LIFE_ROLES_MAX + 1];
    size_t n_clean;
    bool is_good = true;
    enum status s = clean_roles(a, roles, n, clean, &n_clean, e);

    if (s)
        return s;
    size_t n_reviews = n_clean - 1, triage = FIRST_REVIEW + n_reviews, failed = triage + 1,
           passed = failed + 1, final = passed + 1;
    struct life_state *v = arena_alloc(a, (final + 1) * sizeof *v);
    if (!v)
        return err_nomem(e);
    v[DEVELOPING] = state(a, "developing", clean[0], LIFE_WORK,
                          SIGNALS({ .type = "done", .target = FIRST_REVIEW },
                                  { .type = "error", .target = failed, .is_retry = true }),
                          &is_good);
    v[OPTIMIZE] = v[DEVELOPING];
    v[OPTIMIZE].name = "optimize";
    for (size_t i = 0; i < n_reviews; i++) {
        size_t next = i + 1 < n_reviews ? FIRST_REVIEW + i + 1 : passed;
        v[FIRST_REVIEW + i] = state(
            a, review_name(a, i), clean[i + 1], LIFE_REVIEW,
            SIGNALS({ .type = "pass", .target = next }, { .type = "done", .target = next },
                    { .type = "fail", .target = OPTIMIZE, .is_retry = true, .posts_fix = true },
                    { .type = "escalate", .target = triage },
                    { .type = "error", .target = failed, .is_retry = true }),
            &is_good);
        is_good = is_good && v[FIRST_REVIEW + i].name;
    }
    v[triage] = state(
        a, "triage", LIFE_MANAGER, LIFE_TRIAGE,
        SIGNALS({ .type = "fix", .target = OPTIMIZE, .is_retry = true, .posts_fix = true },
                { .type = "redesign", .target = DEVELOPING, .is_retry = true, .adds_notes = true },
                { .type = "reject", .target = final }),
        &is_good);
    v[failed] = state(a, "failed", LIFE_MANAGER, LIFE_DECISION,
                      SIGNALS({ .type = "retry", .target = DEVELOPING, .guard = LIFE_RETRIES_LEFT },
                              { .type = "exhaust", .target = final, .guard = LIFE_RETRIES_SPENT }),
                      &is_good);
    v[passed] = state(a, LIFE_PASSED, NULL, LIFE_TERMINAL, NULL, 0, &is_good);
    v[final] = state(a, LIFE_FAILED_FINAL, NULL, LIFE_TERMINAL, NULL, 0, &is_good);
    *c = (struct lifecycle){ .states = v,
                             .n_states = final + 1,
                             .initial = DEVELOPING,
                             .passed = passed,
                             .failed_final = final,
                             .decision = failed,
                             .max_retries = max_retries };
    return is_good ? ST_OK : err_nomem(e);
}

/* ---- lifecycle.json ------------------------------------------------------ */

struct lifecycle_reading {
    const char *name;
    struct arena *a;
    struct lifecycle *c;
    const struct json *states;
};

static enum status
read_type(const struct lifecycle_reading *r, const struct json *v, struct life_state *s,
          struct err *e)
{
    const struct json *type = json_get(v, "type");

    for (int t = LIFE_WORK; t <= LIFE_TERMINAL; t++)
        if (json_eq(type, life_type_name(t))) {
            s->type = (enum life_type)t;
            return ST_OK;
        }
    return err_set(e, ST_INVALID,
                   "%s: the state %s needs a type: work, review, triage, decision or terminal",
                   r->name, s->name);
}

/* A state's name: a lower-case letter, then letters, digits, hyphens. */
static bool
is_state_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n > 0 && !s[n] && n <= PATH_NAME_MAX && s[0] >= 'a' && s[0] <= 'z';
}

static enum status
read_guard(const struct lifecycle_reading *r, const struct life_state *s, const struct json *v,
           struct life_signal *to, struct err *e)
{
    const struct json *guard = json_get(v, "guard");

    if (!guard)
        return ST_OK;
    for (size_t g = LIFE_RETRIES_LEFT; g <= LIFE_RETRIES_SPENT; g++)
        if (json_eq(guard, guards[g])) {
            to->guard = (enum life_guard)g;
            return ST_OK;
        }
    return err_set(e, ST_INVALID, "%s: state %s, signal %s: a guard is \"%s\" or \"%s\"", r->name,
                   s->name, to->type, guards[LIFE_RETRIES_LEFT], guards[LIFE_RETRIES_SPENT]);
}

static enum status
read_actions(const struct lifecycle_reading *r, const struct life_state *s, const struct json *v,
             struct life_signal *to, struct err *e)
{
    const struct json *actions = json_get(v, "actions");

    if (actions && !json_is(actions, JSON_ARRAY))
        return err_set(e, ST_INVALID, "%s: state %s, signal %s: actions must be a list", r->name,
                       s->name, to->type);
    json_each (x, actions) {
        if (json_eq(x, "increment_retries"))
            to->is_retry = true;
        else if (json_eq(x, "post_fix"))
            to->posts_fix = true;
        else if (json_eq(x, "revise_brief"))
            to->adds_notes = true;
        else
            return err_set(e, ST_INVALID,
                           "%s: state %s, signal %s: unknown action %.*s; known are "
                           "increment_retries, post_fix, revise_brief",
                           r->name, s->name, to->type,
                           json_is(x, JSON_STRING) ? (int)x->text.len : 1,
                           json_is(x, JSON_STRING) ? x->text.p : "?");
    }
    return ST_OK;
}

static enum status
read_target(const struct lifecycle_reading *r, const struct life_state *s, const struct json *v,
            struct life_signal *to, struct err *e)
{
    char *target = json_dup_text(r->a, json_get(v, "target"));
    struct suggest near = { .word = target };

    if (!target)
        return err_set(e, ST_INVALID, "%s: state %s, signal %s: target must name a state", r->name,
                       s->name, to->type);
    to->target = lifecycle_find(r->c, target);
    if (to->target != SIZE_MAX)
        return ST_OK;
    for (size_t i = 0; i < r->c->n_states; i++)
        suggest_try(&near, r->c->states[i].name);
    return err_set(e, ST_INVALID, "%s: state %s, signal %s: there is no state \"%.64s\"%s%s%s",
                   r->name, s->name, to->type, target, near.best ? " (did you mean \"" : "",
                   near.best ? near.best : "", near.best ? "\"?)" : "");
}

static enum status
read_signals(const struct lifecycle_reading *r, const struct json *v, struct life_state *s,
             struct err *e)
{
    const struct json *signals = json_get(v, "signals");
    size_t n = 0;
    enum status st = ST_OK;

    if (json_is(signals, JSON_OBJECT))
        n = signals->kids.count;
    else if (signals)
        return err_set(e, ST_INVALID, "%s: state %s: signals must be an object", r->name, s->name);
    if (n > LIFE_SIGNALS_MAX)
        return err_set(e, ST_INVALID, "%s: state %s: more than %d signals", r->name, s->name,
                       LIFE_SIGNALS_MAX);
    if ((s->type == LIFE_TERMINAL) != (n == 0))
        return err_set(e, ST_INVALID,
                       n ? "%s: the terminal state %s must have no signals"
                         : "%s: the state %s needs signals: no message would leave it",
                       r->name, s->name);
    if (n && !(s->signals = arena_alloc(r->a, n * sizeof *s->signals)))
        return err_nomem(e);
    json_each (x, signals) {
        struct life_signal *to = &s->signals[s->n_signals];
        *to = (struct life_signal){ .type = arena_dup(r->a, x->key, x->key_len) };
        if (!to->type)
            return err_nomem(e);
        st = path_check_name("message type", to->type, e);
        if (!st)
            st = read_target(r, s, x, to, e);
        if (!st)
            st = read_guard(r, s, x, to, e);
        if (!st)
            st = read_actions(r, s, x, to, e);
        if (st)
            return st;
        s->n_signals++;
    }
    return ST_OK;
}

static enum status
read_state(const struct lifecycle_reading *r, const struct json *v, struct life_state *s,
           struct err *e)
{
    const struct json *role = json_get(v, "role");

    if (!json_is(v, JSON_OBJECT))
        return err_set(e, ST_INVALID, "%s: the state %s must be an object", r->name, s->name);
    if (role && !json_is(role, JSON_NULL)) {
        char *name = json_dup_text(r->a, role);
        if (!name)
            return err_set(e, ST_INVALID, "%s: state %s: role must be text", r->name, s->name);
        name[strcspn(name, ":")] = '\0';
        enum status st = path_check_name("role", name, e);
        if (st)
            return st;
        s->role = name;
    }
    enum status st = read_type(r, v, s, e);
    return st ? st : read_signals(r, v, s, e);
}

static enum status
read_names(const struct lifecycle_reading *r, struct err *e)
{
    struct lifecycle *c = r->c;

    if (!json_is(r->states, JSON_OBJECT) || !r->states->kids.count)
        return err_set(e, ST_INVALID, "%s: states must be an object with the states", r->name);
    if (r->states->kids.count > LIFE_STATES_MAX)
        return err_set(e, ST_INVALID, "%s: more than %d states", r->name, LIFE_STATES_MAX);
    c->states = arena_alloc(r->a, r->states->kids.count * sizeof *c->states);
    if (!c->states)
        return err_nomem(e);
    json_each (v, r->states) {
        const char *name = arena_dup(r->a, v->key, v->key_len);
        if (!name)
            return err_nomem(e);
        if (!is_state_name(name))
            return err_set(
                e, ST_INVALID,
                "%s: \"%.64s\" is no name of a state: a lower-case letter, then letters, "
                "digits and -",
                r->name, name);
        c->states[c->n_states++] = (struct life_state){ .name = name };
    }
    return ST_OK;
}

static enum status
find_terminal(const struct lifecycle_reading *r, const char *name, size_t *to, struct err *e)
{
    *to = lifecycle_find(r->c, name);
    if (*to != SIZE_MAX && r->c->states[*to].type == LIFE_TERMINAL)
        return ST_OK;
    return err_set(e, ST_INVALID, "%s: there must be a terminal state %s", r->name, name);
}

/* What can be reached from the first state, as a set. */
static bool
reaches_passed(const struct lifecycle *c)
{
    bool seen[LIFE_STATES_MAX] = { false };
    size_t todo[LIFE_STATES_MAX], n = 0;

    seen[c->initial] = true;
    todo[n++] = c->initial;
    while (n) {
        const struct life_state *s = &c->states[todo[--n]];
        for (size_t i = 0; i < s->n_signals; i++) {
            size_t t = s->signals[i].target;
            if (!seen[t]) {
                seen[t] = true;
                todo[n++] = t;
            }
        }
    }
    return seen[c->passed];
}

static enum status
read_head(const struct lifecycle_reading *r, const struct json *doc, struct err *e)
{
    struct lifecycle *c = r->c;
    int64_t version = 0, retries = LIFE_RETRIES;
    const struct json *max = json_get(doc, "max_retries");
    char *initial = json_dup_text(r->a, json_get(doc, "initial_state"));

    if (!json_int(json_get(doc, "version"), &version) || version != 2)
        return err_set(e, ST_INVALID, "%s: version must be 2", r->name);
    if (max && (!json_int(max, &retries) || retries < 1 || retries > LIFE_RETRIES_MAX))
        return err_set(e, ST_INVALID, "%s: max_retries must be a whole number from 1 to %d",
                       r->name, LIFE_RETRIES_MAX);
    c->max_retries = (unsigned)retries;
    c->initial = initial ? lifecycle_find(c, initial) : SIZE_MAX;
    if (c->initial == SIZE_MAX)
        return err_set(e, ST_INVALID, "%s: initial_state must name a state", r->name);
    return ST_OK;
}

static enum status
check_whole(const struct lifecycle_reading *r, struct err *e)
{
    struct lifecycle *c = r->c;
    enum life_type first = c->states[c->initial].type;
    enum status s = find_terminal(r, LIFE_PASSED, &c->passed, e);

    if (!s)
        s = find_terminal(r, LIFE_FAILED_FINAL, &c->failed_final, e);
    if (s)
        return s;
    c->decision = c->failed_final;
    for (size_t i = c->n_states; i-- > 0;)
        if (c->states[i].type == LIFE_DECISION)
            c->decision = i;
    if (first == LIFE_TERMINAL || first == LIFE_DECISION)
        return err_set(e, ST_INVALID, "%s: the initial state must not be a %s", r->name,
                       life_type_name(first));
    if (!reaches_passed(c))
        return err_set(e, ST_INVALID, "%s: no way leads from %s to " LIFE_PASSED, r->name,
                       c->states[c->initial].name);
    return ST_OK;
}

enum status
lifecycle_parse(struct lifecycle *c, struct arena *a, const char *name, const char *text,
                size_t len, struct err *e)
{
    struct json *doc;
    enum status s = json_parse_named(a, name, text, len, &doc, e);
    size_t i = 0;

    *c = (struct lifecycle){ 0 };
    if (s)
        return s;
    struct lifecycle_reading r = { name, a, c, json_get(doc, "states") };
    s = read_names(&r, e);
    if (!s)
        s = read_head(&r, doc, e);
    json_each (v, s ? NULL : r.states) {
        s = read_state(&r, v, &c->states[i++], e);
        if (s)
            break;
    }
    return s ? s : check_whole(&r, e);
}

static void
write_signal(struct buf *to, const struct lifecycle *c, const struct life_signal *x)
{
    json_key(to, x->type);
    json_open(to, '{');
    json_key_str(to, "target", c->states[x->target].name);
    if (x->guard != LIFE_ALWAYS)
        json_key_str(to, "guard", guards[x->guard]);
    if (x->is_retry || x->posts_fix || x->adds_notes) {
        const char *actions[3];
        size_t n = 0;
        if (x->is_retry)
            actions[n++] = "increment_retries";
        if (x->posts_fix)
            actions[n++] = "post_fix";
        if (x->adds_notes)
            actions[n++] = "revise_brief";
        json_key_strs(to, "actions", actions, n);
    }
    json_close(to, '}');
}

void
lifecycle_write(struct buf *to, const struct lifecycle *c)
{
    json_open(to, '{');
    json_key_int(to, "version", 2);
    json_key_str(to, "initial_state", c->states[c->initial].name);
    json_key_int(to, "max_retries", c->max_retries);
    json_key(to, "states");
    json_open(to, '{');
    for (size_t i = 0; i < c->n_states; i++) {
        const struct life_state *s = &c->states[i];
        json_key(to, s->name);
        json_open(to, '{');
        json_key_str(to, "role", s->role);
        json_key_str(to, "type", life_type_name(s->type));
        if (s->n_signals) {
            json_key(to, "signals");
            json_open(to, '{');
            for (size_t k = 0; k < s->n_signals; k++)
                write_signal(to, c, &s->signals[k]);
            json_close(to, '}');
        }
        json_close(to, '}');
    }
    json_close(to, '}');
    json_close(to, '}');
}
