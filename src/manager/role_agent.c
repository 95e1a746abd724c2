/*
 * role_agent - a role that an agent of cliq plays. The attempt's directory is its state directory:
 * a worker is a standard phase that hands over to the phase "room", a reviewer a gate. So every
 * agent works in a room as it does in a pipeline.
 *
 *     state     phase      its end            message
 *     work      standard   complete           done: the handoff for "room", else the summary
 *     review    gate       PASS               pass
 *                          ROUTE to worker    fail
 *                          ESCALATE           escalate, where the state answers to that; else error
 *     triage    gate       ROUTE to a verdict that type: fix, redesign, reject
 */
#include "base/path.h"
#include "base/sys.h"
#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/handoff.h"
#include "context/state_dir.h"
#include "context/status_line.h"
#include "manager/role_process.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM_PHASE "room"

/* One attempt of an agent, while its files are written. */
struct agent_files {
    struct role_process *p;
    const struct role_input *in;
    const struct life_state *state;
    const char *phase; /* the role as a phase's name */
    struct agent agent;
};

static const struct life_state *
role_state(const struct role_process *p)
{
    return &p->task.lifecycle->states[p->task.state];
}

/* "Game_Engineer" is the phase game-engineer. */
static char *
phase_name(struct arena *a, const char *role)
{
    char *name = arena_dup(a, role, strlen(role));
    size_t n = 0;

    for (const char *c = role; name && *c; c++) {
        char x = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
        if (x != '-' || (n && name[n - 1] != '-'))
            name[n++] = x;
    }
    if (name)
        name[n] = '\0';
    return name && state_dir_is_phase_name(name) ? name : arena_dup(a, "role", 4);
}

static bool
is_gate(const struct life_state *s)
{
    return s->type != LIFE_WORK;
}

/* A path below the attempt's directory, in its arena. */
static char *
below(struct role_process *p, const char *a, const char *b, const char *c)
{
    struct buf path = { 0 };
    char *kept = NULL;

    buf_addf(&path, "%s/%s%s%s", p->dir, a, b, c);
    if (!buf_failed(&path))
        kept = arena_dup(&p->arena, path.p, path.len);
    buf_release(&path);
    return kept;
}

static char *
channel_of(struct role_process *p, const char *from, const char *to)
{
    char name[2 * PATH_NAME_MAX + 8];

    snprintf(name, sizeof name, "%.64s--%.64s", from, to);
    return below(p, "channels/", name, "");
}

/* ---- the role's text ---- */

static enum status
read_role_file(const char *dir, const char *role, struct buf *to)
{
    struct buf path = { 0 };

    buf_addf(&path, "%s/roles/%s.md", dir, role);
    enum status s = buf_status(&path, "the path", NULL);
    if (!s)
        s = path_read_file(AT_FDCWD, path.p, to, NULL);
    buf_release(&path);
    return s;
}

/* roles/<name>.md of .cliq, else of the project, else one sentence. */
static const char *
role_text(struct role_process *p, const struct life_state *s)
{
    const struct rooms *r = p->task.rooms;
    struct buf text = { 0 };

    if (!(r->state_dir && read_role_file(r->state_dir, s->role, &text) == ST_OK) &&
        read_role_file(r->project_dir, s->role, &text) != ST_OK) {
        buf_reset(&text);
        buf_addf(&text, "You are %s. %s\n", s->role,
                 s->type == LIFE_WORK
                     ? "Do the work that the last message asks for. Your answer is "
                       "read by the reviewer: what you changed, and how to test it."
                 : s->type == LIFE_TRIAGE
                     ? "Decide how the work goes on."
                     : "Review the work against the task. Say what is wrong, or that it passes.");
    }
    const char *kept = arena_dup(&p->arena, text.p ? text.p : "", text.len);
    buf_release(&text);
    return kept;
}

/* ---- the files ---- */

static enum status
write_texts(struct agent_files *f, struct err *e)
{
    struct role_process *p = f->p;
    struct buf brief = { 0 };
    struct handoff talk = { .phase_type = "standard",
                            .phase = ROOM_PHASE,
                            .agent = "cliq",
                            .text = f->in->talk->p ? f->in->talk->p : "",
                            .text_len = f->in->talk->len };
    char *channel = below(p, "channels/" ROOM_PHASE "--", f->phase, "");
    int dir = -1, signals = -1;
    enum status s = path_open_dir(p->dir, false, &dir, e);

    if (!s)
        s = path_open_dir_at(dir, "signals", true, &signals, e);
    if (!s && state_dir_read_at(p->task.room_dir, "brief.md", &brief, NULL) != ST_OK)
        buf_adds(&brief, p->task.config->task);
    if (!s)
        s = buf_status(&brief, "the brief", e);
    if (!s)
        s = state_dir_replace_at(dir, "req_spec.md", brief.p ? brief.p : "", brief.len, e);
    if (!s)
        s = channel ? handoff_write(channel, &talk, e) : err_nomem(e);
    if (signals >= 0)
        close(signals);
    if (dir >= 0)
        close(dir);
    buf_release(&brief);
    return s;
}

