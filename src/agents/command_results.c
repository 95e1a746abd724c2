#include "agents/command_results.h"

#include "agents/shell.h"
#include "base/clock.h"
#include "base/term.h"
#include "context/state_dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_SHOWN = 200,   /* bytes of a failed command's last line */
    FAILURES_SHOWN = 3, /* in the summary */
};

#define LIMIT_MAX_MS INT64_C(1000000000000000)

static void
set_str(struct context *c, struct json *object, const char *key, const char *p, size_t len)
{
    json_set(object, key, json_new_copy(c->arena, p, len));
}

struct running {
    struct context *c;
    const char *text;
    enum status acked;
    struct err why;
};

/* The command's output comes through us, so it stands behind this line. The results and the handoff
 * will be written when it has ended. */
static void
on_run(void *ctx)
{
    struct running *r = ctx;

    dprintf(STDOUT_FILENO, "$ %s\n", r->text);
    state_dir_spare(r->c->state.dir);
}

/* Shows people that the command still runs. */
static void
on_later(void *ctx)
{
    struct running *r = ctx;

    if (r->c->owes_ack)
        r->acked = context_ack(r->c, &r->why);
}

/* "0.8 s", "120 s" */
static void
add_seconds(struct buf *to, int64_t ms)
{
    int64_t tenths = (ms + 50) / 100;

    if (tenths < 100)
        buf_addf(to, "%" PRId64 ".%" PRId64 " s", tenths / 10, tenths % 10);
    else
        buf_addf(to, "%" PRId64 " s", (ms + 500) / 1000);
}

/* "lint failed with exit code 1 after 0.8 s: src/a.c:3: unused variable" */
static void
describe_failure(struct buf *to, const char *name, const struct shell_result *r)
{
    struct buf line = { 0 };

    term_escape(to, name, strlen(name), false);
    if (r->is_timeout && !r->duration_ms) {
        buf_adds(to, " was not run: the gate's time was over");
        return;
    }
    if (r->is_timeout)
        buf_adds(to, " timed out after ");
    else
        buf_addf(to, " failed with exit code %d after ", r->exit_code);
    add_seconds(to, r->duration_ms);
    if (r->output.p)
        term_last_line(&line, r->output.p, r->output.len, LINE_SHOWN);
    if (line.len && !buf_failed(&line))
        buf_addf(to, ": %s", line.p);
    buf_release(&line);
}

/* Tells people, now, that a command failed. */
static enum status
tell_failure(struct context *c, struct command_results *r, const char *name,
             const struct shell_result *result, bool escalates, struct err *e)
{
    struct buf text = { 0 };

    describe_failure(&text, name, result);
    enum status s = buf_status(&text, "the failure", e);
    if (!s) {
        dprintf(STDOUT_FILENO, "cliq: %s\n", text.p);
        if (r->failed++ < FAILURES_SHOWN)
            buf_addf(&r->failures, "%s%s", r->failures.len ? "; " : "", text.p);
        if (escalates && !r->escalated && !(r->escalated = arena_dup(c->arena, text.p, text.len)))
            s = err_nomem(e);
    }
    if (!s && !r->escalated)
        s = context_progress(c, text.p, e);
    buf_release(&text);
    return s;
}

/* Shortens a check's limit to what is left of its gate's own time, less what the verdict needs:
 * a check that hangs has failed, and the gate says so, before the run stops the gate and a person
 * is needed. 0: nothing is left. */
static int64_t
limit_in_gate(const struct context *c, int64_t limit_ms)
{
    enum { VERDICT_SHARE = 10, VERDICT_MAX_MS = 5000 };
    int64_t all_ms = 0;

    if (!c->is_gate || !c->deadline_ms)
        return limit_ms;
    json_int(json_get(c->dispatch, "timeout_ms"), &all_ms);
    int64_t verdict_ms = all_ms / VERDICT_SHARE;
    if (verdict_ms > VERDICT_MAX_MS)
        verdict_ms = VERDICT_MAX_MS;
    int64_t left_ms = c->deadline_ms - verdict_ms - clock_mono_ms();
    return left_ms <= 0 ? 0 : left_ms < limit_ms ? left_ms : limit_ms;
}

