/*
 * setup - the first start on a machine: which agents, their keys, a test of each, the default agent
 * and the completion of the shell. On a terminal it asks; elsewhere, and with --no-input, it does
 * what needs no answer and prints what is left.
 */
#include "base/ask.h"
#include "base/suggest.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/completion_file.h"
#include "cmd/lib/doctor_show.h"
#include "run/assemble.h"
#include "team/agent_list.h"
#include "team/runner.h"
#include "team/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHOSEN_MAX = 32 };

static const struct opt opts[] = {
    { "no-input", OPT_FLAG, NULL, "ask nothing: do what needs no answer, print what is left" },
    { "offline", OPT_FLAG, NULL, "do not let agents test their connections" },
    { 0 },
};

struct setup {
    struct arena arena;
    struct settings settings;
    struct agent_list list;
    bool is_asking, is_offline;
    const char *chosen[CHOSEN_MAX]; /* agents that the person uses, in that order */
    size_t n;
    struct buf left;   /* lines of what a person has still to do */
    const char *ready; /* the first one of them that passed its test; NULL: none */
};

static enum status
print(const struct buf *text, struct err *e)
{
    return text->len ? cmd_print(text, e) : ST_OK;
}

/* ---- which agents ---- */

/* The program of a built-in agent that is on PATH; NULL: none. */
static const char *
program_here(struct setup *u, const struct builtin *b)
{
    for (const char *at = b->binaries; at && *at;) {
        size_t n = strcspn(at, "|");
        const char *one = arena_dup(&u->arena, at, n);
        if (one && runner_has(one))
            return one;
        at += n + (at[n] == '|');
    }
    return NULL;
}

static void
choose(struct setup *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->chosen[i], name) == 0)
            return;
    if (u->n < CHOSEN_MAX)
        u->chosen[u->n++] = name;
}

/* Lists the agents that drive a program, and chooses those whose program is here. */
static enum status
show_agents(struct setup *u, struct err *e)
{
    struct buf out = { 0 };

    buf_adds(&out, "Agents that drive a program:\n");
    for (const struct builtin *b = builtins; b->name; b++) {
        const char *program = b->kind == AGENT_CLI ? program_here(u, b) : NULL;
        if (b->kind != AGENT_CLI || !b->is_here)
            continue;
        if (program)
            buf_addf(&out, "  %-14s %s is on PATH\n", b->name, program);
        else
            buf_addf(&out, "  %-14s not here%s%s\n", b->name, b->install ? ": " : "",
                     b->install ? b->install : "");
        if (program)
            choose(u, b->name);
    }
    buf_adds(&out, "Agents that ask a model over HTTP: ");
    const char *comma = "";
    for (const struct builtin *b = builtins; b->name; b++)
        if (b->kind == AGENT_LLM && b->is_here) {
            buf_addf(&out, "%s%s", comma, b->name);
            comma = ", ";
        }
    buf_adds(&out, "\nAll there are: cliq team info --agents\n");
    enum status s = print(&out, e);
    buf_release(&out);
    return s;
}

/* Takes the names of an answer. False, with a sentence, when one of them is no agent. */
static bool
take_names(struct setup *u, char *answer, struct err *e)
{
    u->n = 0;
    for (char *name = strtok(answer, " ,\t"); name; name = strtok(NULL, " ,\t")) {
        struct suggest near = { .word = name };
        if (strcmp(name, "none") == 0)
            continue;
        if (!agent_list_find(&u->list, name)) {
            agent_list_suggest(&u->list, &near);
            err_say(e, "There is no agent %s%s%s%s.\n", name, near.best ? " (did you mean " : "",
                    near.best ? near.best : "", near.best ? "?)" : "");
            return false;
        }
        const char *kept = arena_dup(&u->arena, name, strlen(name));
        if (kept)
            choose(u, kept);
    }
    return true;
}

static enum status
ask_agents(struct setup *u, struct err *e)
{
    struct buf question = { 0 }, answer = { 0 };
    enum status s;

    buf_adds(&question, "\nWhich of them do you use? [");
    for (size_t i = 0; i < u->n; i++)
        buf_addf(&question, "%s%s", i ? " " : "", u->chosen[i]);
    buf_adds(&question, u->n ? "] " : "none] ");
    s = buf_status(&question, "the question", e);
    while (!s && !(s = ask_line(question.p, &answer, e))) {
        struct err why;
        if (!answer.len || take_names(u, answer.p, &why))
            break;
        fputs(why.text, stderr);
    }
    buf_release(&question);
    buf_release(&answer);
    return s;
}

