#include "run/attempt_files.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/context.h"
#include "run/phase_scope.h"
#include "team/phase_config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_TIMEOUT_MS = 2 * 60 * 1000 };

/* One preparation in progress. */
struct prep {
    const struct plan *p;
    const struct phase *ph;
    const struct attempt_id *a;
    const char *run_id;
    struct arena *arena;
    struct phase_scope values;
    struct template_env *env; /* variables that shell commands refer to */
    size_t n_env;
};

void
attempt_id_name(const struct plan *p, const struct attempt_id *a, struct buf *to)
{
    buf_addf(to, "%s.%u%s", p->team.phases[a->phase].name, a->n,
             a->stage == STAGE_CHECKS ? ".checks" : "");
    if (a->redo)
        buf_addf(to, ".r%u", a->redo);
}

bool
attempt_files_has_checks(const struct plan *p, size_t phase)
{
    const struct phase *ph = &p->team.phases[phase];
    const char *agent = p->agents[phase].name;

    /* These run them themselves. */
    return ph->type == PHASE_GATE && ph->n_commands > 0 && strcmp(agent, "checks") != 0 &&
           strcmp(agent, "exec") != 0 && strcmp(agent, "script") != 0;
}

/* phase_scope_path, formatted. */
static const char *
below(const struct prep *pr, const char *fmt, ...)
{
    struct err e;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&e, fmt, ap);
    va_end(ap);
    return phase_scope_path(&pr->values, e.text);
}

static void
begin(struct prep *pr, const struct plan *p, size_t phase, const char *run_id, struct arena *arena)
{
    *pr = (struct prep){ .p = p, .ph = &p->team.phases[phase], .run_id = run_id, .arena = arena };
    phase_scope_init(&pr->values, p, phase, run_id, arena);
}

enum status
attempt_files_when(const struct plan *p, size_t phase, const char *run_id, bool *is_true,
                   struct err *e)
{
    struct arena arena = { 0 };
    struct prep pr;
    const char *when = p->team.phases[phase].when;
    enum status s = ST_OK;

    *is_true = true;
    if (when) {
        struct err why;
        begin(&pr, p, phase, run_id, &arena);
        s = template_when(when, &pr.values.scope, is_true, &why);
        if (s)
            err_say(e, "phase %s, when: %s", pr.ph->name, phase_scope_why(&pr.values, &why));
    }
    arena_release(&arena);
    return s;
}

/* The text expanded, in the arena; a failure names the field. */
static enum status
expand(struct prep *pr, const char *field, const char *text, const char **out, struct err *e)
{
    struct buf b = { 0 };
    struct err why;
    enum status s = template_expand(&b, text, &pr->values.scope, &why);

    if (!s)
        s = buf_status(&b, field, &why);
    if (s)
        err_say(e, "phase %s, %s: %s", pr->ph->name, field, phase_scope_why(&pr->values, &why));
    else if (!(*out = arena_dup(pr->arena, b.p ? b.p : "", b.len)))
        s = err_nomem(e);
    buf_release(&b);
    return s;
}

/* A copy of the tree with every string expanded. */
static enum status
expand_json(struct prep *pr, const char *field, const struct json *v, struct json **out,
            struct err *e)
{
    struct json *copy = json_new(pr->arena, v->type), *last = NULL;
    enum status s = ST_OK;

    if (!copy)
        return err_nomem(e);
    *copy = *v;
    copy->next = NULL;
    if (v->type == JSON_STRING) {
        const char *text = arena_dup(pr->arena, v->text.p, v->text.len);
        if (!text)
            return err_nomem(e);
        s = expand(pr, field, text, &copy->text.p, e);
        if (!s)
            copy->text.len = strlen(copy->text.p);
    } else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
        copy->kids.first = NULL;
        json_each (kid, v) {
            struct json *k;
            s = expand_json(pr, field, kid, &k, e);
            if (s)
                break;
            if (last)
                last->next = k;
            else
                copy->kids.first = k;
            last = k;
        }
    }
    *out = copy;
    return s;
}

/* ---- the payload ---- */

