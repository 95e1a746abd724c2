/*
 * validate_template - checks the texts of a phase: do the variables in them exist, can those in
 * commands be quoted, do role files exist.
 *
 * $(handoff.x.…) reads the handoff of x on its way to this phase (run/phase_scope.h), so x must be
 * a predecessor, direct or further up. A support phase gets its handoffs from gates.
 */
#include "base/path.h"
#include "base/utf8.h"
#include "team/template.h"
#include "team/validate.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    ROLE_MAX = 1 << 20,
    ROLE_SHORT = 50, /* characters; a shorter role cannot say what to do */
};

/* ---- one use ---- */

static void
check_input_use(struct check *c, const char *name, struct problem_at at)
{
    size_t i = name_index_find(&c->inputs, name);
    struct suggest near = { .word = name };

    if (i != SIZE_MAX) {
        c->is_used[i] = true;
        return;
    }
    for (size_t k = 0; check_may_guess(c) && k < c->team->n_inputs; k++)
        if (c->team->inputs[k].name)
            suggest_try(&near, c->team->inputs[k].name);
    problem_error(c->problems, at, "$(inputs.%.80s): there is no such input%s", name,
                  check_hint(c, &near));
}

/* Checks the path after the phase's name, which is n bytes long. */
static void
check_path(struct check *c, const char *rest, size_t n, struct problem_at at)
{
    size_t len = strlen(rest);

    if (rest[n] != '.' || n + 1 == len) {
        problem_error(c->problems, at,
                      "$(handoff.%.80s): say what of the handoff, as in $(handoff.%.*s.text)", rest,
                      (int)n, rest);
    } else if (rest[len - 1] == '.') {
        problem_error(c->problems, at, "$(handoff.%.80s) ends in a dot: a name must follow", rest);
    }
    /* a key of data may look like this, so it is a warning */
    for (const char *p = rest + n; (p = strchr(p, '[')); p++) {
        size_t digits = strspn(p + 1, "0123456789");
        if (!digits || p[1 + digits] != ']') {
            problem_warn(c->problems, at,
                         "$(handoff.%.80s): lists are counted from 0, as in [0]; keys follow a dot",
                         rest);
            break;
        }
    }
}

/* Is phase i a predecessor of p, directly or through others? The direct ones are in dep_of. */
static bool
is_before(struct check *c, size_t i, const struct phase *p)
{
    const struct team *t = c->team;
    size_t me = (size_t)(p - t->phases), depth = 0;

    if (c->dep_of[i] == me + 1)
        return true;
    bool *is_met = arena_alloc(&c->arena, t->n_phases * sizeof *is_met);
    size_t *stack = arena_alloc(&c->arena, t->n_phases * sizeof *stack);
    if (!is_met || !stack) {
        c->is_starved = true;
        return true;
    }
    memset(is_met, 0, t->n_phases * sizeof *is_met);
    stack[depth++] = me;
    while (depth > 0 && !is_met[i]) {
        const struct phase *at = &t->phases[stack[--depth]];
        for (size_t k = 0; at->deps && k < at->n_depends_on; k++) {
            if (at->deps[k] == SIZE_MAX || is_met[at->deps[k]])
                continue;
            is_met[at->deps[k]] = true;
            stack[depth++] = at->deps[k];
        }
    }
    return is_met[i] && i != me;
}

static void
check_handoff_use(struct check *c, const struct phase *p, const char *rest, struct problem_at at)
{
    char name[TEAM_PHASE_NAME_MAX + 2];
    size_t n = strcspn(rest, ".[");
    struct suggest near = { .word = name };

    if (n >= sizeof name)
        n = sizeof name - 1; /* longer than any phase name */
    memcpy(name, rest, n);
    name[n] = '\0';
    size_t i = name_index_find(&c->phases, name);
    if (i == SIZE_MAX) {
        for (size_t k = 0; check_may_guess(c) && k < c->team->n_phases; k++)
            if (c->team->phases[k].name)
                suggest_try(&near, c->team->phases[k].name);
        problem_error(c->problems, at, "$(handoff.%.80s): there is no phase \"%s\"%s", rest, name,
                      check_hint(c, &near));
    } else if (p->is_support) {
        if (c->team->phases[i].type != PHASE_GATE)
            problem_error(
                c->problems, at,
                "$(handoff.%.80s): a support phase only gets handoffs from gates, and \"%s\" is "
                "none",
                rest, name);
        else
            check_path(c, rest, n, at);
    } else if (!is_before(c, i, p)) {
        problem_error(c->problems, at,
                      "$(handoff.%.80s): \"%s\" is not a predecessor: add it to depends_on", rest,
                      name);
    } else {
        check_path(c, rest, n, at);
    }
}

static void
check_use(struct check *c, const struct phase *p, const char *name, struct problem_at at)
{
    if (strncmp(name, "inputs.", 7) == 0)
        check_input_use(c, name + 7, at);
    else if (strncmp(name, "handoff.", 8) == 0)
        check_handoff_use(c, p, name + 8, at);
    else if (strncmp(name, "dirs.", 5) == 0) {
        for (const struct field *v = template_variables; v->key; v++)
            if (strcmp(name, v->key) == 0)
                return;
        problem_error(c->problems, at,
                      "$(%.80s): there are dirs.project, dirs.work, dirs.state and dirs.files",
                      name);
    }
}