/* ---- their settings ---- */

static bool
is_set(const struct setup *u, const char *agent, const char *key)
{
    const struct json *v = json_get(json_get(json_get(u->settings.merged, "agents"), agent), key);

    return v && !json_is(v, JSON_NULL) && !(json_is(v, JSON_STRING) && !v->text.len);
}

/* Asks for agents.<agent>.<key> and keeps it; an empty answer leaves it as it is. */
static enum status
ask_setting(struct setup *u, const char *agent, const char *key, bool is_required, struct err *e)
{
    struct buf path = { 0 }, question = { 0 }, answer = { 0 };

    buf_addf(&path, "agents.%s.%s", agent, key);
    enum status s = buf_status(&path, "the key", e);
    bool is_secret = !s && settings_is_secret(path.p);
    if (!s) {
        buf_addf(&question, "%s of %s%s: ", key, agent,
                 is_set(u, agent, key) ? " (Enter keeps what is set)"
                 : is_required         ? ""
                                       : " (Enter: none; its own sign-in or variable)");
        s = buf_status(&question, "the question", e);
    }
    if (!s)
        s = (is_secret ? ask_secret : ask_line)(question.p, &answer, e);
    if (!s && answer.len)
        s = settings_set(NULL, true, path.p, answer.p, e);
    buf_release(&path);
    buf_release(&question);
    buf_release(&answer);
    return s;
}

static enum status
ask_settings(struct setup *u, const char *agent, struct err *e)
{
    const struct agent_list_agent *one = agent_list_find(&u->list, agent);
    enum status s = ST_OK;

    json_each (v, json_path(one ? one->manifest : NULL, "settings.required")) {
        const char *key =
            json_dup_text(&u->arena, json_is(v, JSON_OBJECT) ? json_get(v, "key") : v);
        if (!s && key)
            s = ask_setting(u, agent, key, true, e);
    }
    json_each (v, json_path(one ? one->manifest : NULL, "settings.optional"))
        if (!s && json_eq(json_is(v, JSON_OBJECT) ? json_get(v, "key") : v, "api_key"))
            s = ask_setting(u, agent, "api_key", false, e);
    return s;
}

/* ---- tests ---- */

/* Can it do what a phase that names no agent wants? */
static bool
may_be_default(const struct setup *u, const char *agent)
{
    const struct agent_list_agent *one = agent_list_find(&u->list, agent);

    return one && (agent_kind_asks_model(one->kind) || one->kind == AGENT_CUSTOM);
}

static enum status
test_agent(struct setup *u, const char *agent, struct err *e)
{
    struct doctor d = { 0 };
    struct buf out = { 0 };
    enum status s =
        doctor_open(&d, &(struct doctor_options){ .agent = agent, .is_offline = u->is_offline }, e);

    if (!s)
        s = doctor_examine(&d, e);
    for (const struct doctor_finding *f = d.first; f; f = f->next)
        doctor_show(&out, f, term_has_color(STDOUT_FILENO));
    if (!s && !d.errors && !u->ready && may_be_default(u, agent))
        u->ready = agent;
    if (!s)
        s = print(&out, e);
    doctor_release(&d);
    buf_release(&out);
    return s;
}

/* ---- the default agent ---- */

static enum status
set_default(const char *agent, struct err *e)
{
    struct buf out = { 0 };
    enum status s = settings_set(NULL, true, "default_agent", agent, e);

    buf_addf(&out, "The default agent is %s.\n", agent);
    if (!s)
        s = print(&out, e);
    buf_release(&out);
    return s;
}

static enum status
ask_default(struct setup *u, const char *present, struct err *e)
{
    const char *offer = u->ready ? u->ready : present;
    struct buf question = { 0 }, answer = { 0 };
    enum status s;

    buf_addf(&question, "\nDefault agent, for phases that name none [%s] ", offer ? offer : "none");
    s = buf_status(&question, "the question", e);
    while (!s && !(s = ask_line(question.p, &answer, e))) {
        if (!answer.len || agent_list_find(&u->list, answer.p))
            break;
        fprintf(stderr, "There is no agent of that name.\n");
    }
    const char *chosen = !s && answer.len ? answer.p : offer;
    if (!s && chosen && (!present || strcmp(present, chosen) != 0))
        s = set_default(chosen, e);
    buf_release(&question);
    buf_release(&answer);
    return s;
}

