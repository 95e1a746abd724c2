#define _GNU_SOURCE
#include "wake/wake_supervisor.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/state_dir.h"
#include "context/status_line.h"
#include "hub/hub.h"
#include "log/log.h"
#include "proc/child.h"
#include "team/trust.h"
#include "wake/life_cycle.h"
#include "wake/wake.h"
#include "wake/wake_chain.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    GRACE_MS = 10000,
    REST_MS = 1000,      /* after the first failure, then doubled */
    LOG_BYTES = 1 << 20, /* then it becomes log.1 */
    CHAIN_BYTES = 1 << 16,
};

struct attendant {
    const char *config; /* absolute */
    const char *identity;
    int dir; /* <config>/wake/<id> */
    int lock;
    struct hub *hub;
};

enum wake_action
wake_supervisor_decide(const struct wake_facts *f, int64_t *rest_ms)
{
    *rest_ms = 0;
    if (!f->n_waiting || f->is_hopeless)
        return WAKE_LEAVE;
    if (f->failures >= WAKE_TRIES)
        return WAKE_SET_ASIDE;
    if (!f->failures || f->has_rested)
        return WAKE_START;
    *rest_ms = (int64_t)REST_MS << (f->failures - 1);
    return WAKE_REST;
}

/* Standard error is the log. */
static void
say(const struct attendant *t, const char *fmt, ...)
{
    char at[CLOCK_ISO_SIZE], text[600];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    clock_iso_ms(at, clock_wall_ns() / 1000000);
    fprintf(stderr, "%s cliq: %s: %s\n", at, t->identity, text);
}

static char *
below(const struct attendant *t, struct arena *a, const char *name)
{
    size_t n = strlen(t->config) + strlen(t->identity) + strlen(name) + 16;
    char *path = arena_alloc(a, n);

    if (path)
        snprintf(path, n, "%s/wake/%s/%s", t->config, t->identity, name);
    return path;
}

/* ---- the chain ---- */

/* The `chain` file of any agent. */
static const char *
read_chain(void *ctx, struct arena *a, const char *sender)
{
    const struct attendant *t = ctx;
    struct buf path = { 0 }, text = BUF_MAX(CHAIN_BYTES);
    const char *out = NULL;

    buf_addf(&path, "%s/wake/%s/chain", t->config, sender);
    if (!buf_failed(&path) && path_read_file(AT_FDCWD, path.p, &text, NULL) == ST_OK && text.len)
        out = arena_dup(a, text.p, text.len);
    buf_release(&path);
    buf_release(&text);
    return out;
}

/* A start (c) or an end (NULL) after what the log has now. Without it a chain looks shorter. */
static void
note_chain(struct attendant *t, const struct wake_chain *c)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct err e;

    wake_chain_add(&text, read_chain(t, &a, t->identity), hub_last_seq(t->hub), c);
    enum status s = buf_status(&text, "the chain", &e);
    if (!s)
        s = state_dir_replace_at(t->dir, "chain", text.p, text.len, &e);
    if (s)
        say(t, "%s", e.text);
    buf_release(&text);
    arena_release(&a);
}

/* ---- what the hub is told ---- */

static enum status
submit(struct attendant *t, const struct hub_request *r, size_t n, struct arena *a, struct err *e)
{
    struct hub_reply replies[4];
    enum status s = ST_OK;

    hub_submit(t->hub, r, n, a, replies);
    for (size_t i = 0; !s && i < n; i++)
        if (replies[i].status >= 300)
            s = err_set(e, ST_IO, "%s: %s", hub_ops[r[i].op].name, replies[i].message);
    return s;
}

static void
tell_wake(struct attendant *t)
{
    struct arena a = { 0 };
    struct hub_request r[LIFE_CYCLE_MAX];
    struct err e;

    if (submit(t, r, life_cycle_wake(&a, t->identity, r), &a, &e))
        say(t, "%s", e.text);
    arena_release(&a);
}

