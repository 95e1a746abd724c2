/* script - runs any command as a phase: it reads the handoffs on standard input, and its output
 * is the handoff. */
#include "agents/agent_main.h"
#include "agents/shell.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "context/prompt.h"

#include <string.h>
#include <unistd.h>

enum {
    OUTPUT_MAX = 8 << 20,
    LINE_SHOWN = 400, /* bytes of the last line, in an error */
    LIMIT_MS = 24 * 60 * 60 * 1000
}; /* none: the phase's timeout applies */

/* The last fenced json block of the output, or all of it when it is one JSON object, as tools print
 * with --json; NULL: there is none. */
static struct json *
find_data(struct context *c, const char *text, size_t len)
{
    struct json *block = NULL;
    struct json_fault where;

    prompt_extract(c->arena, text, len, &block, NULL, NULL);
    if (!block && len && text[strspn(text, " \t\r\n")] == '{' &&
        !json_parse(c->arena, text, len, &block, &where))
        block = NULL;
    return block;
}

/* Ends a gate by the verdict in the output's last json block, else by the exit code: 0 passes, 1
 * routes. */
static enum status
end_gate(struct context *c, const struct json *block, const char *text, int exit_code,
         struct err *e)
{
    const struct json *v = json_get(block, "verdict"), *comment = json_get(block, "comment");
    struct context_verdict out = { .comment = text };
    const struct json *outcome = json_get(v, "outcome"), *target = json_get(v, "target");

    if (json_is(outcome, JSON_STRING)) {
        out.outcome = json_dup_text(c->arena, outcome);
        out.target = json_dup_text(c->arena, target);
        if (json_is(comment, JSON_STRING))
            out.comment = json_dup_text(c->arena, comment);
    } else if (exit_code == 0) {
        out.outcome = "PASS";
    } else if (exit_code == 1 && c->n_route_targets) {
        out.outcome = "ROUTE";
        out.target = c->route_targets[0];
    } else {
        return err_set(e, ST_FAILED, "the command ended with exit code %d and gave no verdict",
                       exit_code);
    }
    return out.outcome ? context_finalize_gate(c, &out, e) : err_nomem(e);
}

static enum status
end_phase(struct context *c, const struct json *data, const char *text, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < c->n_targets; i++)
        s = context_send(c, c->targets[i].name, data, text, e);
    return s ? s : context_finalize_standard(c, e);
}

static enum status
run_script(struct context *c, const char *command, struct err *e)
{
    struct shell_options o = { .input = c->input_text,
                               .input_len = strlen(c->input_text),
                               .limit_ms = LIMIT_MS,
                               .keep = OUTPUT_MAX,
                               .is_err_apart = true };
    struct shell_result r;
    enum status s = shell_run(command, &o, &r, e);

    if (!s && r.is_cut)
        s = err_set(e, ST_FAILED, "the command printed more than %d bytes", OUTPUT_MAX);
    const char *nul = r.output.len ? memchr(r.output.p, '\0', r.output.len) : NULL;
    if (!s && nul)
        s = err_set(e, ST_FAILED,
                    "byte %zu of what the command printed is NUL, and a handoff is text: let it "
                    "write a file, and print its name",
                    (size_t)(nul - r.output.p) + 1);
    if (!s && r.exit_code != 0 && !c->is_gate) {
        struct buf line = { 0 };
        term_last_line(&line, r.output.p ? r.output.p : "", r.output.len, LINE_SHOWN);
        s = err_set(e, ST_FAILED, "the command ended with exit code %d after %.1f s%s%s",
                    r.exit_code, (double)r.duration_ms / 1000,
                    line.len ? ": " : " and printed nothing", line.len ? line.p : "");
        buf_release(&line);
    }
    if (!s) {
        const char *text = r.output.p ? r.output.p : "";
        const struct json *block = find_data(c, text, r.output.len);
        s = c->is_gate ? end_gate(c, block, text, r.exit_code, e) : end_phase(c, block, text, e);
    }
    shell_result_release(&r);
    return s;
}

static enum status
handle(struct context *c, struct err *e)
{
    struct buf all = { 0 };
    enum status s = context_read(c, e);

    if (s)
        return s;
    /* Several commands form one script: the first failure ends it. */
    json_each (command, json_get(c->dispatch, "commands")) {
        const struct json *run = json_get(command, "run");
        if (json_is(run, JSON_STRING))
            buf_addf(&all, "%s%.*s\n", all.len ? "" : "set -e\n", (int)run->text.len, run->text.p);
    }
    s = all.len ? buf_status(&all, "the script", e)
                : err_set(e, ST_INVALID, "phase %s has no commands", c->phase);
    if (!s)
        s = run_script(c, all.p, e);
    buf_release(&all);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    (void)a;
    return agent_run(handle, e);
}

const struct cmd cmd_agent_script = {
    .name = "agent script",
    .brief = "the built-in agent that runs your own tool as a phase",
    .about =
        "Reads an AgentMessage on standard input. Runs payload.commands as one script with the\n"
        "incoming handoffs on its standard input; what it prints becomes the text of the\n"
        "handoff, its last fenced json block, or all of it when it is one JSON object, the data.\n"
        "At a gate that may hold a verdict; without one exit code 0 passes and 1 routes to the\n"
        "first target.",
    .opts = agent_no_opts,
    .run = run,
};