static enum status
settle_default(struct setup *u, struct err *e)
{
    const char *present = settings_text(&u->settings, "default_agent");

    if (u->is_asking)
        return ask_default(u, present, e);
    return !present && u->n == 1 ? set_default(u->chosen[0], e) : ST_OK;
}

/* ---- completion ---- */

static enum status
settle_completion(struct setup *u, struct err *e)
{
    struct completion_file file = { 0 };
    struct buf question = { 0 }, out = { 0 };
    bool is_yes = false;
    enum status s = ST_OK;

    if (!completion_file_find(&file)) {
        if (file.shell)
            buf_addf(&u->left, "  echo 'source <(cliq completion %s)' >> ~/.%src\n", file.shell,
                     file.shell);
        completion_file_release(&file);
        return ST_OK;
    }
    buf_addf(&question, "\nComplete commands in %s, with %s? [Y/n] ", file.shell, file.path.p);
    if (u->is_asking && !file.is_there && !(s = buf_status(&question, "the question", e)))
        s = ask_yes(question.p, &is_yes, e);
    if (is_yes && !s && !(s = completion_file_write(&file, e)))
        buf_addf(&out, "Wrote %s; a new shell knows it.\n", file.path.p);
    else if (!s && !file.is_there)
        buf_addf(&u->left, "  cliq completion %s > %s\n", file.shell, file.path.p);
    if (!s)
        s = print(&out, e);
    completion_file_release(&file);
    buf_release(&question);
    buf_release(&out);
    return s;
}

/* ---- what is left ---- */

static enum status
tell_rest(struct setup *u, struct err *e)
{
    struct buf out = { 0 };

    if (!u->is_asking || u->left.len)
        buf_adds(&out, "\nLeft for you:\n");
    if (!u->is_asking) {
        for (size_t i = 0; i < u->n; i++)
            buf_addf(&out,
                     "  cliq doctor agent %-14s tests it; a key: cliq settings agents.%s.api_key - "
                     "--global\n",
                     u->chosen[i], u->chosen[i]);
        if (!settings_text(&u->settings, "default_agent") && u->n != 1)
            buf_adds(&out, "  cliq settings default_agent NAME --global\n");
    }
    buf_add(&out, u->left.p, u->left.len);
    buf_adds(&out, u->is_asking ? "\nNext: cliq help tutorial (ten steps), or cliq init\n"
                                : "  cliq doctor, cliq help tutorial, cliq init\n");
    enum status s = print(&out, e);
    buf_release(&out);
    return s;
}

/* ---- the command ---- */

static enum status
set_up(struct setup *u, struct err *e)
{
    enum status s = assemble_config(e);

    if (!s)
        s = settings_load(&u->settings, NULL, e);
    if (!s)
        s = agent_list_make(&u->list, &u->arena,
                            &(struct agent_list_places){ .settings = &u->settings }, e);
    if (!s)
        s = show_agents(u, e);
    if (!s && u->is_asking)
        s = ask_agents(u, e);
    for (size_t i = 0; !s && u->is_asking && i < u->n; i++) {
        s = ask_settings(u, u->chosen[i], e);
        if (!s)
            s = test_agent(u, u->chosen[i], e);
    }
    if (!s)
        s = settle_default(u, e);
    if (!s)
        s = settle_completion(u, e);
    return s ? s : tell_rest(u, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct setup u = { .is_asking = !args_has(a, "no-input") && ask_is_possible(),
                       .is_offline = args_has(a, "offline") };
    enum status s = set_up(&u, e);

    settings_release(&u.settings);
    buf_release(&u.left);
    arena_release(&u.arena);
    return s;
}

const struct cmd cmd_setup = {
    .name = "setup",
    .brief = "set up agents, keys and completion for you on this machine",
    .about =
        "Finds the agents whose programs are on PATH, asks which of them you use, takes their "
        "keys\n"
        "(hidden while you type; kept in ~/.cliqrc/settings.json, which only you can read), tests\n"
        "each of them, and asks for the default agent and the completion of your shell. Enter "
        "takes\n"
        "what stands in brackets; it can be run again at any time, and what is set stays.\n"
        "\n"
        "Without a terminal, or with --no-input, it asks nothing: it makes your directory, sets "
        "the\n"
        "default agent when exactly one is here and none is set, and prints what is left.",
    .examples = "cliq setup\n"
                "cliq setup --no-input",
    .opts = opts,
    .run = run,
};