/* It ended; with upto, also that it was told so far. All of it or nothing, in one round. */
static enum status
tell_sleep(struct attendant *t, uint64_t upto, struct err *e)
{
    struct arena a = { 0 };
    char woken[200];
    size_t n = 0;
    struct hub_request r[1 + LIFE_CYCLE_MAX];

    snprintf(woken, sizeof woken, "{\"identity\":\"%s\",\"upto\":%" PRIu64 "}", t->identity, upto);
    if (upto)
        r[n++] = life_cycle_request(&a, t->identity, HUB_WOKEN, woken);
    n += life_cycle_sleep(&a, t->identity, r + n);
    enum status s = submit(t, r, n, &a, e);
    arena_release(&a);
    return s;
}

static void
write_alert(struct buf *to, const struct attendant *t, const struct wake_chain *c)
{
    struct buf says = { 0 };

    buf_addf(
        &says,
        "Agents wake each other in a loop: %s would have been start %u of a chain without a "
        "person or a task (the one before it: %s). It was not started; what waited for it stays "
        "in its inbox. Change the subscriptions of one of them (cliq signal subscriptions).",
        t->identity, c->depth, c->from ? c->from : "?");
    json_open(to, '{');
    json_key_str(to, "signal_type", "alert");
    json_key_strn(to, "content", says.p ? says.p : "", says.len);
    json_key_raw(to, "urgency", "0.9", 3);
    json_close(to, '}');
    buf_release(&says);
}

/* The chain ends here: its signals stay in the inbox, and wake nothing more. */
static enum status
end_chain(struct attendant *t, const struct hub_batch *b, const struct wake_chain *c, struct err *e)
{
    struct arena a = { 0 };
    struct buf alert = { 0 };
    char woken[200];
    struct hub_request r[2];
    size_t n = 0;

    snprintf(woken, sizeof woken, "{\"identity\":\"%s\",\"upto\":%" PRIu64 "}", t->identity,
             b->upto);
    r[n++] = life_cycle_request(&a, t->identity, HUB_WOKEN, woken);
    if (!c->is_echo) {
        write_alert(&alert, t, c);
        if (!buf_failed(&alert))
            r[n++] = life_cycle_request(&a, t->identity, HUB_EMIT, alert.p);
    }
    say(t, c->is_echo
               ? "not started by the life-cycle signals of agents that only such signals woke"
               : "not started: agents wake each other in a loop");
    enum status s = submit(t, r, n, &a, e);
    buf_release(&alert);
    arena_release(&a);
    return s;
}

/* ---- what the agent is told ---- */

