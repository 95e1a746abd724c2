#include "agents/notify/notice.h"

#include "base/path.h"
#include "base/term.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* The name of an event without a phase; with one it follows "phase build". */
static const struct {
    const char *event, *of_run, *of_phase;
} titles[] = {
    { "on_start", "a run has started", "has started" },
    { "on_phase_start", NULL, "has started" },
    { "on_phase_complete", NULL, "is complete" },
    { "on_complete", "the run is complete", "is complete" },
    { "on_skip", NULL, "is skipped" },
    { "on_error", NULL, "had an error" },
    { "on_timeout", NULL, "reached its time limit" },
    { "on_fail", NULL, "failed" },
    { "on_escalate", "the run needs a person", "needs a person" },
    { "on_cancel", "the run was cancelled", NULL },
    { "hug_review", "a review waits for you", "waits for your review" },
    { "hug_reminder", "a review still waits for you", "still waits for your review" },
};

/* Members that have a place of their own; the others become rows. */
static const char *const placed[] = {
    "event",  "type",    "agent", "channel", "phase_name", "phase_type", "iteration", "outcome",
    "reason", "message", "text",  "content", "subject",    "next",       "run_id",
};

/* ---- texts ---- */

/* A copy that is safe to show: NULL when there is no memory, or nothing to copy. */
static const char *
clean(struct arena *a, const char *p, size_t len, size_t max, bool is_multiline)
{
    struct buf b = { 0 };
    const char *out = NULL;

    term_escape(&b, p, len, is_multiline);
    if (!buf_failed(&b) && b.len > max) {
        buf_cut(&b, utf8_cut(b.p, b.len, max - 3));
        buf_adds(&b, "...");
    }
    if (!buf_failed(&b) && b.len)
        out = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return out;
}

/* The text of a scalar member; NULL: it has none. */
static const char *
value_of(struct arena *a, const struct json *v, size_t max, bool is_multiline)
{
    bool is_true;

    if (json_is(v, JSON_STRING) || json_is(v, JSON_NUMBER))
        return clean(a, v->text.p, v->text.len, max, is_multiline);
    return json_bool(v, &is_true) ? is_true ? "yes" : "no" : NULL;
}

static const char *
line_of(struct arena *a, const struct notice *n, const char *key)
{
    return value_of(a, json_get(n->told, key), NOTICE_TEXT_MAX, false);
}

/* ---- its parts ---- */

static void
add_row(struct notice *n, const char *label, const char *value)
{
    if (label && value && *value && n->n_rows < NOTICE_ROWS)
        n->rows[n->n_rows++] = (struct notice_row){ label, value };
}

/* "cliq log build": `word` and `rest` may be empty. */
static void
add_command(struct notice *n, struct arena *a, const char *command, const char *word,
            const char *rest)
{
    char text[NOTICE_TEXT_MAX + 1];
    int len = snprintf(text, sizeof text, "%s%s%s", command, word, rest);
    const char *own = len < (int)sizeof text ? arena_dup(a, text, (size_t)len) : NULL;

    if (own && n->n_commands < NOTICE_COMMANDS)
        n->commands[n->n_commands++] = own;
}

/* "phase review failed"; of an event without a row "phase review: deployed". */
static void
write_event(struct buf *to, const struct notice *n, const char *phase)
{
    const char *says = NULL;

    for (size_t i = 0; !says && i < sizeof titles / sizeof *titles; i++)
        if (strcmp(n->event, titles[i].event) == 0)
            says = phase ? titles[i].of_phase : titles[i].of_run;
    if (phase)
        buf_addf(to, says ? "phase %s " : "phase %s: ", phase);
    buf_adds(to, says ? says : n->event);
}

/* "@local/article: phase review failed", or the sender's own subject. */
static const char *
title_of(struct arena *a, const struct notice *n, const char *phase)
{
    const char *out = value_of(a, json_get(n->told, "subject"), NOTICE_TITLE_MAX, false);
    struct buf b = { 0 };

    if (out)
        return out;
    if (*n->team)
        buf_addf(&b, "%s: ", n->team);
    write_event(&b, n, phase);
    if (!buf_failed(&b))
        out = clean(a, b.p, b.len, NOTICE_TITLE_MAX, false);
    buf_release(&b);
    return out;
}

static const char *
message_of(struct arena *a, const struct json *v)
{
    static const char *const keys[] = { "message", "text", "content" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = value_of(a, json_get(v, keys[i]), NOTICE_TEXT_MAX, true);
        if (text)
            return text;
    }
    return NULL;
}

