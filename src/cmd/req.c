/* req - what the team shall do. */
#include "base/path.h"
#include "base/term.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "message", OPT_TEXT, "TEXT", "the requirement", .letter = 'm' },
    { "file", OPT_TEXT, "FILE", "a file with the requirement; - reads standard input",
      .letter = 'f' },
    { "key", OPT_TEXT, "KEY", "the requirement's key, such as a ticket" },
    { "input", OPT_TEXT, "NAME=VALUE", "the value of an input of the team; may be repeated",
      .is_many = true },
    { 0 },
};

enum { REQ_MAX = 4 << 20 };

/* Agents and JSON need UTF-8: refused here, where the person who can correct it is present. */
static enum status
check_utf8(const char *what, const char *p, size_t n, struct err *e)
{
    size_t good = utf8_valid_len(p, n), line = 1, column = 1;

    if (good == n)
        return ST_OK;
    for (size_t i = 0; i < good; i += utf8_char(p + i, good - i)) {
        column = p[i] == '\n' ? 1 : column + 1;
        line += p[i] == '\n';
    }
    return err_set(e, ST_INVALID, "%s:%zu:%zu: not UTF-8 text: byte %zu is 0x%02x", what, line,
                   column, good + 1, (unsigned char)p[good]);
}

/* The value given on the command line, or NULL. */
static const char *
given(const struct args *a, const char *name)
{
    size_t n, len = strlen(name);
    const char *const *v = args_many(a, "input", &n);

    for (size_t i = n; i > 0; i--)
        if (strncmp(v[i - 1], name, len) == 0 && v[i - 1][len] == '=')
            return v[i - 1] + len + 1;
    return NULL;
}

static enum status
no_input(const struct team *t, const char *name, size_t len, struct err *e)
{
    struct buf all = { 0 };

    for (size_t i = 0; i < t->n_inputs; i++)
        buf_addf(&all, "%s%s", i ? ", " : "; it has ", t->inputs[i].name);
    enum status s = err_set(e, ST_INVALID, "the team has no input \"%.*s\"%s", (int)len, name,
                            all.p ? all.p : " and needs none");
    buf_release(&all);
    return s;
}

static enum status
check_given(const struct args *a, const struct team *t, struct err *e)
{
    size_t n;
    const char *const *v = args_many(a, "input", &n);

    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(v[i], "=");
        bool is_declared = false;
        if (v[i][len] != '=')
            return err_set(e, ST_INVALID, "--input needs NAME=VALUE, not \"%s\"", v[i]);
        for (size_t k = 0; k < t->n_inputs; k++)
            is_declared = is_declared || (strlen(t->inputs[k].name) == len &&
                                          memcmp(t->inputs[k].name, v[i], len) == 0);
        if (!is_declared)
            return no_input(t, v[i], len, e);
        enum status s = check_utf8("--input", v[i], strlen(v[i]), e);
        if (s)
            return s;
    }
    return ST_OK;
}