static int64_t
command_timeout(const struct prep *pr, const struct command *c)
{
    if (c->timeout_ms)
        return c->timeout_ms;
    if (pr->ph->timeout_ms)
        return pr->ph->timeout_ms;
    return settings_ms(&pr->p->settings, "run.command_timeout", COMMAND_TIMEOUT_MS);
}

static enum status
write_commands(struct prep *pr, struct buf *to, struct err *e)
{
    struct buf run = { 0 };
    enum status s = ST_OK;

    json_key(to, "commands");
    json_open(to, '[');
    for (size_t i = 0; !s && i < pr->ph->n_commands; i++) {
        const struct command *c = &pr->ph->commands[i];
        struct err why;
        buf_reset(&run);
        s = template_shell(pr->arena, &run, c->run, &pr->values.scope, &pr->env, &pr->n_env, &why);
        if (s) {
            err_say(e, "phase %s, command %s: %s", pr->ph->name, c->name,
                    phase_scope_why(&pr->values, &why));
            break;
        }
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "name", c->name);
        json_key_strn(to, "run", run.p ? run.p : "", run.len);
        if (c->escalate_on_fail)
            json_key_bool(to, "escalate_on_fail", true);
        json_key_int(to, "timeout_ms", command_timeout(pr, c));
        json_close(to, '}');
    }
    json_close(to, ']');
    buf_release(&run);
    return s;
}

static enum status
write_expanded(struct prep *pr, struct buf *to, const char *key, const struct json *v,
               struct err *e)
{
    struct json *expanded;

    if (!v)
        return ST_OK;
    enum status s = expand_json(pr, key, v, &expanded, e);
    if (!s)
        json_key_json(to, key, expanded);
    return s;
}

static enum status
expand_config(void *ctx, const char *field, const struct json *v, struct json **out, struct err *e)
{
    return expand_json(ctx, field, v, out, e);
}

/* Who works on goes on with the conversation; a gate judges afresh. The phase's field `session`
 * decides otherwise. */
static bool
is_continued(const struct prep *pr, const struct json *config)
{
    const struct json *v = json_get(config, "session");

    return json_eq(v, "continue") || (!json_eq(v, "fresh") && pr->ph->type != PHASE_GATE);
}

static enum status
write_session(const struct prep *pr, struct buf *to, const struct json *config, struct err *e)
{
    const struct usage *session = pr->a->session;

    if (!session || !is_continued(pr, config))
        return ST_OK;
    struct json *used = usage_json(pr->arena, session);
    json_key(to, "session");
    json_open(to, '{');
    json_key_str(to, "id", session->session_id);
    json_key_json(to, "usage", used);
    json_close(to, '}');
    return used ? ST_OK : err_nomem(e);
}

/* The phase's fields that its agent declares, and the conversation that it goes on with. */
static enum status
write_config(struct prep *pr, struct buf *to, struct err *e)
{
    const struct agent *agent = &pr->p->agents[pr->a->phase];
    struct json *config;
    enum status s =
        phase_config_make(pr->arena, pr->ph, agent_schema(pr->arena, agent->name, agent->manifest),
                          expand_config, pr, &config, e);

    if (s)
        return s;
    json_key_json(to, "phase_config", config);
    return write_session(pr, to, config, e);
}

/* What the checks of this attempt said (signals/<gate>_command_results.json); NULL when
 * none were run: a gate without commands, or whose agent runs them itself. */