static enum status
run_one(struct context *c, const struct json *command, struct command_results *r, struct err *e)
{
    const char *name = json_dup_text(c->arena, json_get(command, "name")),
               *run = json_dup_text(c->arena, json_get(command, "run"));
    const struct json *limit = json_get(command, "timeout_ms");
    struct running running = { .c = c, .text = run };
    struct shell_options o = { .meanwhile = on_run, .later = on_later, .ctx = &running };
    struct shell_result result;
    bool escalates = false;

    if (!run)
        return err_set(e, ST_INVALID, "a command has nothing to run");
    if (limit && (!json_int(limit, &o.limit_ms) || o.limit_ms < 1 || o.limit_ms > LIMIT_MAX_MS))
        return err_set(e, ST_INVALID,
                       "timeout_ms of a command must be a whole number from 1 to %" PRId64,
                       LIMIT_MAX_MS);
    if (!name)
        name = run;
    o.limit_ms = limit_in_gate(c, o.limit_ms ? o.limit_ms : SHELL_LIMIT_MS);
    if (!o.limit_ms)
        result = (struct shell_result){ .is_timeout = true, .exit_code = 124 };
    enum status s = o.limit_ms ? shell_run(run, &o, &result, e) : ST_OK;
    if (!s && running.acked) {
        s = running.acked;
        err_say(e, "%s", running.why.text);
    }
    if (s) {
        shell_result_release(&result);
        return s;
    }
    bool is_pass = result.exit_code == 0;
    struct json *v = json_new(c->arena, JSON_OBJECT);
    if (v) {
        set_str(c, v, "name", name, strlen(name));
        json_set(v, "pass", json_new(c->arena, is_pass ? JSON_TRUE : JSON_FALSE));
        json_set(v, "exit_code", json_new_int(c->arena, result.exit_code));
        json_set(v, "duration_ms", json_new_int(c->arena, result.duration_ms));
        if (result.is_timeout)
            json_set(v, "timed_out", json_new(c->arena, JSON_TRUE));
        set_str(c, v, "output", result.output.p ? result.output.p : "", result.output.len);
        json_add(r->list, v);
    }
    r->total++;
    json_bool(json_get(command, "escalate_on_fail"), &escalates);
    buf_addf(&r->text, "%s %s (%s%d, ", is_pass ? "✓" : "✗", name,
             result.is_timeout ? "timed out, " : "exit code ", result.exit_code);
    add_seconds(&r->text, result.duration_ms);
    buf_adds(&r->text, ")\n");
    if (!is_pass)
        s = tell_failure(c, r, name, &result, escalates, e);
    shell_result_release(&result);
    if (s)
        return s;
    return v ? ST_OK : err_nomem(e);
}

static enum status
write_results(struct context *c, const struct command_results *r, struct err *e)
{
    struct buf text = { 0 };
    char path[128];

    json_write(&text, r->list);
    buf_addc(&text, '\n');
    snprintf(path, sizeof path, "signals/%s_command_results.json", c->phase);
    enum status s = buf_status(&text, "the results", e);
    if (!s)
        s = state_dir_replace(&c->state, path, text.p, text.len, e);
    buf_release(&text);
    return s;
}

enum status
command_results_run(struct context *c, struct command_results *r, struct err *e)
{
    const struct json *commands = json_get(c->dispatch, "commands");
    enum status s = ST_OK;

    *r = (struct command_results){ .list = json_new(c->arena, JSON_ARRAY) };
    if (!r->list)
        return err_nomem(e);
    if (!json_first(commands))
        return err_set(e, ST_INVALID, "phase %s has no commands", c->phase);
    buf_addf(&r->text, "## %s\n\n", c->phase);
    json_each (command, commands) {
        s = run_one(c, command, r, e);
        if (s || r->escalated)
            break;
    }
    buf_addf(&r->summary, "%zu of %zu %s passed", r->total - r->failed, r->total,
             c->is_gate ? "checks" : "commands");
    if (r->failures.len && !buf_failed(&r->failures))
        buf_addf(&r->summary, ": %s", r->failures.p);
    if (r->failed > FAILURES_SHOWN)
        buf_addf(&r->summary, "; and %zu more", r->failed - FAILURES_SHOWN);
    buf_addf(&r->text, "\n%s\n", buf_failed(&r->summary) ? "" : r->summary.p);
    if (!s)
        s = write_results(c, r, e);
    if (!s)
        s = buf_status(&r->summary, "the summary", e);
    return s ? s : buf_status(&r->text, "the summary", e);
}

void
command_results_release(struct command_results *r)
{
    buf_release(&r->failures);
    buf_release(&r->summary);
    buf_release(&r->text);
}

struct json *
command_results_data(struct context *c, const struct command_results *r)
{
    static const char *const keys[] = { "name", "pass", "exit_code", "duration_ms", "timed_out" };
    struct json *data = json_new(c->arena, JSON_OBJECT), *list = json_new(c->arena, JSON_ARRAY);

    if (!data || !list)
        return NULL;
    json_each (v, r->list) {
        struct json *one = json_new(c->arena, JSON_OBJECT);
        for (size_t i = 0; one && i < sizeof keys / sizeof *keys; i++) {
            const struct json *from = json_get(v, keys[i]);
            struct json *copy = arena_alloc(c->arena, sizeof *copy);
            if (copy && from) {
                *copy = *from;
                copy->next = NULL;
                json_set(one, keys[i], copy);
            }
        }
        json_add(list, one);
    }
    json_set(data, "results", list);
    json_set(data, "all_passed", json_new(c->arena, r->failed ? JSON_FALSE : JSON_TRUE));
    json_set(data, "total", json_new_int(c->arena, (int64_t)r->total));
    json_set(data, "failed", json_new_int(c->arena, (int64_t)r->failed));
    return data;
}
