/* review - the gates that people decide: lists, shows and answers their reviews. */
#include "run/review.h"

#include "agents/review/review_desk.h"
#include "base/clock.h"
#include "base/suggest.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/sdk_session.h"
#include "hubclient/hubclient.h"
#include "run/review_line.h"
#include "run/sleeping.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "message", OPT_TEXT, "TEXT", "why; - reads standard input", .letter = 'm' },
    { "to", OPT_TEXT, "PHASE", "changes: the phase that works on it again (else the first)" },
    { "as", OPT_TEXT, "IDENTITY", "who you are (else CLIQ_IDENTITY, else your user's name)" },
    { "diff", OPT_FLAG, NULL, "show: print what changed since the run began" },
    { "all", OPT_FLAG, NULL, "list: those of all projects in which you are a reviewer" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* The parts that all actions share. */
struct reviewing {
    const struct args *args;
    struct review_asker asker;
    struct state_dir project; /* dir -1: not in one */
    struct arena arena;
    struct buf out;
};

/* ---- what is told of one ---- */

static const char *
state_of(struct reviewing *x, const struct json *doc)
{
    return review_desk_state(&x->project, &x->arena, doc);
}

static void
add_time(struct reviewing *x, const struct json *doc, const char *key)
{
    char text[CLOCK_ISO_SIZE];
    int64_t ms = 0;

    json_int(json_get(doc, key), &ms);
    clock_iso_ms(text, ms);
    buf_addf(&x->out, "%.10s %.8s", text, text + 11);
}

static void
add_safe(struct buf *to, const char *text, bool is_multiline)
{
    term_escape(to, text, strlen(text), is_multiline);
}

static const char *
names_of(struct reviewing *x, const struct json *doc)
{
    struct buf text = { 0 };
    const char *out = NULL;

    review_line_names(&x->arena, doc, &text);
    if (text.len && !buf_failed(&text))
        out = arena_dup(&x->arena, text.p, text.len);
    buf_release(&text);
    return out ? out : "";
}

/* The review of this project whose id begins so; where there is none, that of another project. */
static enum status
find(struct reviewing *x, const char *id, struct json **doc, struct err *e)
{
    struct state_dir other;
    struct err why;
    bool is_in_one = x->project.dir >= 0;
    enum status s = is_in_one ? review_find(&x->project, &x->arena, id, doc, e) : ST_NOT_FOUND;

    if (s != ST_NOT_FOUND)
        return s;
    enum status there = review_desk_find(&x->asker, id, &x->arena, &other, doc, &why);
    if (there) {
        state_dir_close(&other);
        if (is_in_one && there == ST_NOT_FOUND)
            return s; /* e has what this project says */
        err_say(e, "%s (--as NAME; cliq review --all)", why.text);
        return there;
    }
    state_dir_close(&x->project);
    x->project = other;
    return ST_OK;
}

/* ---- list ---- */

/* Of all projects, in which --as is a reviewer. */
static enum status
list_all(struct reviewing *x, struct err *e)
{
    static const char *const head[] = { "REVIEW", "GATE", "STATE", "SINCE", "ENDS", "PROJECT" };
    static const char *const keys[] = { "id", "gate", "state", "since", "until", "project" };
    struct table t = { .columns = 6 };
    struct json *docs;
    enum status s = review_desk_list(&x->asker, NULL, &x->arena, &docs, e);

    if (!s && args_has(x->args, "json")) {
        json_write(&x->out, docs);
        buf_addc(&x->out, '\n');
    }
    if (s || args_has(x->args, "json"))
        return s;
    for (size_t i = 0; i < 6; i++)
        table_cell(&t, head[i], strlen(head[i]));
    json_each (doc, docs)
        for (size_t i = 0; i < 6; i++) {
            const char *text = review_text(&x->arena, doc, keys[i]);
            table_cell(&t, text, strlen(text));
        }
    if (json_first(docs))
        table_write(&t, &x->out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) - 1 : 0,
                    term_has_color(STDOUT_FILENO));
    else
        buf_addf(&x->out, "no review is for %s in a project that the hub knows (--as NAME)\n",
                 x->asker.identity);
    table_release(&t);
    return ST_OK;
}