static enum status
read_check_results(const struct prep *pr, const struct json **out, struct err *e)
{
    struct buf text = { 0 };
    struct json *results = NULL;
    char path[TEAM_PHASE_NAME_MAX + 64];

    *out = NULL;
    if (pr->a->stage == STAGE_CHECKS || !attempt_files_has_checks(pr->p, pr->a->phase))
        return ST_OK;
    snprintf(path, sizeof path, "signals/%s_command_results.json", pr->ph->name);
    enum status s = state_dir_read(&pr->p->state, path, &text, e);
    if (!s) {
        char *kept = arena_dup(pr->arena, text.p ? text.p : "", text.len);
        s = kept ? json_parse_named(pr->arena, path, kept, text.len, &results, e) : err_nomem(e);
    }
    if (json_is(results, JSON_ARRAY))
        *out = results;
    buf_release(&text);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

/* Each line behind four spaces: text of others, not ours. */
static void
add_indented(struct buf *to, const struct json *text)
{
    if (!json_is(text, JSON_STRING) || text->text.len == 0)
        return;
    buf_addc(to, '\n');
    for (size_t i = 0, n; i < text->text.len; i += n + 1) {
        const char *line = text->text.p + i, *end = memchr(line, '\n', text->text.len - i);
        n = end ? (size_t)(end - line) : text->text.len - i;
        buf_adds(to, "    ");
        buf_add(to, line, n);
        buf_addc(to, '\n');
    }
    buf_addc(to, '\n');
}

static void
add_check(struct buf *to, const struct json *check)
{
    const struct json *name = json_get(check, "name");
    int64_t code = 0;
    bool is_pass = json_is(json_get(check, "pass"), JSON_TRUE);
    bool is_late = json_is(json_get(check, "timed_out"), JSON_TRUE);

    json_int(json_get(check, "exit_code"), &code);
    buf_addf(to, "- [%c] %.*s: %s (exit code %d)\n", is_pass ? 'x' : ' ',
             json_is(name, JSON_STRING) ? (int)name->text.len : 0,
             json_is(name, JSON_STRING) ? name->text.p : "",
             is_pass   ? "passed"
             : is_late ? "timed out"
                       : "failed",
             (int)code);
    if (!is_pass)
        add_indented(to, json_get(check, "output"));
}

/* gates/<gate>/gate_context.md: what the gate's agent is about to judge, for people. */
static enum status
write_gate_context(const struct prep *pr, const struct json *results, const uint32_t *targets,
                   size_t n_targets, struct err *e)
{
    struct buf text = { 0 };
    char path[TEAM_PHASE_NAME_MAX + 32];

    buf_addf(&text, "# Gate: %s\n\nIteration %u of %u\n\n## Checks\n\n", pr->ph->name,
             pr->a->iteration, pr->ph->max_iterations);
    json_each (check, results)
        add_check(&text, check);
    if (!json_first(results))
        buf_adds(&text, pr->ph->n_commands ? "The gate's agent runs them.\n" : "None.\n");
    buf_adds(&text, "\n## Route targets\n\n");
    for (size_t i = 0; i < n_targets; i++)
        buf_addf(&text, "- %s\n", pr->p->team.phases[targets[i]].name);
    snprintf(path, sizeof path, "gates/%s/gate_context.md", pr->ph->name);
    enum status s = buf_status(&text, path, e);
    if (!s)
        s = state_dir_replace(&pr->p->state, path, text.p, text.len, e);
    buf_release(&text);
    return s;
}

/* What only gates are told; and the same for people. */
static enum status
write_gate(const struct prep *pr, struct buf *to, struct err *e)
{
    const struct json *results;
    uint32_t *targets = arena_alloc(pr->arena, (pr->p->team.n_phases + 1) * sizeof *targets);
    enum status s = targets ? read_check_results(pr, &results, e) : err_nomem(e);

    if (s)
        return s;
    size_t n = dag_route_targets(pr->p->dag, pr->a->phase, targets);
    if (pr->a->stage == STAGE_CHECKS) {
        json_key_bool(to, "checks_only", true);
    } else {
        json_key(to, "check_results");
        if (results)
            json_write(to, results);
        else
            buf_adds(to, "[]");
        s = write_gate_context(pr, results, targets, n, e);
    }
    json_key(to, "route_targets");
    json_open(to, '[');
    for (size_t i = 0; i < n; i++) {
        const char *name = pr->p->team.phases[targets[i]].name;
        json_sep(to);
        json_write_str(to, name, strlen(name));
    }
    json_close(to, ']');
    json_key_int(to, "iteration", pr->a->iteration);
    json_key_int(to, "max_iterations", pr->ph->max_iterations);
    return s;
}

static enum status
write_payload(struct prep *pr, struct buf *to, const char *role, const char *prompt, struct err *e)
{
    const struct phase *ph = pr->ph;
    int64_t timeout_ms = plan_timeout_ms(pr->p, pr->a->phase);
    enum status s = ST_OK;

    json_key_int(to, "attempt", pr->a->n);
    json_key_str(to, "run_id", pr->run_id);
    if (timeout_ms)
        json_key_int(to, "timeout_ms", timeout_ms);
    if (ph->is_support)
        json_key_bool(to, "is_support", true);
    if (pr->a->is_routed)
        json_key_bool(to, "is_routed", true);
    if (plan_is_root(pr->p, pr->a->phase)) /* what the phase got that its team is */
        json_key_strs(to, "depends_on", (const char *const[]){ PLAN_IN }, 1);
    else
        json_key_strs(to, "depends_on", ph->depends_on, ph->n_depends_on);
    json_key_str(to, "action", ph->action);
    json_key_str(to, "model", ph->model);
    json_key_str(to, "role", role);
    json_key_str(to, "prompt", prompt);
    if (ph->n_commands)
        s = write_commands(pr, to, e);
    if (!s)
        s = write_expanded(pr, to, "sources", ph->sources, e);
    if (!s)
        s = write_expanded(pr, to, "target_entries", ph->target_entries, e);
    if (!s)
        s = write_expanded(pr, to, "review", ph->review, e);
    if (!s && pr->a->stage == STAGE_AGENT)
        s = write_config(pr, to, e);
    if (!s && ph->type == PHASE_GATE)
        s = write_gate(pr, to, e);
    return s;
}

/* ---- the rest of the message ---- */

static bool
add_handoff_dir(const struct prep *pr, struct agent_message *m, size_t to)
{
    const char *dir = below(pr, "channels/%s--%s", pr->ph->name, pr->p->team.phases[to].name);

    m->handoff_dirs[m->n_handoff_dirs++] = dir;
    return dir;
}

/* False: out of memory. */
static bool
list_handoff_dirs(const struct prep *pr, struct agent_message *m)
{
    const struct team *t = &pr->p->team;
    struct dag *d = pr->p->dag;
    size_t from = pr->a->phase;
    bool is_gate = pr->ph->type == PHASE_GATE, is_good = true;

    m->handoff_dirs = arena_alloc(pr->arena, (2 * t->n_phases + 2) * sizeof *m->handoff_dirs);
    if (!m->handoff_dirs)
        return false;
    if (plan_is_leaf(pr->p, from))
        is_good = (m->handoff_dirs[m->n_handoff_dirs++] =
                       below(pr, "channels/%s--" PLAN_OUT, pr->ph->name)) != NULL;
    for (size_t k = d->first[from]; is_good && k < d->first[from + 1]; k++)
        is_good = add_handoff_dir(pr, m, d->succ[k]);
    for (size_t i = 0; is_good && is_gate && i < t->n_phases; i++)
        if (dag_may_route(d, from, i) && !dag_is_edge(d, from, i))
            is_good = add_handoff_dir(pr, m, i);
    /* A support phase answers the gates that can send it work. */
    for (size_t i = 0; is_good && pr->ph->is_support && i < t->n_phases; i++)
        if (t->phases[i].type == PHASE_GATE)
            is_good = add_handoff_dir(pr, m, i);
    return is_good;
}

/* Adds the file when it is there; false: out of memory. */
static bool
add_artifact(const struct prep *pr, struct json *list, const char *name, const char *path)
{
    if (faccessat(pr->p->state.dir, path, R_OK, 0) != 0)
        return true;
    const char *full = below(pr, "%s", path);
    struct json *one = full ? json_new(pr->arena, JSON_OBJECT) : NULL;

    if (!one || !json_set(one, "name", json_new_copy(pr->arena, name, strlen(name))) ||
        !json_set(one, "type", json_new_str(pr->arena, "file", 4)) ||
        !json_set(one, "source", json_new_str(pr->arena, full, strlen(full))))
        return false;
    json_add(list, one);
    return true;
}

static bool
add_designs(const struct prep *pr, struct json *list)
{
    int fd = openat(pr->p->state.dir, "design", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool is_good = true;

    for (struct dirent *f; is_good && d && (f = readdir(d));) {
        char doc[NAME_MAX + 16];
        snprintf(doc, sizeof doc, "design/%s", f->d_name);
        if (f->d_type == DT_REG)
            is_good = add_artifact(pr, list, f->d_name, doc);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return is_good;
}

/* False: out of memory. */
static bool
list_artifacts(const struct prep *pr, struct agent_message *m)
{
    char name[2 * TEAM_PHASE_NAME_MAX + 3], path[2 * TEAM_PHASE_NAME_MAX + 64];
    struct json *list = json_new(pr->arena, JSON_ARRAY);
    bool is_good =
        list && add_artifact(pr, list, "requirement", "req_spec.md") && add_designs(pr, list);

    for (size_t i = 0; is_good && i < pr->ph->n_depends_on; i++) {
        snprintf(name, sizeof name, "%s--%s", pr->ph->depends_on[i], pr->ph->name);
        snprintf(path, sizeof path, "channels/%s/handoff.json", name);
        is_good = add_artifact(pr, list, name, path);
    }
    if (is_good && plan_is_root(pr->p, pr->a->phase)) {
        snprintf(name, sizeof name, PLAN_IN "--%s", pr->ph->name);
        snprintf(path, sizeof path, "channels/%s/handoff.json", name);
        is_good = add_artifact(pr, list, name, path);
    }
    m->input_artifacts = list;
    return is_good;
}

/* What every message of this run says. */
static struct agent_message
message_head(const struct plan *p, const char *type, const struct agent *agent,
             const char *signal_dir)
{
    return (struct agent_message){ .type = type,
                                   .agent = agent->name,
                                   .instance_id = p->instance_id,
                                   .team_name = p->team.name,
                                   .req_key = p->req_key,
                                   .project_dir = p->state.project_dir,
                                   .signal_dir = signal_dir,
                                   .settings = agent->settings,
                                   .state_dir = p->state.state_dir };
}

static enum status
write_message(struct prep *pr, struct buf *to, const struct agent *agent, const char *token,
              const char *role, const char *prompt, struct err *e)
{
    const char *signals = below(pr, pr->a->stage == STAGE_CHECKS ? "run/checks" : "signals");
    struct agent_message m = message_head(pr->p, "phase", agent, signals);

    m.phase_type = phase_type_name(pr->ph->type);
    m.phase = pr->ph->name;
    m.attempt_id = token;
    if (!signals || !list_handoff_dirs(pr, &m) || !list_artifacts(pr, &m))
        return err_nomem(e);
    agent_message_begin(to, &m);
    enum status s = write_payload(pr, to, role, prompt, e);
    return s ? s : agent_message_end(to, e);
}

/* ---- the environment ---- */

static void
base_env(struct env *vars, const struct plan *p, const struct agent *agent, const char *run_id)
{
    env_base(vars, agent);
    env_add(vars, "CLIQ_PROJECT_DIR", p->state.project_dir);
    env_add(vars, "CLIQ_STATE_DIR", p->state.state_dir);
    env_add(vars, "CLIQ_RUN_ID", run_id);
}

static enum status
attempt_env(struct prep *pr, const struct agent *agent, const char *token, const char *const **out,
            struct err *e)
{
    struct env vars = { .arena = pr->arena };
    char n[16];

    base_env(&vars, pr->p, agent, pr->run_id);
    for (size_t i = 0; i < pr->ph->n_env; i++) {
        const char *value;
        enum status s = expand(pr, "env", pr->ph->env[i].value, &value, e);
        if (s)
            return s;
        env_add(&vars, pr->ph->env[i].key, value);
    }
    for (size_t i = 0; i < pr->n_env; i++)
        env_add(&vars, pr->env[i].name, pr->env[i].value);
    snprintf(n, sizeof n, "%u", pr->a->n);
    env_add(&vars, "CLIQ_PHASE", pr->ph->name);
    env_add(&vars, "CLIQ_ATTEMPT_NUMBER", n);
    env_add(&vars, "CLIQ_ATTEMPT", token);
    *out = vars.v;
    return vars.is_starved ? err_nomem(e) : ST_OK;
}

/* ---- prompts ---- */

static bool
wants_prompt(const struct agent *agent)
{
    return agent->kind != AGENT_SPECIAL && agent->kind != AGENT_CONNECTOR &&
           agent->kind != AGENT_NOTIFIER;
}

/* The phase's role with its templates expanded, in the arena; NULL when there is none. */
static enum status
read_role(struct prep *pr, const char **out, struct err *e)
{
    struct buf text = { 0 };
    char path[TEAM_PHASE_NAME_MAX + 16];

    *out = NULL;
    snprintf(path, sizeof path, "roles/%s.md", pr->ph->name);
    enum status s = state_dir_read(&pr->p->state, path, &text, e);
    if (s == ST_NOT_FOUND)
        s = ST_OK;
    else if (!s)
        s = expand(pr, path, text.p ? text.p : "", out, e);
    buf_release(&text);
    return s;
}

/* What the agent will tell its model, made from its own message, for people to read. */
static enum status
write_prompt(struct prep *pr, const struct buf *message, const char *name, struct err *e)
{
    struct agent_message m;
    struct context c;
    struct buf text = { 0 }, path = { 0 };
    enum status s = agent_message_parse(pr->arena, message->p, message->len, &m, e);

    if (s)
        return s;
    s = context_build(pr->arena, &m, &c, e);
    if (!s)
        s = context_prompt(&c, &text, e);
    buf_addf(&path, "run/prompts/%s.md", name);
    if (!s)
        s = buf_status(&text, "the prompt", e);
    if (!s)
        s = state_dir_replace(&pr->p->state, path.p, text.p, text.len, e);
    context_release(&c);
    buf_release(&text);
    buf_release(&path);
    return s;
}

enum status
attempt_files_write(const struct plan *p, const struct attempt_id *a, const char *run_id,
                    struct arena *arena, struct attempt_files *out, struct err *e)
{
    static const struct agent checks = { .name = "checks", .kind = AGENT_SPECIAL };
    struct prep pr;
    struct buf message = { 0 }, name = { 0 };
    struct proc_spec *spec = &out->spec;
    const struct agent *agent = a->stage == STAGE_CHECKS ? &checks : &p->agents[a->phase];
    const char *role = NULL, *prompt = NULL;
    enum status s = ST_OK;

    begin(&pr, p, a->phase, run_id, arena);
    pr.a = a;
    attempt_id_name(p, a, &name);
    *spec = (struct proc_spec){
        .argv = agent->argv,
        .dir = p->state.project_dir,
        .in = below(&pr, "run/messages/%s.json", name.p),
        .out = below(&pr, "run/logs/%s.log", name.p),
        .attempt_file = below(&pr, "run/attempts/%s", name.p),
        .base = p->state.dir,
        .base_len = strlen(p->state.state_dir) + 1,
    };
    if (a->stage == STAGE_CHECKS) {
        const char **argv = arena_alloc(arena, 4 * sizeof *argv);
        if (argv) {
            argv[0] = agent_self(arena);
            argv[1] = "agent";
            argv[2] = "checks";
            argv[3] = NULL;
        }
        spec->argv = argv;
    }
    char *token = arena_alloc(arena, strlen(run_id) + name.len + 2);
    out->token = token;
    if (!spec->in || !spec->out || !spec->attempt_file || !spec->argv || !token) {
        s = err_nomem(e);
    } else {
        sprintf(token, "%s/%s", run_id, name.p);
        s = read_role(&pr, &role, e);
    }
    if (!s && a->stage == STAGE_AGENT && wants_prompt(agent))
        prompt = below(&pr, "run/prompts/%s.md", name.p);
    if (!s)
        s = write_message(&pr, &message, agent, token, role, prompt, e);
    out->message_len = message.len;
    if (!s && !(out->message = arena_dup(arena, message.p, message.len)))
        s = err_nomem(e);
    if (!s && prompt)
        s = write_prompt(&pr, &message, name.p, e);
    if (!s)
        s = attempt_env(&pr, agent, token, &spec->env, e);
    buf_release(&message);
    buf_release(&name);
    return s;
}

enum status
attempt_files_message(const struct plan *p, const struct attempt_files *x, struct err *e)
{
    return state_dir_create(&p->state, x->spec.in + x->spec.base_len, x->message, x->message_len,
                            e);
}

/* A secret that the text begins within cannot be found: its line is left out. */
static size_t
whole_from(const char *text, size_t n, bool is_cut, const struct mask *m)
{
    const char *newline = is_cut && !mask_is_empty(m) ? memchr(text, '\n', n) : NULL;

    return newline ? (size_t)(newline + 1 - text) : is_cut && !mask_is_empty(m) ? n : 0;
}

static void
add_last_line(const struct plan *p, const char *path, const struct mask *m, struct buf *to)
{
    enum { TAIL = 16384, SHOWN = 300 };
    char tail[TAIL];
    struct stat st;
    struct buf masked = { 0 };
    int fd = SYS_RETRY(
        sys->openat(p->state.dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));

    if (fd < 0)
        return;
    off_t at = sys->fstat(fd, &st) == 0 && st.st_size > TAIL ? st.st_size - TAIL : 0;
    ssize_t n = SYS_RETRY(sys->pread(fd, tail, sizeof tail, at));
    close(fd);
    size_t from = n > 0 ? whole_from(tail, (size_t)n, at > 0, m) : 0;
    if (n > 0 && mask_text(m, tail + from, (size_t)n - from, &masked, NULL) == ST_OK && masked.len)
        term_last_line(to, masked.p, masked.len, SHOWN);
    buf_release(&masked);
}

void
attempt_files_last_line(const struct plan *p, const struct attempt_files *x, const struct mask *m,
                        struct buf *to)
{
    add_last_line(p, x->spec.out + x->spec.base_len, m, to);
}

/* ---- notifications ---- */

static enum status
notify_env(const struct plan *p, const struct agent *agent, const char *run_id, struct arena *arena,
           const char *token, const char *const **out, struct err *e)
{
    struct env vars = { .arena = arena };

    base_env(&vars, p, agent, run_id);
    env_add(&vars, "CLIQ_ATTEMPT", token);
    *out = vars.v;
    return vars.is_starved ? err_nomem(e) : ST_OK;
}

enum status
attempt_files_receivers(const struct plan *p, size_t phase, const char *run_id, struct arena *arena,
                        const struct json *to, struct json **out, struct err *e)
{
    struct prep pr;

    begin(&pr, p, phase, run_id, arena);
    return expand_json(&pr, "notify", to, out, e);
}

void
attempt_files_last_words(const struct plan *p, const char *agent, const char *id,
                         const struct mask *m, struct buf *to)
{
    struct buf path = { 0 };

    buf_addf(&path, "run/logs/_notify-%s-%s.log", agent, id);
    if (!buf_failed(&path))
        add_last_line(p, path.p, m, to);
    buf_release(&path);
}

enum status
attempt_files_notify(const struct plan *p, const struct agent *agent, const char *id,
                     const struct json *notification, const char *run_id, struct arena *arena,
                     struct proc_spec *spec, const char **token, struct err *e)
{
    struct prep pr = {
        .p = p, .run_id = run_id, .arena = arena, .values = { .plan = p, .arena = arena }
    };
    struct buf message = { 0 }, name = { 0 }, path = { 0 };
    enum status s;

    buf_addf(&name, "_notify-%s-%s", agent->name, id);
    s = buf_status(&name, "the notification's name", e);
    if (s)
        return s;
    *spec = (struct proc_spec){
        .argv = agent->argv,
        .dir = p->state.project_dir,
        .in = below(&pr, "run/messages/%s.json", name.p),
        .out = below(&pr, "run/logs/%s.log", name.p),
        .attempt_file = below(&pr, "run/attempts/%s", name.p),
        .base = p->state.dir,
        .base_len = strlen(p->state.state_dir) + 1,
    };
    const char *signals = below(&pr, "signals");
    *token = arena_alloc(arena, strlen(run_id) + name.len + 2);
    if (!spec->in || !spec->out || !spec->attempt_file || !signals || !*token)
        s = err_nomem(e);
    else
        sprintf((char *)*token, "%s/%s", run_id, name.p);
    if (!s)
        s = notify_env(p, agent, run_id, arena, *token, &spec->env, e);
    struct agent_message m = message_head(p, "notify", agent, signals);
    if (!s) {
        agent_message_begin(&message, &m);
        json_key_str(&message, "id", id);
        json_key(&message, "notifications");
        json_open(&message, '[');
        json_write(&message, notification);
        json_close(&message, ']');
        s = agent_message_end(&message, e);
    }
    buf_addf(&path, "run/messages/%s.json", name.p);
    if (!s)
        s = state_dir_create(&p->state, path.p, message.p, message.len, e);
    buf_release(&message);
    buf_release(&name);
    buf_release(&path);
    return s;
}