/* "$(inputs.who )": suggests the name without the characters that a name cannot have. */
static void
tell_bad(struct check *c, const char *name, struct problem_at at)
{
    size_t n = strcspn(name, " \t\r\n$(`'\"\\;|&<>{}");
    const char *group = strchr(name, '.');

    if (group && n > (size_t)(group + 1 - name))
        problem_error(c->problems, at, "$(%.80s is not a template variable: write $(%.*s)", name,
                      (int)(n < 80 ? n : 80), name);
    else
        problem_error(c->problems, at,
                      "$(%.80s is not a template variable: a name must follow the dot", name);
}

/* ---- texts ---- */

/* Where no shell reads the text, a misspelt variable cannot be a command. */
static void
tell_miss(struct check *c, const struct template_miss *m, bool is_shell, struct problem_at at)
{
    const char *close = m->is_open ? "" : ")";

    if (m->meant && strcmp(m->meant, m->name) == 0)
        (is_shell ? problem_warn : problem_error)(
            c->problems, at, "$(%.80s is not closed: write $(%.80s)", m->name, m->meant);
    else if (is_shell)
        problem_warn(c->problems, at,
                     "$(%.80s%s is no variable, so the shell will run a command of that name (did "
                     "you mean $(%.80s)?)",
                     m->name, close, m->meant);
    else if (m->meant)
        problem_error(c->problems, at,
                      "$(%.80s%s: there is no such variable (did you mean $(%.80s)?)", m->name,
                      close, m->meant);
    else
        problem_warn(c->problems, at,
                     "$(%.80s) is no variable and no shell reads it here: it stays as it is",
                     m->name);
}

static void
check_misses(struct check *c, const char *text, bool is_shell, struct problem_at at)
{
    size_t n;
    const struct template_miss *misses = template_misses(&c->arena, text, is_shell, &n);

    for (size_t i = 0; misses && i < n; i++)
        tell_miss(c, &misses[i], is_shell, at);
}

static void
check_text(struct check *c, const struct phase *p, const char *text, bool is_shell,
           struct problem_at at)
{
    size_t n;
    const struct template_use *uses = template_uses(&c->arena, text, &n);

    for (size_t i = 0; uses && i < n; i++) {
        if (!uses[i].is_bad)
            check_use(c, p, uses[i].name, at);
        else if (!is_shell) /* template_check_shell reports it */
            tell_bad(c, uses[i].name, at);
    }
    check_misses(c, text, is_shell, at);
}

/* Checks every text in v; keys are not expanded. The recursion is as deep as YAML may be nested. */
void
check_tree(struct check *c, const struct phase *p, const char *field, const struct yaml *v)
{
    if (v && v->type == YAML_SCALAR)
        check_text(c, p, v->text, false, check_at_node(c, p, field, v));
    yaml_each (m, v)
        check_tree(c, p, field, m);
}

static void
check_command_texts(struct check *c, const struct phase *p)
{
    for (size_t i = 0; i < p->n_commands; i++) {
        const struct command *cmd = &p->commands[i];
        struct problem_at at = check_at_place(c, p, "commands", cmd->line, cmd->column);
        const char *warning = NULL;
        struct err e = { "" };
        if (!cmd->run)
            continue;
        check_text(c, p, cmd->run, true, at);
        if (template_check_shell(cmd->run, &warning, &e))
            problem_error(c->problems, at, "%s", e.text);
        else if (warning)
            problem_warn(c->problems, at, "%s", warning);
    }
}

static void
check_when(struct check *c, const struct phase *p)
{
    const char *warning = NULL;
    struct err e = { "" };

    if (!p->when)
        return;
    if (template_check_when(p->when, &warning, &e))
        problem_error(c->problems, check_at(c, p, "when"), "%s", e.text);
    else if (warning)
        problem_warn(c->problems, check_at(c, p, "when"), "%s", warning);
}

/* Warns about variables in a field that is not expanded. */
static void
check_plain(struct check *c, const struct phase *p, const char *field, const struct yaml *v)
{
    size_t n = 0;

    if (v && v->type == YAML_SCALAR)
        template_uses(&c->arena, v->text, &n);
    if (n)
        problem_warn(c->problems, check_at_node(c, p, field, v), "$(...) is not expanded in %s",
                     field);
    yaml_each (m, v)
        check_plain(c, p, field, m);
}

static void
check_plain_texts(struct check *c, const struct phase *p)
{
    static const char *const fields[] = { "agent", "model", "role", "action", "team" };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_plain(c, p, fields[i], check_given(p->node, fields[i]));
}

/* ---- roles ---- */

/* Would this phase's role file be read? */
static bool
may_have_role(const struct check *c, const struct phase *p)
{
    enum agent_kind kind = check_kind(c, p);

    return p->role || p->type == PHASE_TEAM || agent_kind_asks_model(kind) ||
           kind == AGENT_CUSTOM || check_has_agent(c, p, "hug");
}