static void
add_row(struct reviewing *x, struct table *t, const struct json *doc)
{
    const char *cells[] = { review_text(&x->arena, doc, "id"), review_text(&x->arena, doc, "gate"),
                            state_of(x, doc), names_of(x, doc) };
    int64_t created = 0, expires = 0;
    char text[CLOCK_ISO_SIZE];

    for (size_t i = 0; i < 4; i++)
        table_cell(t, cells[i], strlen(cells[i]));
    json_int(json_get(doc, "created_ms"), &created);
    json_int(json_get(doc, "expires_ms"), &expires);
    int64_t now = clock_wall_ns() / 1000000;
    clock_near(text, created, now);
    table_cell(t, text, strlen(text));
    if (strcmp(cells[2], "open") == 0)
        clock_near(text, expires, now);
    else
        *text = '\0';
    table_cell(t, text, strlen(text));
}

static enum status
list(struct reviewing *x, struct err *e)
{
    static const char *const head[] = { "REVIEW", "GATE", "STATE", "REVIEWERS", "SINCE", "ENDS" };
    struct table t = { .columns = 6 };
    struct json *docs;
    enum status s = review_list(&x->project, &x->arena, &docs, e);

    if (s)
        return s;
    if (args_has(x->args, "json")) {
        json_write(&x->out, docs);
        buf_addc(&x->out, '\n');
        return ST_OK;
    }
    for (size_t i = 0; i < 6; i++)
        table_cell(&t, head[i], strlen(head[i]));
    json_each (doc, docs)
        add_row(x, &t, doc);
    if (json_first(docs))
        table_write(&t, &x->out, term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) - 1 : 0,
                    term_has_color(STDOUT_FILENO));
    else
        buf_adds(&x->out, "no review waits here\n");
    table_release(&t);
    return ST_OK;
}

/* ---- show ---- */

static void
show_artifacts(struct reviewing *x, const struct json *doc)
{
    int64_t n = 0;

    if (json_first(json_get(doc, "artifacts")))
        buf_addf(&x->out, "\nArtifacts, as they were: %s/reviews/%s/files/\n", x->project.state_dir,
                 review_text(&x->arena, doc, "id"));
    json_each (v, json_get(doc, "artifacts")) {
        const char *change = review_text(&x->arena, v, "change");
        const char *says = !json_get(v, "sha256") ? "not copied, too large"
                           : *change == 'c'       ? "changed since"
                           : *change              ? "gone since"
                                                  : "";
        json_int(json_get(v, "size"), &n);
        buf_adds(&x->out, "  ");
        add_safe(&x->out, review_text(&x->arena, v, "path"), false);
        buf_addf(&x->out, "  %" PRId64 " bytes%s%s%s\n", n, *says ? "  (" : "", says,
                 *says ? ")" : "");
    }
    if (json_int(json_get(doc, "left_out"), &n))
        buf_addf(&x->out, "  and %" PRId64 " more, which were not copied\n", n);
    json_each (v, json_get(doc, "unmatched")) {
        const char *pattern = json_dup_text(&x->arena, v);
        buf_adds(&x->out, "  no file matches ");
        add_safe(&x->out, pattern ? pattern : "", false);
        buf_addc(&x->out, '\n');
    }
}

static void
show_checks(struct reviewing *x, const struct json *doc)
{
    const struct json *checks = json_get(doc, "checks");

    if (json_first(checks))
        buf_adds(&x->out, "\nChecks:\n");
    json_each (v, checks) {
        bool is_pass = json_is(json_get(v, "pass"), JSON_TRUE);
        buf_addf(&x->out, "  [%c] ", is_pass ? 'x' : ' ');
        add_safe(&x->out, review_text(&x->arena, v, "name"), false);
        buf_adds(&x->out, is_pass ? "\n" : ": failed\n");
        if (!is_pass)
            add_safe(&x->out, review_text(&x->arena, v, "output"), true);
    }
}

static void
show_handoffs(struct reviewing *x, const struct json *doc)
{
    json_each (v, json_get(doc, "handoffs")) {
        const char *text = review_text(&x->arena, v, "text");
        buf_addf(&x->out, "\nFrom %s:\n", review_text(&x->arena, v, "from"));
        add_safe(&x->out, text, true);
        if (*text)
            buf_addc(&x->out, '\n');
        if (json_get(v, "data") && !json_is(json_get(v, "data"), JSON_NULL)) {
            json_write_pretty(&x->out, json_get(v, "data"), 0);
            buf_addc(&x->out, '\n');
        }
    }
}

static void
show_answers(struct reviewing *x, const struct json *doc)
{
    if (json_first(json_get(doc, "answers")))
        buf_adds(&x->out, "\nAnswers:\n");
    json_each (v, json_get(doc, "answers")) {
        const char *to = review_text(&x->arena, v, "to"), *text = review_text(&x->arena, v, "text");
        buf_addf(&x->out, "  %s: %s%s%s%s", review_text(&x->arena, v, "by"),
                 review_text(&x->arena, v, "verdict"), *to ? " to " : "", to, *text ? ": " : "");
        add_safe(&x->out, text, true);
        buf_addc(&x->out, '\n');
    }
}