/* Asks on the terminal. NULL at its end. */
static char *
ask(const struct team_input *in)
{
    char *line = NULL;
    size_t cap = 0;

    fprintf(stderr, "%s%s%s: ", in->name, in->description ? " - " : "",
            in->description ? in->description : "");
    ssize_t n = getline(&line, &cap, stdin);
    if (n <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static enum status
check_choice(const struct team_input *in, const char *value, struct err *e)
{
    struct buf all = { 0 };

    for (size_t i = 0; i < in->n_choices; i++) {
        if (strcmp(in->choices[i], value) == 0) {
            buf_release(&all);
            return ST_OK;
        }
        buf_addf(&all, "%s%s", i ? ", " : "", in->choices[i]);
    }
    enum status s = in->n_choices ? err_set(e, ST_INVALID, "input %s cannot be \"%s\": choose %s",
                                            in->name, value, all.p ? all.p : "another")
                                  : ST_OK;
    buf_release(&all);
    return s;
}

/* inputs.json: given, else as before, else the default, else asked for. */
static enum status
write_inputs(const struct args *a, const struct state_dir *f, const struct team *t, struct err *e)
{
    struct buf old_text = { 0 }, out = { 0 };
    struct arena arena = { 0 };
    struct json *old = NULL;
    enum status s = ST_OK;

    s = state_dir_read(f, "inputs.json", &old_text, e);
    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s) /* the present text may be a person's work: keep it */
        s = json_parse_named(&arena, "inputs.json", old_text.p ? old_text.p : "", old_text.len,
                             &old, e);
    json_open(&out, '{');
    for (size_t i = 0; !s && i < t->n_inputs; i++) {
        const struct team_input *in = &t->inputs[i];
        const struct json *before = json_get(old, in->name);
        const char *value = given(a, in->name);
        char *asked = NULL;
        if (!value)
            value = json_dup_text(&arena, before);
        if (!value)
            value = in->fallback;
        if (!value && in->is_required && term_is_tty(STDIN_FILENO))
            value = asked = ask(in);
        if (!value && in->is_required)
            s = err_set(e, ST_INVALID, "the input %s is missing: give --input %s=VALUE", in->name,
                        in->name);
        if (!s && value)
            s = check_choice(in, value, e);
        if (!s && value)
            json_key_str(&out, in->name, value);
        free(asked);
    }
    json_close(&out, '}');
    buf_addc(&out, '\n');
    if (!s)
        s = buf_status(&out, "inputs.json", e);
    if (!s)
        s = state_dir_replace(f, "inputs.json", out.p, out.len, e);
    buf_release(&old_text);
    buf_release(&out);
    arena_release(&arena);
    return s;
}

static enum status
read_requirement(const struct args *a, struct buf *to, struct err *e)
{
    const char *text = args_text(a, "message"), *file = args_text(a, "file");

    if (text && file)
        return err_set(e, ST_INVALID, "give -m TEXT or -f FILE, not both");
    if (text) {
        buf_adds(to, text);
        buf_addc(to, '\n');
        enum status s = buf_status(to, "the requirement", e);
        return s ? s : check_utf8("--message", to->p, to->len, e);
    }
    bool is_stdin = strcmp(file, "-") == 0;
    enum status s = is_stdin
                        ? path_read_fd(STDIN_FILENO, "the requirement on standard input", to, e)
                        : path_read_file(AT_FDCWD, file, to, e);
    return s ? s : check_utf8(is_stdin ? "standard input" : file, to->p ? to->p : "", to->len, e);
}

static bool
is_blank(const struct buf *text)
{
    return !text->p || strspn(text->p, " \t\r\n") == text->len;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct workflow w = { 0 };
    struct buf text = BUF_MAX(REQ_MAX), out = { 0 };
    bool has_text = args_has(a, "message") || args_has(a, "file");
    const char *key = args_text(a, "key");
    enum status s = state_dir_find(&f, e);

    if (!s && !has_text && !key && !args_has(a, "input"))
        s = err_set(e, ST_INVALID, "nothing to do: give -m TEXT, -f FILE, --key or --input");
    if (!s)
        s = workflow_load(&w, &f, e);
    if (!s)
        s = check_given(a, &w.team, e);
    if (!s && has_text)
        s = read_requirement(a, &text, e);
    if (!s && has_text && is_blank(&text))
        s = err_set(e, ST_INVALID,
                    "the requirement is empty: say what is wanted, with -m TEXT or in FILE");
    if (!s && key)
        s = check_utf8("--key", key, strlen(key), e);
    if (!s)
        s = write_inputs(a, &f, &w.team, e);
    if (!s && has_text)
        s = state_dir_replace(&f, "req_spec.md", text.p ? text.p : "", text.len, e);
    if (!s && key)
        s = state_dir_replace(&f, "req_key", key, strlen(key), e);
    if (!s) {
        buf_addf(&out, "Wrote %s/%s. Next: cliq run\n", f.state_dir,
                 has_text ? "req_spec.md" : "inputs.json");
        s = cmd_print(&out, e);
    }
    workflow_release(&w);
    state_dir_close(&f);
    buf_release(&text);
    buf_release(&out);
    return s;
}

const struct cmd cmd_req = {
    .name = "req",
    .brief = "set the requirement and the inputs of the team",
    .about =
        "The requirement goes to .cliq/req_spec.md, inputs to .cliq/inputs.json. Both are UTF-8\n"
        "text; anything else is refused with its line and column. Required inputs\n"
        "that are missing are asked for on a terminal and an error elsewhere; those given\n"
        "before are kept. An empty requirement is refused.",
    .examples = "cliq req -m \"Add a health endpoint\" --key OPS-17\n"
                "cliq req -f requirement.md --input environment=staging",
    .opts = opts,
    .run = run,
};