/* Where the work may be sent back to: the worker, or the verdicts of a triage. */
static enum status
write_targets(struct agent_files *f, struct buf *to, struct err *e)
{
    struct role_process *p = f->p;
    const char **words, **types;
    size_t n = role_verdicts(&p->arena, f->state, &words, &types);
    const char *worker = phase_name(&p->arena, lifecycle_worker(p->task.lifecycle));

    if (f->state->type == LIFE_TRIAGE)
        json_key_strs(to, "route_targets", types, n);
    else
        json_key_strs(to, "route_targets", &worker, 1);
    json_key(to, "check_results");
    buf_adds(to, "[]");
    json_key_int(to, "iteration", (int64_t)p->task.visit);
    json_key_int(to, "max_iterations", (int64_t)p->task.visit + p->task.config->max_retries);
    return worker ? ST_OK : err_nomem(e);
}

/* Where its handoffs go: to the room, and for a gate to each route target. */
static enum status
list_handoff_dirs(struct agent_files *f, struct agent_message *m, struct err *e)
{
    struct role_process *p = f->p;
    const char **words, **types;
    size_t n = role_verdicts(&p->arena, f->state, &words, &types);
    const char *worker = phase_name(&p->arena, lifecycle_worker(p->task.lifecycle));

    m->handoff_dirs = arena_alloc(&p->arena, (n + 2) * sizeof *m->handoff_dirs);
    if (!m->handoff_dirs || !worker)
        return err_nomem(e);
    m->handoff_dirs[m->n_handoff_dirs++] = channel_of(p, f->phase, ROOM_PHASE);
    if (f->state->type == LIFE_REVIEW)
        m->handoff_dirs[m->n_handoff_dirs++] = channel_of(p, f->phase, worker);
    for (size_t i = 0; f->state->type == LIFE_TRIAGE && i < n; i++)
        m->handoff_dirs[m->n_handoff_dirs++] = channel_of(p, f->phase, types[i]);
    for (size_t i = 0; i < m->n_handoff_dirs; i++)
        if (!m->handoff_dirs[i])
            return err_nomem(e);
    return ST_OK;
}

static enum status
write_message(struct agent_files *f, const char *path, struct err *e)
{
    struct role_process *p = f->p;
    const struct room_config *c = p->task.config;
    struct buf text = { 0 };
    struct agent_message m = { .type = "phase",
                               .agent = f->agent.name,
                               .instance_id = c->room,
                               .team_name = c->room,
                               .req_key = c->ref,
                               .project_dir = p->task.rooms->project_dir,
                               .work_dir = c->working_dir,
                               .signal_dir = below(p, "signals", "", ""),
                               .settings = f->agent.settings,
                               .state_dir = p->dir,
                               .phase_type = is_gate(f->state) ? "gate" : "standard",
                               .phase = f->phase,
                               .attempt_id = p->token };
    enum status s = m.signal_dir ? list_handoff_dirs(f, &m, e) : err_nomem(e);

    if (s)
        return s;
    agent_message_begin(&text, &m);
    json_key_int(&text, "attempt", p->task.n);
    json_key_int(&text, "timeout_ms", c->timeout_ms);
    json_key_str(&text, "role", role_text(p, f->state));
    json_key_str(&text, "room", c->room);
    if (is_gate(f->state))
        s = write_targets(f, &text, e);
    if (!s)
        s = agent_message_end(&text, e);
    int dir = -1;
    if (!s)
        s = path_open_dir(p->dir, false, &dir, e);
    if (!s)
        s = state_dir_replace_at(dir, path, text.p, text.len, e);
    if (dir >= 0)
        close(dir);
    buf_release(&text);
    return s;
}

enum status
role_agent_write(struct role_process *p, const struct role_input *in, struct proc_spec *spec,
                 struct err *e)
{
    struct agent_files f = { .p = p, .in = in, .state = role_state(p) };
    struct env vars = { .arena = &p->arena };
    const struct role_task *t = &p->task;
    enum status s = players_agent(t->players, &p->arena, t->player.name, &f.agent, e);