static void
show_next(struct reviewing *x, const struct json *doc)
{
    const char *id = review_text(&x->arena, doc, "id");

    if (strcmp(state_of(x, doc), "open") != 0)
        return;
    buf_addf(&x->out, "\nNext: cliq review approve %s", id);
    if (json_first(json_get(doc, "route_targets")))
        buf_addf(&x->out, " | changes %s -m TEXT", id);
    buf_addf(&x->out, " | reject %s -m TEXT\n", id);
}

static void
show_diff(struct reviewing *x, const struct json *doc)
{
    const struct json *diff = json_get(doc, "diff");
    int64_t n = 0;

    if (!json_int(json_get(diff, "size"), &n))
        return;
    buf_addf(&x->out, "\nChanges since %.12s: %" PRId64 " bytes%s: cliq review show --diff %s\n",
             review_text(&x->arena, diff, "since"), n,
             json_is(json_get(diff, "is_cut"), JSON_TRUE) ? ", cut" : "",
             review_text(&x->arena, doc, "id"));
}

static enum status
print_diff(struct reviewing *x, const struct json *doc, struct err *e)
{
    struct buf text = { 0 };
    enum status s = review_desk_read(&x->project, &x->arena, doc, NULL, &text, e);

    if (!s && text.p)
        term_is_tty(STDOUT_FILENO) ? term_escape(&x->out, text.p, text.len, true)
                                   : buf_add(&x->out, text.p, text.len);
    buf_release(&text);
    return s;
}

static enum status
show(struct reviewing *x, const char *id, struct err *e)
{
    struct json *doc;
    int64_t n = 0, m = 0;
    enum status s = find(x, id, &doc, e);

    if (s)
        return s;
    if (args_has(x->args, "diff"))
        return print_diff(x, doc, e);
    review_desk_compare(&x->project, &x->arena, doc);
    if (args_has(x->args, "json")) {
        json_write(&x->out, doc);
        buf_addc(&x->out, '\n');
        return ST_OK;
    }
    json_int(json_get(doc, "iteration"), &n);
    json_int(json_get(doc, "max_iterations"), &m);
    buf_addf(&x->out, "%s  %s\nGate %s, iteration %" PRId64 " of %" PRId64 "; reviewers: %s%s\n",
             review_text(&x->arena, doc, "id"), state_of(x, doc),
             review_text(&x->arena, doc, "gate"), n, m, names_of(x, doc),
             json_eq(json_get(doc, "require"), "all") ? " (all of them)" : "");
    buf_adds(&x->out, "Since ");
    add_time(x, doc, "created_ms");
    buf_adds(&x->out, ", until ");
    add_time(x, doc, "expires_ms");
    buf_adds(&x->out, " UTC\n");
    show_checks(x, doc);
    show_handoffs(x, doc);
    show_artifacts(x, doc);
    show_diff(x, doc);
    show_answers(x, doc);
    show_next(x, doc);
    return ST_OK;
}

/* ---- answers ---- */

static enum status
read_text(struct reviewing *x, enum review_verdict verdict, struct buf *to, struct err *e)
{
    const char *given = args_text(x->args, "message");

    if (!given)
        return verdict == REVIEW_APPROVE
                   ? ST_OK
                   : err_set(e, ST_INVALID, "say why: cliq review %s %s -m TEXT",
                             review_verdict_name(verdict), x->args->words[1]);
    return sdk_text_arg(given, "the text", to, e);
}

static void
tell_next(struct reviewing *x, const struct json *doc, enum review_next next)
{
    static const char *const says[] = {
        [REVIEW_NEXT_OTHERS] = "The other reviewers have to answer, too.\n",
        [REVIEW_NEXT_RUNS] = "",
        [REVIEW_NEXT_STARTED] = "The run slept, and goes on: cliq status\n",
        [REVIEW_NEXT_RESUME] =
            "No orchestrator runs; the answer is kept. Next: cliq run --resume\n",
    };

    if (args_has(x->args, "json"))
        json_write(&x->out, doc);
    else
        buf_addf(&x->out, "%s  %s\n%s", review_text(&x->arena, doc, "id"),
                 review_text(&x->arena, doc, "state"), says[next]);
    if (args_has(x->args, "json"))
        buf_addc(&x->out, '\n');
}