/* The project that a directory is in: opens its .cliq; -1: it is in none. */
static int
open_project(const char *dir, struct buf *path)
{
    int fd = -1;

    for (size_t n = strlen(dir); fd < 0; n--) {
        buf_reset(path);
        buf_add(path, dir, n);
        buf_adds(path, "/.cliq");
        if (!buf_failed(path) && path_open_dir(path->p, false, &fd, NULL) == ST_OK &&
            faccessat(fd, "workflow.yml", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
            close(fd);
            fd = -1;
        }
        while (n > 0 && dir[n - 1] != '/')
            n--;
        if (n <= 1)
            break;
    }
    return fd;
}

/* The agent as its directory knows it: a project's own agents only when they are trusted. */
static enum status
find_agent(const char *name, const char *in, struct arena *a, struct settings *settings,
           struct agent *agent, struct err *e)
{
    struct buf path = { 0 }, text = { 0 };
    struct agent_scope scope = { .settings = settings };
    struct json *agents = NULL;
    int dir = open_project(in, &path);
    enum status s = buf_status(&path, "the path", e);

    if (!s && dir >= 0) {
        scope.state_dir = arena_dup(a, path.p, path.len);
        s = scope.state_dir ? trust_check(dir, path.p, e) : err_nomem(e);
        if (!s && state_dir_read_at(dir, "agents.json", &text, NULL) == ST_OK) {
            const char *kept = arena_dup(a, text.p, text.len);
            s = kept ? json_parse_named(a, "agents.json", kept, text.len, &agents, e) : ST_IO;
        }
        scope.agents_json = agents;
        if (!s)
            s = settings_load(settings, scope.state_dir, e);
    } else if (!s) { /* no project: what this user has installed */
        s = settings_load(settings, NULL, e);
    }
    if (!s)
        s = agent_resolve(a, &scope, name, agent, e);
    if (dir >= 0)
        close(dir);
    buf_release(&path);
    buf_release(&text);
    return s;
}

enum status
wake_supervisor_check(const char *agent, const char *dir, struct err *e)
{
    struct settings settings = { 0 };
    struct arena a = { 0 };
    struct agent found;
    enum status s = find_agent(agent, dir, &a, &settings, &found, e);

    settings_release(&settings);
    arena_release(&a);
    return s;
}

static enum status
write_message(const struct attendant *t, const struct hub_batch *b, const struct agent *agent,
              struct arena *a, struct err *e)
{
    struct buf text = { 0 };
    char *home = below(t, a, "");
    char id[32];

    if (!home)
        return err_nomem(e);
    home[strlen(home) - 1] = '\0'; /* without its last slash */
    struct agent_message m = { .type = "notify",
                               .agent = agent->name,
                               .instance_id = t->identity,
                               .project_dir = b->dir,
                               .signal_dir = home,
                               .settings = agent->settings };
    snprintf(id, sizeof id, "%" PRIu64, b->upto);
    agent_message_begin(&text, &m);
    json_key_str(&text, "id", id);
    json_key_str(&text, "identity", t->identity);
    json_key_int(&text, "upto", (int64_t)b->upto);
    json_key_json(&text, "notifications", b->list);
    enum status s = agent_message_end(&text, e);
    if (!s)
        s = state_dir_replace_at(t->dir, "message.json", text.p, text.len, e);
    buf_release(&text);
    return s;
}

/* ---- its life ---- */

/* How its agent is supervised; the token lives in the arena. */
static struct child_spec
supervised(const struct attendant *t, struct arena *a)
{
    char *token = arena_alloc(a, strlen(t->identity) + 8);

    if (token)
        sprintf(token, "wake/%s", t->identity);
    return (struct child_spec){ .token = token, .grace_ms = GRACE_MS, .kill_ms = GRACE_MS };
}

static enum status
spawn(const struct attendant *t, const struct hub_batch *b, const struct agent *agent,
      struct arena *a, struct child *c, struct err *e)
{
    struct env vars = { .arena = a };
    struct child_spec spec = supervised(t, a);

    spec.proc = (struct proc_spec){ .argv = agent->argv,
                                    .dir = b->dir,
                                    .in = below(t, a, "message.json"),
                                    .out = below(t, a, "log"),
                                    .attempt_file = below(t, a, "attempt"),
                                    .is_woken = true };

    env_base(&vars, agent);
    env_add(&vars, "CLIQ_HOME", t->config);
    env_add(&vars, "CLIQ_IDENTITY", t->identity); /* so its own signals do not wake it */
    env_add(&vars, "CLIQ_WAKE", t->identity);
    env_add(&vars, "CLIQ_PROJECT_DIR", b->dir);
    if (spec.token)
        env_add(&vars, "CLIQ_ATTEMPT", spec.token);
    spec.proc.env = vars.v;
    if (vars.is_starved || !spec.token || !spec.proc.in || !spec.proc.out ||
        !spec.proc.attempt_file)
        return err_nomem(e);
    return child_start(c, &spec, e);
}

/* Waits for its end; an agent that runs for too long is stopped. False: it was. */
static bool
await(const struct attendant *t, struct child *c)
{
    if (child_wait(c, WAKE_RUN_MS))
        return true;
    say(t, "its agent runs for more than %d minutes, and is stopped", WAKE_RUN_MS / 60000);
    child_stop(c);
    child_wait(c, -1);
    return false;
}

/* Did it end well? *e says how else. */
static bool
judge(const struct child *c, bool is_in_time, struct err *e)
{
    if (!c->has_status)
        err_say(e, "the exit of its agent was not seen");
    else if (!is_in_time)
        err_say(e, "its agent took too long");
    else if (WIFSIGNALED(c->wait_status))
        err_say(e, "its agent was killed by signal %d", WTERMSIG(c->wait_status));
    else if (WEXITSTATUS(c->wait_status))
        err_say(e, "its agent failed with exit code %d", WEXITSTATUS(c->wait_status));
    else
        return true;
    return false;
}

static void
keep_log_small(const struct attendant *t)
{
    struct stat st;

    if (sys->fstatat(t->dir, "log", &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_size < LOG_BYTES)
        return;
    sys->renameat(t->dir, "log", t->dir, "log.1");
    int fd = SYS_RETRY(
        sys->openat(t->dir, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
}

/* Answers of earlier starts are not those of this one. */
static void
forget_answers(const struct attendant *t)
{
    int fd = SYS_RETRY(sys->openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *x; d && (x = readdir(d));)
        if (strncmp(x->d_name, "_notify-", 8) == 0)
            unlinkat(t->dir, x->d_name, 0);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* One start, from the wake to the sleep. ST_OK: it was told. ST_FAILED: it was not, and may be
 * later. Anything else: it cannot be started. */
static enum status
start(struct attendant *t, const struct hub_batch *b, const struct wake_chain *chain,
      struct arena *a, struct err *e)
{
    struct settings settings = { 0 };
    struct agent agent;
    struct child c = { 0 };
    enum status s = find_agent(b->agent, b->dir, a, &settings, &agent, e);

    keep_log_small(t);
    if (!s)
        s = write_message(t, b, &agent, a, e);
    if (!s) {
        forget_answers(t);
        unlinkat(t->dir, "attempt", 0);
        note_chain(t, chain);
        tell_wake(t);
        s = spawn(t, b, &agent, a, &c, e);
        bool is_good = !s && judge(&c, await(t, &c), e);
        child_release(&c);
        struct err why;
        enum status told = tell_sleep(t, is_good ? b->upto : 0, &why);
        note_chain(t, NULL);
        if (!s && !is_good)
            s = ST_FAILED;
        if (!s && told)
            s = err_set(e, ST_FAILED, "%s", why.text);
        if (!told) /* else the next one sees by it what is still to be told */
            unlinkat(t->dir, "attempt", 0);
    }
    settings_release(&settings);
    return s;
}

/* ---- what an earlier supervisor left ---- */

/* Is there a complete line among the answers to message.json? *upto: how far that told. */
static bool
was_told(const struct attendant *t, struct arena *a, uint64_t *upto)
{
    struct buf text = { 0 };
    struct json *m = NULL;
    struct log_reader r;
    struct log_record rec;
    int64_t n = 0;
    char name[160];
    bool is_complete = false;

    if (state_dir_read_at(t->dir, "message.json", &text, NULL) == ST_OK)
        json_parse(a, text.p, text.len, &m, NULL);
    const struct json *agent = json_get(m, "agent");
    json_int(json_path(m, "payload.upto"), &n);
    *upto = (uint64_t)n;
    snprintf(name, sizeof name, "_notify-%.*s-%" PRId64 ".jsonl",
             json_is(agent, JSON_STRING) && agent->text.len <= 64 ? (int)agent->text.len : 0,
             json_is(agent, JSON_STRING) ? agent->text.p : "", n);
    buf_release(&text);
    int fd = SYS_RETRY(sys->openat(t->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    if (fd < 0)
        return false;
    log_reader_init(&r, fd, 0);
    while (!is_complete && log_next(&r, &rec)) {
        struct status_line line = status_line_read(a, rec.json);
        if (line.status == LINE_ERROR)
            break;
        is_complete = line.status == LINE_COMPLETE;
    }
    log_reader_release(&r);
    close(fd);
    return is_complete;
}

static void
recover(struct attendant *t)
{
    struct arena a = { 0 };
    struct proc_id id;
    const char *path = below(t, &a, "attempt");
    uint64_t upto = 0;
    struct err e;

    if (path && proc_read_id(path, &id, NULL) == ST_OK) {
        say(t, "an earlier supervisor died; its agent is pid %d", (int)id.pid);
        struct child_spec spec = supervised(t, &a);
        struct child c;
        child_adopt(&c, &spec, &id);
        await(t, &c);
        child_release(&c);
        bool is_told = was_told(t, &a, &upto);
        say(t, is_told ? "it was told" : "its success was not seen: it is told again");
        if (tell_sleep(t, is_told ? upto : 0, &e))
            say(t, "%s", e.text);
        else
            unlinkat(t->dir, "attempt", 0);
        note_chain(t, NULL);
    }
    arena_release(&a);
}

/* ---- the supervisor ---- */

static void
rest(int64_t ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Until nothing waits, or nothing can be done about it. */
static enum status
work(struct attendant *t, struct wake_facts *f, struct err *e)
{
    enum status s = ST_OK;

    while (!s) {
        struct arena a = { 0 };
        struct hub_batch b;
        struct err why;
        int64_t rest_ms;
        s = hub_waiting(t->hub, t->identity, f->last, &a, &b, e);
        f->n_waiting = s || !b.agent || !b.dir ? 0 : b.n;
        struct wake_chain chain = { 0 };
        if (f->n_waiting)
            chain = wake_chain_judge(&b, read_chain, t, &a);
        if (f->n_waiting && wake_chain_is_over(&chain)) {
            s = end_chain(t, &b, &chain, e);
            arena_release(&a);
            continue;
        }
        enum wake_action act = wake_supervisor_decide(f, &rest_ms);
        if (act == WAKE_START) {
            enum status how = start(t, &b, &chain, &a, &why);
            f->has_rested = false;
            f->failures = how == ST_OK ? 0 : f->failures + 1;
            f->last = how == ST_OK ? 0 : b.upto;
            f->is_hopeless = how != ST_OK && how != ST_FAILED && how != ST_IO;
            if (how)
                say(t, "%s", why.text);
        } else if (act == WAKE_REST) {
            rest(rest_ms);
            f->has_rested = true;
        } else if (act == WAKE_SET_ASIDE) {
            say(t, "%zu signal%s set aside after %d failures; they stay in the inbox", b.n,
                b.n == 1 ? " is" : "s are", WAKE_TRIES);
            s = tell_sleep(t, b.upto, e);
            f->failures = 0;
            f->last = 0;
        }
        arena_release(&a);
        if (act == WAKE_LEAVE && !f->last)
            break;
        if (act == WAKE_LEAVE) { /* they were unsubscribed from: now for the others */
            f->failures = 0;
            f->last = 0;
            if (f->is_hopeless)
                break;
        }
    }
    return s;
}

/* Has anything come between our last look and letting the lock go? */
static bool
has_more(struct attendant *t)
{
    struct arena a = { 0 };
    struct hub_batch b;
    bool is_more = hub_waiting(t->hub, t->identity, 0, &a, &b, NULL) == ST_OK && b.n && b.agent;

    arena_release(&a);
    return is_more;
}

/* After a failure without a word: a server then tries again, later. */
static void
let_go(struct attendant *t, enum status s)
{
    if (t->lock >= 0 && s)
        close(t->lock);
    else if (t->lock >= 0)
        wake_unlock(t->lock);
    t->lock = -1;
}

enum status
wake_supervisor_run(const char *config, const char *identity, struct err *e)
{
    char whole[PATH_MAX];
    struct attendant t = { .identity = identity, .dir = -1, .lock = -1 };
    struct wake_facts f = { 0 };
    enum status s = wake_open_dir(config, identity, &t.dir, e);

    if (!s && !realpath(config, whole))
        s = err_sys(e, "find %s", config);
    t.config = whole;
    if (!s)
        s = wake_lock(t.dir, &t.lock, e);
    bool is_ours = s == ST_OK;
    if (!s)
        s = hub_open(&t.hub, whole, &(struct hub_options){ .on_round = wake_on_round }, e);
    if (!s)
        recover(&t);
    while (!s && t.lock >= 0) {
        s = work(&t, &f, e);
        let_go(&t, s);
        if (!s && !f.is_hopeless && has_more(&t) && wake_lock(t.dir, &t.lock, NULL))
            break; /* another supervisor runs */
    }
    if (s == ST_CONFLICT && !is_ours)
        s = ST_OK;
    hub_close(t.hub);
    let_go(&t, s);
    if (t.dir >= 0)
        close(t.dir);
    return s;
}
