#include "run/notify.h"

#include "base/path.h"
#include "proc/child.h"
#include "run/attempt_files.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One delivery. */
struct notify_job {
    struct notify_job *next;
    struct arena arena;
    const char *agent, *channel, *id, *event; /* channel NULL: none */
    const struct json *notification;
    size_t phase;
    struct child child;
};

/* How one is stopped (finish.c). */
static const struct child_spec ladder = { .grace_ms = 2000, .kill_ms = 2000 };

struct notifier {
    struct notifier_host host;
    struct notify_job *waiting, **last; /* oldest first */
    size_t n_waiting;
    struct notify_job *running;
    size_t n_running;
    bool is_full; /* that some were dropped was said */
};

struct notifier *
notifier_new(const struct notifier_host *host)
{
    struct notifier *n = calloc(1, sizeof *n);

    if (n) {
        n->host = *host;
        n->last = &n->waiting;
    }
    return n;
}

static void
job_free(struct notify_job *j)
{
    child_release(&j->child);
    arena_release(&j->arena);
    free(j);
}

static void
jobs_free(struct notify_job *j)
{
    while (j) {
        struct notify_job *next = j->next;
        job_free(j);
        j = next;
    }
}

void
notifier_free(struct notifier *n)
{
    if (!n)
        return;
    jobs_free(n->waiting);
    jobs_free(n->running);
    free(n);
}

/* "notify slack:ops failed (on_complete): why" */
static void
fail(const struct notifier *n, const struct notify_job *j, const char *why)
{
    struct err text;

    err_say(&text, "notify %s%s%s failed (%s): %s", j->agent, j->channel ? ":" : "",
            j->channel ? j->channel : "", j->event, why);
    n->host.on_failure(n->host.ctx, j->phase, text.text);
}

/* ---- what is to be told ---- */

/* An object member by member: those of `more` follow, and do not replace. */
static void
write_rest(struct buf *to, const struct json *more, const char *const *taken)
{
    json_each (v, more) {
        bool is_taken = false;
        for (const char *const *t = taken; *t; t++)
            is_taken = is_taken || (strlen(*t) == v->key_len && !memcmp(*t, v->key, v->key_len));
        if (is_taken)
            continue;
        json_sep(to);
        json_write_str(to, v->key, v->key_len);
        buf_addc(to, ':');
        json_write(to, v);
    }
}

/* Text that is part of an id, and so of a file name. */
static void
add_id_part(struct buf *to, const char *text)
{
    for (; *text; text++) {
        char c[2] = { *text, '\0' };
        buf_addc(to, path_is_name(c) || *text == '-' || *text == '.' ? *text : '_');
    }
}

/* Queues a delivery; `text` is the notification as JSON. */
static void
enqueue(struct notifier *n, const char *agent, const char *event, const struct buf *id,
        const struct buf *text, size_t phase)
{
    struct notify_job *j = calloc(1, sizeof *j);
    struct json *notification = NULL;

    if (j && !buf_failed(id) && !buf_failed(text)) {
        const char *kept = arena_dup(&j->arena, text->p, text->len);
        j->agent = arena_dup(&j->arena, agent, strlen(agent));
        j->event = arena_dup(&j->arena, event, strlen(event));
        j->id = arena_dup(&j->arena, id->p, id->len);
        if (kept)
            json_parse(&j->arena, kept, text->len, &notification, NULL);
        j->notification = notification;
        j->channel = json_dup_text(&j->arena, json_get(notification, "channel"));
        j->phase = phase;
    }
    if (!j || !j->agent || !j->event || !j->id || !notification) {
        n->host.on_note(n->host.ctx, phase, "a notification was dropped: out of memory");
        if (j)
            job_free(j);
    } else if (n->n_waiting >= NOTIFY_WAITING_MAX) {
        if (!n->is_full)
            fail(n, j, "too many wait: this one and others are dropped");
        n->is_full = true;
        job_free(j);
    } else {
        n->is_full = false;
        *n->last = j;
        n->last = &j->next;
        n->n_waiting++;
    }
}

static char *
text_of(const struct json *v)
{
    return json_is(v, JSON_STRING) ? strndup(v->text.p, v->text.len) : NULL;
}