static enum status
answer(struct reviewing *x, const char *prefix, enum review_verdict verdict, struct err *e)
{
    struct review_answer given = { .by = x->asker.identity,
                                   .verdict = verdict,
                                   .to = args_text(x->args, "to") };
    enum review_next next = REVIEW_NEXT_RUNS;
    struct buf text = { 0 };
    struct json *doc;
    enum status s = find(x, prefix, &doc, e);

    if (!s)
        s = read_text(x, verdict, &text, e);
    given.text = text.len ? text.p : NULL;
    if (!s)
        s = review_desk_answer(&x->project, NULL, &x->arena, review_text(&x->arena, doc, "id"),
                               &given, &doc, &next, e);
    if (!s)
        tell_next(x, doc, next);
    buf_release(&text);
    return s;
}

/* ---- the command ---- */

static enum status
dispatch(struct reviewing *x, struct err *e)
{
    const char *what = x->args->n_words ? x->args->words[0] : "list";
    enum review_verdict verdict = review_verdict_of(what);
    bool is_list = strcmp(what, "list") == 0, is_show = strcmp(what, "show") == 0;
    struct suggest near = { .word = what };

    suggest_try(&near, "list");
    suggest_try(&near, "show");
    for (int i = REVIEW_APPROVE; i < REVIEW_VERDICTS; i++)
        suggest_try(&near, review_verdict_name((enum review_verdict)i));
    if (!is_list && !is_show && !verdict)
        return err_set(e, ST_INVALID,
                       "unknown action \"%.40s\"%s%s%s: list, show, approve, changes or reject",
                       what, near.best ? " (did you mean " : "", near.best ? near.best : "",
                       near.best ? "?)" : "");
    if (is_list && x->args->n_words > 1)
        return err_set(e, ST_INVALID, "cliq review list takes no ID");
    if (is_list)
        return args_has(x->args, "all") ? list_all(x, e) : list(x, e);
    if (x->args->n_words < 2)
        return err_set(e, ST_INVALID, "which one? cliq review %s ID; cliq review list shows them",
                       what);
    return is_show ? show(x, x->args->words[1], e) : answer(x, x->args->words[1], verdict, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct reviewing x = { .args = a, .project.dir = -1 };
    struct hubclient who = { 0 };
    struct hubclient_options o = { .identity = args_text(a, "as"), .says = "--as NAME", .url = "" };
    bool is_local = !args_has(a, "all") && (!a->n_words || strcmp(a->words[0], "list") == 0);
    enum status s = hubclient_open(&who, &o, e);
    struct err why;

    x.asker = (struct review_asker){ .identity = who.identity };
    if (!s && state_dir_find(&x.project, &why) != ST_OK) {
        x.project.dir = -1;
        s = is_local ? err_set(e, ST_NOT_FOUND, "%s; cliq review --all lists those of all projects",
                               why.text)
                     : ST_OK;
    }
    if (!s)
        s = dispatch(&x, e);
    if (!s)
        s = cmd_print(&x.out, e);
    if (!s)
        sleeping_alarm_start(NULL); /* where it was killed */
    hubclient_close(&who);
    buf_release(&x.out);
    arena_release(&x.arena);
    state_dir_close(&x.project);
    return s;
}

const struct cmd cmd_review = {
    .name = "review",
    .words = "[list|show|approve|changes|reject] [ID]",
    .max_words = 2,
    .brief = "answer the gates that people decide",
    .about =
        "A gate with the agent hug waits for its reviewers. cliq review lists the reviews of the\n"
        "present run; show prints one with its checks, handoffs, artifacts and answers, and names\n"
        "artifacts that changed after it was made. An id may be shortened to its begin. With its\n"
        "whole id a review of another project is found, too, from any directory; --all lists "
        "them.\n"
        "\n"
        "approve passes the gate. changes sends the work back to --to, or to the first phase that\n"
        "the gate can route to. reject ends the run: it escalates. changes and reject say why "
        "with\n"
        "-m. Only a reviewer may answer (else exit code 7), and only once (else 5). An answer is\n"
        "on disk before the command succeeds. A run in the background that awaits only people "
        "sleeps,\n"
        "without a process: an answer starts it again. Where cliq run died, cliq run --resume "
        "takes\n"
        "the answer up.",
    .examples = "cliq review\n"
                "cliq review --all --as elan\n"
                "cliq review show accept-1\n"
                "cliq review approve accept-1 --as elan -m \"well done\"\n"
                "cliq review changes accept-1 --to build -m \"the title is wrong\"",
    .opts = opts,
    .run = run,
};