    if (!s && f.agent.is_patient)
        s = err_set(e, ST_INVALID,
                    "the agent %s waits for people: leave roles.%s.agent out, and a person plays "
                    "the role by posting into the room",
                    t->player.name, f.state->role);
    if (!s && !(f.phase = phase_name(&p->arena, f.state->role)))
        s = err_nomem(e);
    if (!s)
        s = write_texts(&f, e);
    if (!s)
        s = write_message(&f, "agent.json", e);
    if (s)
        return s;
    env_base(&vars, &f.agent);
    env_add(&vars, "CLIQ_PROJECT_DIR", t->rooms->project_dir);
    env_add(&vars, "CLIQ_STATE_DIR", p->dir);
    env_add(&vars, "CLIQ_PHASE", f.phase);
    env_add(&vars, "WARROOMS_DIR", t->rooms->base);
    env_add(&vars, "CLIQ_ROOM", t->config->room);
    env_add(&vars, "CLIQ_ROLE", f.state->role);
    env_add(&vars, "CLIQ_REF", t->config->ref);
    env_add(&vars, "CLIQ_ATTEMPT", p->token);
    spec->argv = f.agent.argv;
    spec->env = vars.v;
    spec->in = below(p, "agent.json", "", "");
    return vars.is_starved || !spec->in ? err_nomem(e) : ST_OK;
}

/* ---- its end ---- */

/* The line that ended its phase; false: there is none. */
static bool
read_end(struct role_process *p, const char *phase, struct status_line *out)
{
    struct log_reader r;
    struct log_record rec;
    bool is_found = false;
    char *path = below(p, "signals/", phase, ".jsonl");
    int fd = path ? SYS_RETRY(sys->openat(AT_FDCWD, path,
                                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0))
                  : -1;

    if (fd < 0)
        return false;
    log_reader_init(&r, fd, 0);
    while (!is_found && log_next(&r, &rec)) {
        char *kept = arena_dup(&p->arena, rec.text, rec.len);
        struct json *line;
        if (!kept || !json_parse(&p->arena, kept, rec.len, &line, NULL))
            break;
        *out = status_line_read(&p->arena, line);
        is_found = out->status == LINE_COMPLETE || out->status == LINE_ERROR;
    }
    log_reader_release(&r);
    close(fd);
    return is_found;
}

static void
add_json_text(struct buf *to, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        buf_add(to, v->text.p, v->text.len);
}

static const char *
work_result(struct role_process *p, const char *phase, const struct status_line *end,
            struct buf *body)
{
    struct handoff h;
    char *channel = channel_of(p, phase, ROOM_PHASE);

    if (channel && handoff_read(&p->arena, channel, &h, NULL) == ST_OK) {
        if (h.text && h.text_len)
            buf_add(body, h.text, h.text_len);
        else
            handoff_render(body, &h);
    } else {
        add_json_text(body, json_get(end->result, "summary"));
    }
    return "done";
}

static const char *
gate_result(struct role_process *p, const struct status_line *end, struct buf *body)
{
    const struct life_state *s = role_state(p);
    const struct json *verdict = json_get(end->result, "verdict");
    const char *outcome = json_dup_text(&p->arena, json_get(verdict, "outcome"));
    const char *target = json_dup_text(&p->arena, json_get(verdict, "target"));
    const char *type = !outcome                           ? NULL
                       : strcmp(outcome, "PASS") == 0     ? "pass"
                       : strcmp(outcome, "ESCALATE") == 0 ? "escalate"
                       : s->type == LIFE_TRIAGE           ? target
                                                          : "fail";

    add_json_text(body, json_get(verdict, "reason"));
    for (size_t i = 0; type && i < s->n_signals; i++)
        if (strcmp(s->signals[i].type, type) == 0)
            return s->signals[i].type;
    struct buf said = *body;
    *body = (struct buf){ 0 };
    buf_addf(body, "%s gave no verdict that the state %s answers to (%s)", s->role, s->name,
             outcome ? outcome : "none");
    if (said.len)
        buf_addf(body, "\n\n%s", said.p);
    buf_release(&said);
    return "error";
}

const char *
role_agent_result(struct role_process *p, struct buf *body)
{
    const struct life_state *s = role_state(p);
    const char *phase = phase_name(&p->arena, s->role);
    struct status_line end;

    if (!phase || !read_end(p, phase, &end)) {
        struct buf log = { 0 };
        char path[96];
        buf_addf(body, "the agent %s of %s ended without a word", p->task.player.name, s->role);
        snprintf(path, sizeof path, "%s/log", p->name);
        if (path_read_file(p->task.room_dir, path, &log, NULL) == ST_OK && log.len) {
            size_t from = log.len > 2000 ? log.len - 2000 : 0;
            buf_adds(body, "\n\n");
            buf_add(body, log.p + from, log.len - from);
        }
        buf_release(&log);
        return NULL;
    }
    if (end.status == LINE_ERROR) {
        buf_adds(body, end.error ? end.error : "the agent failed and did not say why");
        return "error";
    }
    return is_gate(s) ? gate_result(p, &end, body) : work_result(p, phase, &end, body);
}
