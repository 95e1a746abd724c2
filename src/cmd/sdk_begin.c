/* sdk begin - a script becomes an agent: its message from standard input into variables. */
#include "cmd/lib/sdk_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "trap", OPT_FLAG, NULL, "a script that ends without complete, verdict or fail has failed" },
    { 0 },
};

static void
add_export(struct buf *to, const char *name, const char *value)
{
    buf_addf(to, "export %s='", name);
    for (const char *p = value ? value : ""; *p; p++) {
        if (*p == '\'')
            buf_adds(to, "'\\''");
        else
            buf_addc(to, *p);
    }
    buf_adds(to, "'\n");
}

static void
add_list(struct buf *to, const struct context *c, bool is_route)
{
    struct buf list = { 0 };
    size_t n = is_route ? c->n_route_targets : c->n_targets;

    for (size_t i = 0; i < n; i++)
        buf_addf(&list, "%s%s", i ? " " : "", is_route ? c->route_targets[i] : c->targets[i].name);
    if (buf_failed(&list))
        to->is_starved = true;
    add_export(to, is_route ? "CLIQ_ROUTE_TARGETS" : "CLIQ_TARGETS", list.p);
    buf_release(&list);
}

static void
add_number(struct buf *to, const char *name, const struct context *c, int64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, n);
    add_export(to, name, c->is_gate ? text : "");
}

static void
add_variables(struct buf *to, const struct sdk_session *k)
{
    const struct context *c = &k->c;
    const struct {
        const char *name, *value;
    } texts[] = {
        { "CLIQ_MESSAGE_TYPE", k->msg.type },
        { "CLIQ_AGENT", c->agent },
        { "CLIQ_PHASE", c->phase },
        { "CLIQ_PHASE_TYPE", c->phase_type },
        { "CLIQ_INSTANCE_ID", c->instance_id },
        { "CLIQ_TEAM_NAME", c->team_name },
        { "CLIQ_REQ_KEY", c->req_key },
        { "CLIQ_PROJECT_DIR", c->project_dir },
        { "CLIQ_WORK_DIR", c->work_dir },
        { "CLIQ_STATE_DIR", c->state_dir },
        { "CLIQ_SIGNAL_DIR", k->msg.signal_dir },
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_export(to, texts[i].name, texts[i].value);
    add_export(to, "CLIQ_IS_SUPPORT", c->is_support ? "1" : "");
    add_list(to, c, false);
    add_list(to, c, true);
    add_number(to, "CLIQ_ITERATION", c, c->iteration);
    add_number(to, "CLIQ_MAX_ITERATIONS", c, c->max_iterations);
}

static enum status
begin(struct sdk_session *k, bool has_trap, struct err *e)
{
    struct buf out = { 0 }, path = { 0 };
    enum status s = sdk_parse(k, e);
    /* the ack says that the message arrived; what is wrong with the frame comes after it */
    enum status ack = k->c.signal_dir >= 0 ? context_ack(&k->c, s ? NULL : e) : ST_OK;

    if (!s)
        s = ack;
    if (!s)
        s = sdk_save(k, &path, e);
    bool is_saved = !s;
    if (!s) {
        add_export(&out, SDK_MESSAGE, path.p);
        add_variables(&out, k);
        if (has_trap)
            buf_adds(&out, "trap 'cliq sdk fail --if-open \"the agent ended with exit code $? "
                           "and no complete, verdict or fail\"' EXIT\n");
        s = cmd_print(&out, e);
    }
    if (s && is_saved)
        unlink(path.p);
    if (s && k->c.signal_dir >= 0)
        context_fail(&k->c, e->text, NULL);
    buf_release(&out);
    buf_release(&path);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k = { .c = { .state.dir = -1, .signal_dir = -1 } };
    struct buf stop = { 0 };
    enum status s = sdk_text_arg("-", "the message on standard input", &k.text, e);

    if (!s)
        s = begin(&k, args_has(a, "trap"), e);
    if (s) {
        buf_adds(&stop, "exit 1\n");
        cmd_print(&stop, NULL);
        buf_release(&stop);
    }
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_begin = {
    .name = "sdk begin",
    .brief = "begin an agent in shell: eval \"$(cliq sdk begin)\"",
    .about =
        "Reads the AgentMessage from standard input, checks and acknowledges it, keeps it in a\n"
        "private file for the other sdk commands and prints what a shell is to evaluate:\n"
        "CLIQ_SDK_MESSAGE, CLIQ_MESSAGE_TYPE (phase, notify or test), CLIQ_AGENT, CLIQ_PHASE,\n"
        "CLIQ_PHASE_TYPE, CLIQ_TARGETS, CLIQ_ROUTE_TARGETS, CLIQ_ITERATION,\n"
        "CLIQ_MAX_ITERATIONS, CLIQ_IS_SUPPORT, CLIQ_INSTANCE_ID, CLIQ_TEAM_NAME,\n"
        "CLIQ_REQ_KEY, CLIQ_PROJECT_DIR, CLIQ_WORK_DIR, CLIQ_STATE_DIR and CLIQ_SIGNAL_DIR;\n"
        "lists are separated by spaces, what there is not is empty. A message that is wrong makes\n"
        "the script end with exit code 1.\n"
        "\n"
        "The script then does its work and ends the phase with sdk complete, sdk verdict or\n"
        "sdk fail, which remove the file. In a run it is in .cliq/run/messages/, where the next "
        "run\n"
        "removes what a killed agent left; elsewhere in $TMPDIR.",
    .examples = "eval \"$(cliq sdk begin)\"\n"
                "eval \"$(cliq sdk begin --trap)\"",
    .opts = opts,
    .run = run,
};