void
notifier_line(struct notifier *n, size_t phase, unsigned attempt, unsigned k,
              const struct json *result)
{
    static const char *const taken[] = { "event", "channel", "phase_name", NULL };
    const char *name = n->host.plan->team.phases[phase].name;
    struct buf path = { 0 };
    char *agent = text_of(json_get(result, "agent")), *event = text_of(json_get(result, "event"));
    struct buf text = { 0 }, id = { 0 };

    if (!agent || !path_is_name(agent) || !event) {
        n->host.on_note(n->host.ctx, phase, "a notify line needs an agent and an event");
    } else {
        const struct json *channel = json_get(result, "channel");
        json_open(&text, '{');
        json_key_str(&text, "event", event);
        json_key(&text, "channel");
        json_write(&text, json_is(channel, JSON_STRING) ? channel : NULL);
        plan_phase_path(n->host.plan, phase, &path);
        json_key_str(&text, "phase_name", buf_failed(&path) ? name : path.p);
        if (json_is(json_get(result, "payload"), JSON_OBJECT))
            write_rest(&text, json_get(result, "payload"), taken);
        json_close(&text, '}');
        buf_addf(&id, "%s.%u.%u", name, attempt, k);
        enqueue(n, agent, event, &id, &text, phase);
    }
    free(agent);
    free(event);
    buf_release(&path);
    buf_release(&text);
    buf_release(&id);
}

/* One receiver: "agent", "agent:channel", or {agent, channel, …} with more to tell. */
static void
tell(struct notifier *n, const struct notify_event *ev, const struct json *to, size_t index)
{
    static const char *const taken[] = { "agent",      "channel",   "event",   "phase_name",
                                         "phase_type", "iteration", "outcome", "reason",
                                         "next",       NULL };
    const struct team *t = &n->host.plan->team;
    char *ref = text_of(json_is(to, JSON_OBJECT) ? json_get(to, "agent") : to);
    char *channel = text_of(json_get(to, "channel")), *colon = ref ? strchr(ref, ':') : NULL;
    struct buf text = { 0 }, id = { 0 }, path = { 0 };

    if (colon)
        *colon++ = '\0';
    if (!ref || !path_is_name(ref)) {
        n->host.on_note(n->host.ctx, ev->phase,
                        "a notification names no agent: write \"agent:channel\"");
    } else {
        const char *where = channel ? channel : colon && *colon ? colon : NULL;
        json_open(&text, '{');
        json_key_str(&text, "event", ev->name);
        json_key(&text, "channel");
        if (where)
            json_write_str(&text, where, strlen(where));
        else
            json_write(&text, NULL);
        if (ev->phase < t->n_phases) {
            plan_phase_path(n->host.plan, ev->phase, &path);
            json_key_str(&text, "phase_name",
                         buf_failed(&path) ? t->phases[ev->phase].name : path.p);
            json_key_str(&text, "phase_type", phase_type_name(t->phases[ev->phase].type));
        }
        if (ev->iteration)
            json_key_int(&text, "iteration", ev->iteration);
        json_key_str(&text, "outcome", ev->outcome);
        json_key_str(&text, "reason", ev->reason);
        json_key_str(&text, "next", ev->next);
        if (json_is(to, JSON_OBJECT))
            write_rest(&text, to, taken);
        json_close(&text, '}');
        add_id_part(&id, ev->name);
        if (ev->phase < t->n_phases)
            buf_addf(&id, ".%s", t->phases[ev->phase].name);
        buf_addf(&id, ".%u.%zu", ev->number, index);
        enqueue(n, ref, ev->name, &id, &text, ev->phase);
    }
    free(ref);
    free(channel);
    buf_release(&path);
    buf_release(&text);
    buf_release(&id);
}

/* `base` keeps the ids of two lists for one event apart. */
static void
tell_all(struct notifier *n, const struct notify_event *ev, const struct json *to, size_t base)
{
    size_t i = base;

    if (json_is(to, JSON_ARRAY)) {
        json_each (one, to)
            tell(n, ev, one, i++);
    } else if (to && !json_is(to, JSON_NULL)) {
        tell(n, ev, to, i);
    }
}

void
notifier_run_event(struct notifier *n, const struct notify_event *ev)
{
    tell_all(n, ev, json_get(settings_get(&n->host.plan->settings, "notifications"), ev->name), 1);
}

void
notifier_phase_event(struct notifier *n, const struct notify_event *ev)
{
    enum { APART = 1000 };
    const struct json *to = json_get(n->host.plan->team.phases[ev->phase].notify, ev->name);
    struct arena arena = { 0 };
    struct json *expanded = NULL;
    struct err e;

    if (to && attempt_files_receivers(n->host.plan, ev->phase, n->host.run_id, &arena, to,
                                      &expanded, &e)) {
        n->host.on_note(n->host.ctx, ev->phase, e.text);
        expanded = NULL;
    }
    tell_all(n, ev, expanded ? expanded : to, APART);
    arena_release(&arena);
}

/* ---- starting ---- */

static bool
launch(struct notifier *n, struct notify_job *j)
{
    struct plan *p = n->host.plan;
    struct agent_scope scope = { p->state.state_dir, &p->settings, p->agents_json };
    struct child_spec spec = ladder;
    struct agent agent;
    struct err e;
    enum status s = agent_resolve(&j->arena, &scope, j->agent, &agent, &e);

    if (!s)
        s = attempt_files_notify(p, &agent, j->id, j->notification, n->host.run_id, &j->arena,
                                 &spec.proc, &spec.token, &e);
    if (!s) {
        settings_add_env_secrets(n->host.mask, spec.proc.env);
        s = mask_build(n->host.mask, &e);
    }
    if (!s)
        s = child_start(&j->child, &spec, &e);
    if (s && s != ST_CONFLICT) /* that one was delivered before */
        fail(n, j, e.text);
    return !s;
}

