/* connectors - which connector moves an entry, what it may do, and what came of it. */
#include "agents/connector/connectors.h"

#include "base/opt.h"
#include "base/suggest.h"
#include "base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 30 }; /* the limit of settings.max_bytes of curl, whose answers are kept */

/* ---- which connectors there are ---- */

/* Every row of agents.def whose kind is CONNECTOR, and curl. */
#define SPECIAL(id)
#define CLI(id)
#define LLM(id)
#define NOTIFIER(id)
#define CONNECTOR(id)              F(id)
#define AGENT(id, name, type, ...) type(id)
#define F(id)                      extern const struct connector connector_##id;
F(curl)
#include "agents/agents.def"
#undef F

static const struct connector *const all[] = {
#define F(id)                      &connector_##id,
#define AGENT(id, name, type, ...) type(id)
    F(curl)
#include "agents/agents.def"
#undef F
};

#define KINDS (sizeof all / sizeof *all)

_Static_assert(KINDS <= (size_t)CONNECTORS_MAX, "room for one connection of each");

const struct connector *
connector_find(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

/* ---- which one an entry names ---- */

/* The connector whose scheme the ref has ("jira:PROJ-1", "s3://b/k"); *rest is the ref behind it.
 */
static const struct connector *
by_scheme(const char *ref, const char **rest)
{
    size_t n = ref ? strcspn(ref, ":") : 0;

    for (size_t i = 0; n && ref[n] && i < KINDS; i++)
        if (strlen(all[i]->name) == n && memcmp(all[i]->name, ref, n) == 0) {
            *rest = ref + n + (strncmp(ref + n, "://", 3) == 0 ? 3 : 1);
            return all[i];
        }
    return NULL;
}

static void
say_unknown(const struct transfer *n, struct err *e)
{
    struct suggest near = { .word = n->agent };
    struct buf list = { 0 };

    for (size_t i = 0; i < KINDS; i++) {
        suggest_try(&near, all[i]->name);
        buf_addf(&list, "%s%s", i ? ", " : "", all[i]->name);
    }
    err_say(e, "%s %.100s: no connector %.100s%s%s%s; these are: %s", n->kind, n->name, n->agent,
            near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "",
            list.p ? list.p : "");
    buf_release(&list);
}

/* Sets *out and takes the scheme from the entry's ref. */
static enum status
choose(const struct connectors *w, struct transfer *n, const struct connector **out, struct err *e)
{
    const char *rest = NULL;
    const struct connector *named = by_scheme(n->ref, &rest);

    *out = n->agent            ? connector_find(n->agent)
           : w->home           ? w->home
           : named             ? named
           : n->url && !n->ref ? connector_find("curl")
                               : NULL;
    if (!*out) {
        if (n->agent)
            say_unknown(n, e);
        else
            transfer_wrong(n,
                           "it names no connector: give it an agent (s3, jira, …), a ref like "
                           "s3://bucket/key, or a url",
                           e);
        return ST_INVALID;
    }
    if (named == *out)
        n->ref = rest;
    return ST_OK;
}

static const struct connector_action *
find_action(const struct connector *kind, const char *name)
{
    for (const struct connector_action *a = kind->actions; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

static enum status
unknown_action(const struct connector *kind, const char *where, const char *action, struct err *e)
{
    struct suggest near = { .word = action };
    struct buf list = { 0 };

    for (const struct connector_action *a = kind->actions; a->name; a++) {
        suggest_try(&near, a->name);
        buf_addf(&list, "%s%s", a == kind->actions ? "" : a[1].name ? ", " : " and ", a->name);
    }
    err_say(e, "%s: the agent %s knows the actions %s, not %.100s%s%s%s", where, kind->name,
            list.p ? list.p : "", action, near.best ? " (did you mean " : "",
            near.best ? near.best : "", near.best ? "?)" : "");
    buf_release(&list);
    return ST_INVALID;
}

/* The entry's action; *out NULL: the phase's action leaves it out. */
static enum status
choose_action(const struct connectors *w, const struct connector *kind, const struct transfer *n,
              const struct connector_action **out, struct err *e)
{
    bool is_target = n->kind[0] == 't';
    const struct connector_action *of_phase =
        kind == w->home && w->action ? find_action(kind, w->action) : NULL;
    char where[160];

    snprintf(where, sizeof where, "%s %.100s", n->kind, n->name);
    *out = n->action ? find_action(kind, n->action) : of_phase;
    if (n->action && !*out)
        return unknown_action(kind, where, n->action, e);
    if (*out && (*out)->is_target != is_target) {
        if (n->action)
            return err_set(e, ST_INVALID, "%s: the action %s is for %s", where, n->action,
                           is_target ? "sources" : "target_entries");
        *out = NULL;
        return ST_OK;
    }
    for (const struct connector_action *a = kind->actions; !*out && a->name; a++)
        if (a->is_target == is_target)
            *out = a;
    return *out
               ? ST_OK
               : err_set(e, ST_INVALID, "%s: the agent %s has no action for it", where, kind->name);
}

/* libcurl and servers take such a segment out of a URL's path: it would name something else. */
static bool
ends_in_dots(const char *ref)
{
    const char *slash = ref ? strrchr(ref, '/') : NULL, *last = slash ? slash + 1 : ref;

    return last && (strcmp(last, ".") == 0 || strcmp(last, "..") == 0);
}

static enum status
check_needs(const struct connector_action *a, const struct transfer *n, struct err *e)
{
    if ((a->needs & NEEDS_URL) && !n->url)
        return transfer_wrong(n, "it has no url", e);
    if ((a->needs & NEEDS_REF) && (!n->ref || !*n->ref))
        return transfer_wrong(n, "it has no ref", e);
    if (ends_in_dots(n->ref))
        return transfer_wrong(n, "its ref must not end in . or ..", e);
    if ((a->needs & NEEDS_FILE) && !n->file)
        return transfer_wrong(n, "it has no file", e);
    return ST_OK;
}

/* ---- connections ---- */

static enum status
get_settings(struct connection *x, struct err *e)
{
    const char *timeout = connection_setting(x, "timeout"),
               *bytes = connection_setting(x, "max_bytes");

    x->proxy = connection_setting(x, "proxy");
    if (timeout && (!opt_parse_ms(timeout, &x->timeout_ms) || x->timeout_ms < 1))
        return err_set(e, ST_INVALID,
                       "the setting agents.%s.timeout must be a time like 30, 90s or 2m",
                       x->kind->name);
    if (bytes) {
        char *end;
        long long n = strtoll(bytes, &end, 10);
        if (*end || n < 1 || n > BYTES_MAX)
            return err_set(e, ST_INVALID,
                           "the setting agents.%s.max_bytes must be a number from 1 to %d",
                           x->kind->name, BYTES_MAX);
        x->max_bytes = (size_t)n;
    }
    return ST_OK;
}

/* agents.<name> of the project's settings. */
static enum status
load_settings(struct connectors *w, const char *name, const struct json **out, struct err *e)
{
    struct buf dir = { 0 };
    enum status s = ST_OK;

    if (!w->has_settings) {
        if (w->c->project_dir)
            buf_addf(&dir, "%s/.cliq", w->c->project_dir);
        s = buf_status(&dir, "the path of the project", e);
        if (!s)
            s = settings_load(&w->settings, dir.p, e);
        buf_release(&dir);
        w->has_settings = !s;
    }
    if (!s)
        *out = json_get(settings_get(&w->settings, "agents"), name);
    return s;
}

/* The connection of that connector, opened at its first use. */
static enum status
connect_to(struct connectors *w, const struct connector *kind, struct connection **out,
           struct err *e)
{
    for (size_t i = 0; i < w->n_open; i++)
        if (w->open[i].kind == kind) {
            *out = &w->open[i];
            return ST_OK;
        }
    struct connection *x = &w->open[w->n_open];
    *x = (struct connection){ .kind = kind, .c = w->c, .settings = w->c->settings };
    enum status s = kind == w->home ? ST_OK : load_settings(w, kind->name, &x->settings, e);
    if (!s)
        s = get_settings(x, e);
    if (!s && kind->open)
        s = kind->open(x, e);
    w->n_open += !s;
    *out = x;
    return s;
}

/* ---- one entry ---- */

/* Writes "source report: …" to log, progress and text. */
static enum status
report(struct connectors *w, const struct transfer *n, const char *note, struct err *e)
{
    struct buf line = { 0 }, shown = { 0 };

    buf_addf(&shown, "%s %s: %s", n->kind, n->name, note);
    if (!buf_failed(&shown))
        term_escape(&line, shown.p, shown.len, false);
    enum status s = buf_status(&line, "the note", e);
    if (!s) {
        dprintf(STDOUT_FILENO, "%s\n", line.p);
        buf_addf(&w->text, "- %s\n", line.p);
        s = context_progress(w->c, line.p, e);
    }
    buf_release(&line);
    buf_release(&shown);
    return s;
}

/* The note of an action that wrote none: "jira get_issue PROJ-1, 1234 bytes". */
static void
add_note(struct connection *x, const struct connector_action *a, const struct transfer *n)
{
    int64_t size;

    if (x->note.len)
        return;
    buf_addf(&x->note, "%s %s", x->kind->name, a->name);
    if (n->ref)
        buf_addf(&x->note, " %s", n->ref);
    if (json_int(json_get(x->record, "size"), &size))
        buf_addf(&x->note, ", %jd bytes", (intmax_t)size);
}

/* "source x: " before a sentence that does not name the entry yet. */
static enum status
name_entry(const struct transfer *n, enum status s, struct err *e)
{
    struct err why = *e;
    size_t k = strlen(n->kind);

    if (strncmp(why.text, n->kind, k) != 0 || why.text[k] != ' ')
        err_say(e, "%s %.100s: %s", n->kind, n->name, why.text);
    return s;
}

static enum status
move(struct connectors *w, struct transfer *n, struct json *in, struct err *e)
{
    const struct connector *kind;
    const struct connector_action *a = NULL;
    struct connection *x = NULL;
    enum status s = choose(w, n, &kind, e);

    if (!s)
        s = choose_action(w, kind, n, &a, e);
    if (!s && a)
        s = connect_to(w, kind, &x, e);
    if (s || !a)
        return s;
    x->entry = n;
    x->record = json_new(w->c->arena, JSON_OBJECT);
    buf_reset(&x->note);
    if (!x->record)
        return err_nomem(e);
    record_text(x, "ref", n->ref);
    s = a->run(x, n, e);
    if (s)
        return name_entry(n, s, e);
    add_note(x, a, n);
    s = buf_status(&x->note, "the note", e);
    if (!s && (x->is_starved || !json_set(in, n->name, x->record)))
        s = err_nomem(e);
    return s ? s : report(w, n, x->note.p, e);
}

/* ---- all of them ---- */

static enum status
check_entries(struct connectors *w, struct transfers *list, size_t *n_work, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < list->n; i++) {
        const struct connector *kind;
        const struct connector_action *a = NULL;
        struct transfer n = list->v[i]; /* its ref keeps its scheme */
        s = choose(w, &n, &kind, e);
        if (!s)
            s = choose_action(w, kind, &n, &a, e);
        if (!s && a)
            s = check_needs(a, &n, e);
        *n_work += a != NULL;
    }
    return s;
}

enum status
connectors_open(struct connectors *w, struct context *c, struct err *e)
{
    size_t n_work = 0;

    *w = (struct connectors){ .c = c, .home = connector_find(c->agent) };
    w->got = json_new(c->arena, JSON_OBJECT);
    w->sent = json_new(c->arena, JSON_OBJECT);
    if (!w->got || !w->sent)
        return err_nomem(e);
    enum status s = transfers_get(&w->sources, c, "sources", "source", e);
    if (!s)
        s = transfers_get(&w->targets, c, "target_entries", "target", e);
    if (!s)
        s = transfer_text(c->arena, json_get(c->dispatch, "action"), &w->action, e);
    if (w->action && !*w->action)
        w->action = NULL;
    if (!s && w->home && w->action && !find_action(w->home, w->action)) {
        char where[96];
        snprintf(where, sizeof where, "phase %s", c->phase);
        return unknown_action(w->home, where, w->action, e);
    }
    if (!s)
        s = check_entries(w, &w->sources, &n_work, e);
    if (!s)
        s = check_entries(w, &w->targets, &n_work, e);
    if (!s && w->home && !w->sources.n && !w->targets.n)
        return err_set(e, ST_INVALID, "phase %s has neither sources nor target_entries", c->phase);
    if (!s && w->home && !n_work)
        return err_set(e, ST_INVALID, "phase %s: there is nothing to %s", c->phase, w->action);
    return s;
}

enum status
connectors_fetch(struct connectors *w, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < w->sources.n; i++)
        s = move(w, &w->sources.v[i], w->got, e);
    return s;
}

enum status
connectors_deliver(struct connectors *w, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < w->targets.n; i++)
        s = move(w, &w->targets.v[i], w->sent, e);
    return s;
}

struct json *
connectors_data(struct connectors *w)
{
    struct json *data = json_new(w->c->arena, JSON_OBJECT);

    if (data) {
        json_set(data, "sources", w->got);
        json_set(data, "targets", w->sent);
    }
    return data;
}

void
connectors_release(struct connectors *w)
{
    for (size_t i = 0; i < w->n_open; i++)
        buf_release(&w->open[i].note);
    if (w->has_settings)
        settings_release(&w->settings);
    buf_release(&w->text);
    w->n_open = 0;
    w->has_settings = false;
}