static bool
has_place(const struct json *member)
{
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++)
        if (strlen(placed[i]) == member->key_len &&
            memcmp(placed[i], member->key, member->key_len) == 0)
            return true;
    return false;
}

static void
add_rows(struct notice *n, struct arena *a, const struct agent_message *m, const char *phase)
{
    const char *why = value_of(a, json_get(n->told, "reason"), NOTICE_TEXT_MAX, true);

    add_row(n, "Project", n->project);
    if (m->req_key)
        add_row(n, "Requirement", clean(a, m->req_key, strlen(m->req_key), 200, false));
    add_row(n, "Run", n->run);
    add_row(n, "Phase", phase);
    if (json_get(n->told, "iteration"))
        add_row(n, "Iteration", line_of(a, n, "iteration"));
    add_row(n, "Outcome", line_of(a, n, "outcome"));
    add_row(n, "Why", why);
    json_each (v, n->told)
        if (v->key && !has_place(v))
            add_row(n, clean(a, v->key, v->key_len, 40, false),
                    value_of(a, v, NOTICE_TEXT_MAX, false));
}

static bool
is_one_of(const char *event, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(event, *list) == 0)
            return true;
    return false;
}

/* The next commands. What becomes part of one is a safe word. */
static void
add_commands(struct notice *n, struct arena *a, const char *phase)
{
    static const char *const bad[] = { "on_error",    "on_timeout", "on_fail",
                                       "on_escalate", "error",      NULL };
    const char *next = line_of(a, n, "next"), *review = line_of(a, n, "review_id");
    const char *who = line_of(a, n, "reviewer");
    char as[PATH_NAME_MAX + 8] = "", changes[sizeof as + 32];

    if (who && path_is_name(who))
        snprintf(as, sizeof as, " --as %s", who);
    snprintf(changes, sizeof changes, "%s -m \"what to change\"", as);

    if (next)
        add_command(n, a, next, "", "");
    if (review && path_is_name(review)) {
        add_command(n, a, "cliq review show ", review, "");
        add_command(n, a, "cliq review approve ", review, as);
        add_command(n, a, "cliq review changes ", review, changes);
    } else if (phase && path_is_name(phase) && !next && is_one_of(n->event, bad)) {
        add_command(n, a, "cliq log ", phase, "");
    }
    if (*n->project && n->n_commands < NOTICE_COMMANDS)
        add_command(n, a, "cliq status", "", "");
}

/* Of a woken agent the signal is the event. */
static const char *
event_of(struct arena *a, struct notice *n)
{
    const struct json *signal = json_get(n->source, "signal"), *data = json_get(signal, "data");
    const char *event =
        value_of(a, json_get(signal ? signal : n->source, signal ? "type" : "event"),
                 NOTICE_TITLE_MAX, false);

    if (signal)
        n->told = json_is(data, JSON_OBJECT) ? data : signal;
    return event ? event : "notice";
}

enum status
notice_read(struct notice *n, struct arena *a, const struct agent_message *m, const char *run,
            const struct json *v, struct err *e)
{
    const char *team = m->team_name ? m->team_name : "", *dir = m->project_dir;

    *n = (struct notice){ .source = v, .told = v, .run = run };
    n->event = event_of(a, n);
    n->channel = json_dup_text(a, json_get(v, "channel"));
    const char *phase = line_of(a, n, "phase_name");
    n->team = *team ? clean(a, team, strlen(team), NOTICE_TITLE_MAX, false) : "";
    n->project = dir ? clean(a, dir, strlen(dir), NOTICE_TEXT_MAX, false) : "";
    if (!n->team || !n->project)
        return err_nomem(e);
    n->title = title_of(a, n, phase);
    if (!n->title)
        return err_nomem(e);
    n->message = message_of(a, n->told);
    add_rows(n, a, m, phase);
    add_commands(n, a, phase);
    return ST_OK;
}

/* ---- as text ---- */

void
notice_write(struct buf *to, const struct notice *n)
{
    buf_addf(to, "%s\n", n->title);
    if (n->message)
        buf_addf(to, "\n%s\n", n->message);
    if (n->n_rows)
        buf_addc(to, '\n');
    for (size_t i = 0; i < n->n_rows; i++)
        buf_addf(to, "%s: %s\n", n->rows[i].label, n->rows[i].value);
    if (n->n_commands)
        buf_addf(to, "\nWhat to do%s%s:\n", *n->project ? ", in " : "", n->project);
    for (size_t i = 0; i < n->n_commands; i++)
        buf_addf(to, "  %s\n", n->commands[i]);
}