void
notifier_pump(struct notifier *n)
{
    while (n->waiting && n->n_running < NOTIFY_AT_A_TIME) {
        struct notify_job *j = n->waiting;
        n->waiting = j->next;
        if (!n->waiting)
            n->last = &n->waiting;
        n->n_waiting--;
        if (launch(n, j)) {
            j->next = n->running;
            n->running = j;
            n->n_running++;
        } else {
            job_free(j);
        }
    }
}

/* ---- ending ---- */

/* What it said last, in its log. */
static void
tell_end(const struct notifier *n, const struct notify_job *j)
{
    int how = j->child.wait_status;
    struct buf why = { 0 };
    size_t begin;

    if (WIFSIGNALED(how))
        buf_addf(&why, "was killed by signal %d", WTERMSIG(how));
    else
        buf_addf(&why, "exit code %d", WEXITSTATUS(how));
    buf_adds(&why, ": ");
    begin = why.len;
    attempt_files_last_words(n->host.plan, j->agent, j->id, n->host.mask, &why);
    if (!buf_failed(&why) && why.len == begin)
        buf_cut(&why, begin - 2);
    /* what a built-in agent says is a sentence: "cliq: slack does not know …" */
    bool is_sentence = !buf_failed(&why) && strncmp(why.p + begin, "cliq: ", 6) == 0;
    if (how != 0)
        fail(n, j, buf_failed(&why) ? "out of memory" : is_sentence ? why.p + begin + 6 : why.p);
    buf_release(&why);
}

/* Forgets those that are gone. What an adopted one was about is not known. */
static void
step(struct notifier *n)
{
    for (struct notify_job **at = &n->running; *at;) {
        struct notify_job *j = *at;
        if (child_step(&j->child) != CHILD_GONE) {
            at = &j->next;
            continue;
        }
        if (j->child.has_status && j->agent)
            tell_end(n, j);
        *at = j->next;
        n->n_running--;
        job_free(j);
    }
}

bool
notifier_exited(struct notifier *n, pid_t pid, int wait_status)
{
    for (struct notify_job *j = n->running; j; j = j->next)
        if (j->child.id.pid == pid && !j->child.has_exited) {
            child_reaped(&j->child, wait_status);
            step(n);
            return true;
        }
    return false;
}

static void
adopt(struct notifier *n, const char *dir, const char *name)
{
    struct notify_job *j = calloc(1, sizeof *j);
    struct child_spec spec = ladder;
    struct buf path = { 0 }, token = { 0 };
    struct proc_id id;

    buf_addf(&path, "%s/%s", dir, name);
    buf_addf(&token, "%s/%s", n->host.run_id, name);
    if (j && !buf_failed(&path) && !buf_failed(&token) &&
        proc_read_id(path.p, &id, NULL) == ST_OK && proc_alive(&id) == PROC_ALIVE &&
        (spec.token = arena_dup(&j->arena, token.p, token.len))) {
        child_adopt(&j->child, &spec, &id);
        j->phase = SIZE_MAX;
        j->next = n->running;
        n->running = j;
        n->n_running++;
    } else if (j) {
        job_free(j);
    }
    buf_release(&path);
    buf_release(&token);
}

void
notifier_adopt(struct notifier *n)
{
    struct buf dir = { 0 };

    state_dir_path(&n->host.plan->state, &dir, "run/attempts");
    DIR *d = buf_failed(&dir) ? NULL : opendir(dir.p);
    for (struct dirent *x; d && (x = readdir(d));)
        if (strncmp(x->d_name, "_notify-", 8) == 0)
            adopt(n, dir.p, x->d_name);
    if (d)
        closedir(d);
    buf_release(&dir);
}

bool
notifier_is_idle(struct notifier *n)
{
    step(n);
    return !n->waiting && !n->running;
}

void
notifier_stop(struct notifier *n, int signo)
{
    jobs_free(n->waiting);
    n->waiting = NULL;
    n->last = &n->waiting;
    n->n_waiting = 0;
    for (struct notify_job *j = n->running; j; j = j->next)
        if (signo == SIGKILL)
            child_kill(&j->child);
        else
            child_stop(&j->child);
}

size_t
notifier_count(const struct notifier *n)
{
    return n->n_running;
}

size_t
notifier_pids(const struct notifier *n, pid_t *to)
{
    size_t k = 0;

    for (const struct notify_job *j = n->running; j; j = j->next)
        to[k++] = j->child.id.pid;
    return k;
}