static bool
needs_role(const struct check *c, const struct phase *p)
{
    enum agent_kind kind = check_kind(c, p);

    return p->role || p->type == PHASE_TEAM || agent_kind_asks_model(kind);
}

/* The line and column of a byte. */
static void
locate(const char *text, size_t offset, struct problem_at *at)
{
    at->line = at->column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            at->line++;
            at->column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            at->column++;
        }
    }
}

static size_t
count_characters(const char *text, size_t len)
{
    size_t n = 0;

    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* An agent has the tools of its own program. A role that spells out calls of other tools makes a
 * model pretend to call them. */
static bool
invents_tools(const char *text)
{
    static const char *const marks[] = { "<tool_call", "<function_call", "<tool_use", "<invoke ",
                                         "[TOOL_CALL]" };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(text, marks[i]))
            return true;
    return false;
}

static void
check_role_text(struct check *c, const struct phase *p, const struct buf *text, const char *file)
{
    struct problem_at at = { file, 0, 0, p->name, "role" };
    const char *s = text->p ? text->p : "";
    size_t n, good = utf8_valid_len(s, text->len);

    if (good < text->len || strlen(s) < text->len) {
        locate(s, good < text->len ? good : strlen(s), &at);
        problem_error(c->problems, at, "the role is not plain UTF-8 text");
        return;
    }
    n = count_characters(s, text->len);
    if (n < ROLE_SHORT)
        problem_warn(c->problems, at, "the role has only %zu character%s: say what to do", n,
                     n == 1 ? "" : "s");
    if (invents_tools(s))
        problem_warn(c->problems, at,
                     "the role spells out tool calls: agents bring their own tools");
    const struct template_use *uses = template_uses(&c->arena, s, &n);
    for (size_t i = 0; uses && i < n; i++) {
        if (i < 100) /* locating it means reading all of the text before it */
            locate(s, uses[i].offset, &at);
        if (uses[i].is_bad)
            tell_bad(c, uses[i].name, at);
        else
            check_use(c, p, uses[i].name, at);
    }
    const struct template_miss *misses = template_misses(&c->arena, s, true, &n);
    for (size_t i = 0; misses && i < n; i++) {
        if (i < 100)
            locate(s, misses[i].offset, &at);
        problem_warn(c->problems, at,
                     "$(%.80s%s is no variable and stays as it is (did you mean $(%.80s)?)",
                     misses[i].name, misses[i].is_open ? "" : ")", misses[i].meant);
    }
}

/* "roles/STEM.md" relative to the team's file. */
static const char *
role_file(struct check *c, const char *stem, const char **shown)
{
    const char *file = c->team->file, *slash = strrchr(file, '/');
    size_t dir = slash ? (size_t)(slash + 1 - file) : 0, size = dir + strlen(stem) + 16;
    char *path = arena_alloc(&c->arena, size);

    if (!path) {
        c->is_starved = true;
        return NULL;
    }
    snprintf(path, size, "%.*sroles/%s.md", (int)dir, file, stem);
    *shown = path;
    return path + dir;
}

static bool
is_assembled(const struct check *c)
{
    const char *slash = strrchr(c->team->file, '/');

    return strcmp(slash ? slash + 1 : c->team->file, "workflow.yml") == 0;
}

static void
check_role(struct check *c, const struct phase *p)
{
    /* Assembling renames every role file after its phase. */
    const char *stem = p->role && !is_assembled(c) ? p->role : p->name;
    const char *shown, *path;
    struct buf text = BUF_MAX(ROLE_MAX);
    struct err e = { "" };

    if (!stem || !may_have_role(c, p))
        return;
    if (p->role && !path_is_name(p->role)) {
        problem_error(c->problems, check_at(c, p, "role"),
                      "bad role \"%.80s\": it names a file roles/ROLE.md", p->role);
        return;
    }
    if (c->dir < 0) {
        c->is_blind = true;
        return;
    }
    if (!path_is_name(stem) || !(path = role_file(c, stem, &shown)))
        return;
    enum status s = path_read_file(c->dir, path, &text, &e);
    if (!s)
        check_role_text(c, p, &text, shown);
    else if (s != ST_NOT_FOUND)
        problem_error(c->problems, check_at(c, p, "role"), "%s", e.text);
    else if (needs_role(c, p))
        problem_error(c->problems, check_at(c, p, "role"),
                      "no role file %s: it tells the agent what to do", shown);
    buf_release(&text);
}

void
check_texts(struct check *c, size_t phase)
{
    const struct phase *p = &c->team->phases[phase];

    for (size_t k = 0; k < p->n_depends_on; k++)
        if (p->deps && p->deps[k] != SIZE_MAX)
            c->dep_of[p->deps[k]] = phase + 1;
    for (const struct field *at = template_places; at->key; at++) /* commands and roles: below */
        check_tree(c, p, at->key, yaml_get(p->node, at->key));
    check_when(c, p);
    check_command_texts(c, p);
    check_plain_texts(c, p);
    check_role(c, p);
}
