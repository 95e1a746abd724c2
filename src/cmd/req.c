/* req - what the team shall do. */
#include "base/path.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow_tell.h"
#include "run/lockfile.h"
#include "team/input.h"

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

/* inputs.json: given, else as before, else the default, else asked for. */
static enum status
write_inputs(const struct args *a, const struct state_dir *f, const struct team *t, struct err *e)
{
    struct buf old_text = { 0 }, out = { 0 };
    struct arena arena = { 0 };
    struct json *old = NULL;
    size_t n_given;
    const char *const *given = args_many(a, "input", &n_given);
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
        const char *value = input_given(given, n_given, in->name);
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
            s = input_check_choice(in, value, e);
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
        return s ? s : input_check_utf8("--message", to->p, to->len, e);
    }
    bool is_stdin = strcmp(file, "-") == 0;
    enum status s = is_stdin
                        ? path_read_fd(STDIN_FILENO, "the requirement on standard input", to, e)
                        : path_read_file(AT_FDCWD, file, to, e);
    return s ? s
             : input_check_utf8(is_stdin ? "standard input" : file, to->p ? to->p : "", to->len, e);
}

static bool
is_blank(const struct buf *text)
{
    return !text->p || strspn(text->p, " \t\r\n") == text->len;
}

/* A run reads inputs when it begins, and each agent reads the requirement when it starts. */
static const char for_active_run[] =
    "a run is active: the next run reads this, and of the active one only the agents that start "
    "from now on; cliq cancel, then cliq run, begins anew";

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir f = { .dir = -1 };
    struct workflow w = { 0 };
    struct buf text = BUF_MAX(REQ_MAX), out = { 0 };
    bool has_text = args_has(a, "message") || args_has(a, "file");
    const char *key = args_text(a, "key");
    size_t n_given;
    enum status s = state_dir_find(&f, e);

    if (!s && !has_text && !key && !args_has(a, "input"))
        s = err_set(e, ST_INVALID, "nothing to do: give -m TEXT, -f FILE, --key or --input");
    if (!s)
        s = workflow_load(&w, &f, e);
    const char *const *given = args_many(a, "input", &n_given);
    if (!s)
        s = input_check(&w.team, given, n_given, e);
    if (!s && has_text)
        s = read_requirement(a, &text, e);
    if (!s && has_text && is_blank(&text))
        s = err_set(e, ST_INVALID,
                    "the requirement is empty: say what is wanted, with -m TEXT or in FILE");
    if (!s && key)
        s = input_check_utf8("--key", key, strlen(key), e);
    if (!s)
        s = write_inputs(a, &f, &w.team, e);
    if (!s && has_text)
        s = state_dir_replace(&f, "req_spec.md", text.p ? text.p : "", text.len, e);
    if (!s && key)
        s = state_dir_replace(&f, "req_key", key, strlen(key), e);
    if (!s) {
        bool is_active = lockfile_runner(&f) > 0;
        buf_addf(&out, "Wrote %s/%s.%s\n", f.state_dir, has_text ? "req_spec.md" : "inputs.json",
                 is_active ? "" : " Next: cliq run");
        s = cmd_print(&out, e);
        if (is_active)
            cmd_note("%s", for_active_run);
    }
    workflow_tell(&w);
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
        "before are kept. An empty requirement is refused.\n"
        "\n"
        "It is for the next run. Of a run that is active only the agents that start from now on\n"
        "read it; a note says so.",
    .examples = "cliq req -m \"Add a health endpoint\" --key OPS-17\n"
                "cliq req -f requirement.md --input environment=staging",
    .opts = opts,
    .run = run,
};
