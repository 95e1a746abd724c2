#include "agents/cli/cli.h"

#include "agents/cli/cli_journal.h"
#include "agents/cli/cli_lines.h"
#include "agents/model_agent.h"
#include "agents/raw_stream.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "proc/child.h"
#include "team/builtin_agents.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STOP_GRACE_MS = 3000,
    STOP_KILL_MS = 2000,
    LAST_WORDS = 400, /* bytes of standard error's last line, in an error */
    ERRORS_KEPT = 8 << 10,
    TREE_MAX = 8 << 20, /* bytes of a line's JSON in memory: more is for the raw stream only */
    PIECE = 16384,
    LOOK_MS = 200,
    QUIET_MS =
        1000, /* then the journal may have more; an inotify watch would take longer to close */
    CAPTURED = 4096, /* child.h keeps an end that we do not need */
    VERSION_MS = 20 * 1000
};

struct cli {
    struct context *c;
    const struct cli_vendor *v;
    const char *binary;
    struct cli_request request;
    struct cli_lines out, errors;
    struct cli_journal journal;
    const char *journal_pattern; /* NULL: not known yet */
    int64_t looked_ms;           /* for the journal */
    struct arena line_arena, turn_arena;
    struct turn turn;
    struct buf last_errors; /* the end of standard error */
    struct usage before;    /* what the conversation used before this turn */
    int64_t began_ms;       /* the turn */
    struct usage done;      /* what the turns of this attempt used that are over */
    char session[128], told_session[128], new_session[40], model[128];
    struct json *data; /* of the handoff: denied */
    int raw;           /* -1: none is kept */
    bool has_long_line;
};

/* ---- what the program prints ---- */

/* What the turn used: what the program does not tell, its time and the price, is added. */
static struct usage
usage_of_turn(const struct cli *cli)
{
    const struct json *prices = json_get(cli->c->settings, "prices");
    struct usage u = cli_usage_since(cli->v, &cli->turn.usage, &cli->before);

    if (usage_is_zero(&u))
        return u;
    if (!u.duration_ms)
        u.duration_ms = clock_mono_ms() - cli->began_ms;
    u.model = *cli->turn.model ? cli->turn.model : *cli->model ? cli->model : cli->request.model;
    const char *told = u.model;
    usage_price(&u, prices);
    u.model = cli->request.model; /* the user may have priced the name that was asked for */
    usage_price(&u, prices);
    u.model = told;
    return u;
}

/* The usage of this attempt so far, with the turn's. */
static struct usage
usage_now(const struct cli *cli)
{
    struct usage now = usage_of_turn(cli), sum = cli->done;

    usage_add(&sum, &now);
    sum.model = *cli->turn.model ? cli->turn.model : cli->model;
    sum.session_id = *cli->turn.session ? cli->turn.session : cli->session;
    if (!*sum.model)
        sum.model = cli->request.model;
    if (!*sum.session_id)
        sum.session_id = NULL;
    return sum;
}

/* The parser's messages for people. */
static void
tell(struct cli *cli)
{
    struct turn *t = &cli->turn;
    struct err ignored;

    cli_write(STDOUT_FILENO, t->log.p, t->log.len);
    for (const char *p = t->said.p; p && p < t->said.p + t->said.len; p += strlen(p) + 1)
        context_echo(cli->c, p, &ignored);
    /* The conversation is told at once: an attempt that ends badly can be continued, too. */
    bool is_new_session = *t->session && strcmp(t->session, cli->told_session) != 0;
    if (is_new_session)
        memcpy(cli->told_session, t->session, sizeof cli->told_session);
    if (t->has_new_usage || is_new_session) {
        struct usage now = usage_now(cli);
        context_usage(cli->c, &now, NULL, &ignored);
    }
    t->has_new_usage = false;
    buf_reset(&t->log);
    buf_reset(&t->said);
}

static void
note_long_line(void *ctx, size_t n)
{
    struct cli *cli = ctx;

    buf_addf(&cli->turn.log, "(a line of %zu bytes is in the raw stream only)\n", n);
    cli->has_long_line = true;
    tell(cli);
}

static void
take_line(void *ctx, const char *p, size_t n)
{
    struct cli *cli = ctx;
    struct json *doc;
    struct json_fault fault = { 0 };

    arena_reset(&cli->line_arena);
    cli->line_arena.max = TREE_MAX;
    cli->turn.arena = &cli->line_arena;
    if (json_parse_foreign(&cli->line_arena, p, n, &doc, &fault) && json_is(doc, JSON_OBJECT)) {
        cli->v->line(&cli->turn, doc);
    } else if (fault.is_starved) {
        note_long_line(cli, n);
        return;
    } else if (n) { /* no event: people may want it */
        term_escape(&cli->turn.log, p, n > 4096 ? 4096 : n, false);
        buf_addc(&cli->turn.log, '\n');
    }
    tell(cli);
}

static void
take_journal_line(void *ctx, const char *p, size_t n)
{
    struct cli *cli = ctx;
    struct json *doc;

    arena_reset(&cli->line_arena);
    cli->turn.arena = &cli->line_arena;
    if (json_parse_foreign(&cli->line_arena, p, n, &doc, NULL) && json_is(doc, JSON_OBJECT))
        cli->v->journal_line(&cli->turn, doc);
    tell(cli);
}

/* Takes what the program wrote down since. It is looked for now and then, and at the end. */
static void
look_at_journal(struct cli *cli, struct cli_command *k, bool is_end)
{
    const char *session = *cli->turn.session ? cli->turn.session : cli->request.session;
    int64_t now = clock_mono_ms();

    if (!cli->v->journal || !session)
        return;
    if (!cli->journal_pattern)
        cli->journal_pattern = cli->v->journal(k, session);
    if (is_end || now >= cli->looked_ms + LOOK_MS) {
        cli->looked_ms = now;
        cli_journal_find(&cli->journal, cli->journal_pattern, cli->request.session);
    }
    cli_journal_read(&cli->journal);
}

static void
take_error_line(void *ctx, const char *p, size_t n)
{
    struct cli *cli = ctx;
    struct buf *kept = &cli->last_errors;

    if (cli->v->error_line && cli->v->error_line(&cli->turn, p, n)) {
        tell(cli);
        return;
    }
    cli_write(STDERR_FILENO, p, n);
    cli_write(STDERR_FILENO, "\n", 1);
    buf_add(kept, p, n > ERRORS_KEPT ? ERRORS_KEPT : n);
    buf_addc(kept, '\n');
    if (kept->len > 2 * ERRORS_KEPT)
        buf_drop(kept, kept->len - ERRORS_KEPT);
    tell(cli);
}

static void
on_output(void *ctx, const char *p, size_t n)
{
    struct cli *cli = ctx;

    cli_lines_write(&cli->out, p, n);
}

static void
take_errors(struct cli *cli, int fd)
{
    char piece[PIECE];
    ssize_t n;

    while ((n = SYS_RETRY(read(fd, piece, sizeof piece))) > 0)
        cli_lines_write(&cli->errors, piece, (size_t)n);
}

/* ---- starting ---- */

static enum status
not_installed(const struct cli_vendor *v, const char *binary, struct err *e)
{
    const struct builtin *b = builtin_find(v->agent);

    return err_set(e, ST_FAILED,
                   "%s: there is no program %s: install it (%s), or name it: "
                   "cliq settings agents.%s.binary PATH",
                   v->agent, binary, b->install, v->agent);
}

/* ---- a turn ---- */

/* Waits for the end of the program, or stops it. True: we stopped it. */
static bool
drive(struct cli *cli, struct cli_command *k, struct child *child, int errors)
{
    int64_t done_at = 0;
    bool is_stopped = false;

    while (child_step(child) != CHILD_GONE) {
        take_errors(cli, errors);
        look_at_journal(cli, k, false);
        bool is_over = cli->turn.is_done || cli->turn.is_failed || cli->turn.is_hopeless;
        int64_t now = clock_mono_ms(), due = child_due_ms(child);
        if (is_over && !done_at)
            done_at = now + (cli->turn.is_hopeless ? 0 : CLI_GRACE_MS);
        else if (!is_over)
            done_at = 0; /* it went on */
        if (done_at && now >= done_at && !is_stopped) {
            is_stopped = true;
            child_stop(child);
            continue;
        }
        if (cli->journal.fd >= 0 && !is_over && (due < 0 || due > QUIET_MS))
            due = QUIET_MS;
        if (done_at && !is_stopped && (due < 0 || due > done_at - now))
            due = done_at - now;
        struct pollfd p[3] = { { .fd = child->has_exited ? -1 : child->pidfd, .events = POLLIN },
                               { .fd = child->out, .events = POLLIN },
                               { .fd = errors, .events = POLLIN } };
        poll(p, 3, due > 1 << 30 ? 1 << 30 : (int)due);
    }
    take_errors(cli, errors);
    cli_lines_end(&cli->out);
    cli_lines_end(&cli->errors);
    look_at_journal(cli, k, true);
    return is_stopped;
}

void
cli_advise(struct buf *to, const struct cli_vendor *v, const struct turn *t)
{
    const char *words = t->error.len ? t->error.p : "an error without words";

    buf_addf(to, "%s: %s", v->agent, words);
    model_trouble_advise(to, t->trouble,
                         &(struct model_advice){ v->agent, v->key_env, v->sign_in });
}

/* The meaning of the program's end. ST_OK: the turn has its answer. */
static enum status
judge(struct cli *cli, const struct child *child, bool is_stopped, struct err *e)
{
    struct turn *t = &cli->turn;
    int code = child_exit_code(child);
    struct buf text = { 0 };

    if (t->is_done && (is_stopped || code == 0))
        return ST_OK;
    term_last_line(&text, cli->last_errors.p ? cli->last_errors.p : "", cli->last_errors.len,
                   LAST_WORDS);
    bool is_told = t->is_done || t->is_failed || t->error.len;
    if (!is_told && text.len && model_trouble_of(text.p, text.len, 0) != TROUBLE_OTHER)
        turn_fail(t, text.p, text.len, 0);
    if (!is_told && cli->v->exited)
        cli->v->exited(t, code);
    if (!t->is_done && t->trouble != TROUBLE_NONE && t->trouble != TROUBLE_OTHER)
        t->is_failed = true; /* its last words say why it ended */
    if (t->is_failed) {
        buf_reset(&text);
        cli_advise(&text, cli->v, t);
        err_set(e, ST_FAILED, "%s", text.p ? text.p : cli->v->agent);
    } else if (cli->has_long_line) {
        err_set(e, ST_FAILED,
                "%s: a line of its output, perhaps the answer, is longer than %zu bytes: ask for a "
                "shorter one",
                cli->v->agent, CLI_LINE_MAX);
    } else if (t->error.len) {
        err_set(e, ST_FAILED, "%s ended with exit code %d before its answer was complete: %s",
                cli->binary, code, t->error.p);
    } else if (t->n_denied && !t->is_done) {
        err_set(e, ST_FAILED,
                "%s was denied: %s, and ended without an answer: allow it in its settings, or let "
                "the role do without",
                cli->v->agent, t->denied.p);
    } else {
        err_set(e, ST_FAILED, "%s ended with exit code %d %s%s%s", cli->binary, code,
                t->is_done ? "after its answer" : "before its answer was complete",
                text.len ? ": " : "", text.len ? text.p : "");
    }
    buf_release(&text);
    return ST_FAILED;
}

static void
begin_turn(struct cli *cli)
{
    turn_release(&cli->turn);
    cli->turn = (struct turn){ .answer = BUF_MAX(2 * CLI_LINE_MAX) };
    buf_reset(&cli->last_errors);
    cli->has_long_line = false;
    cli->began_ms = clock_mono_ms();
    cli->journal_pattern = NULL;
    cli->looked_ms = 0;
    arena_reset(&cli->turn_arena);
    cli->request.session = *cli->session ? cli->session : NULL;
}

/* The conversation that the next turn continues. */
static void
end_turn(struct cli *cli)
{
    struct usage now = usage_now(cli);
    const struct usage *total = &cli->turn.usage;

    if (cli->v->is_thread_total && !usage_is_zero(total))
        cli->before = *total;
    if (cli->v->is_cost_total && total->has_cost) {
        cli->before.cost_usd = total->cost_usd;
        cli->before.has_cost = true;
    }
    cli->before.model = cli->before.session_id = NULL;
    if (*cli->turn.session)
        memcpy(cli->session, cli->turn.session, sizeof cli->session);
    if (*cli->turn.model)
        memcpy(cli->model, cli->turn.model, sizeof cli->model);
    cli->done = now;
    cli->done.model = *cli->model ? cli->model : NULL;
    cli->done.session_id = *cli->session ? cli->session : NULL;
}

/* A UUID, version 4. */
static enum status
new_uuid(char to[40], struct err *e)
{
    unsigned char b[16];

    if (sys->getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        return err_sys(e, "choose a session id");
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    char *p = to;
    for (size_t i = 0; i < sizeof b; i++)
        p += snprintf(p, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    return ST_OK;
}

/* Once. */
static enum status
run_turn(struct cli *cli, const char *prompt, struct err *e)
{
    struct cli_command k = { .arena = &cli->turn_arena };
    const char *env[CLI_ENVIRON_MAX + CLI_ENV_MAX + 1];
    int errors[2] = { -1, -1 };
    struct child child = { 0 };

    begin_turn(cli);
    cli->request.prompt = prompt;
    if (new_uuid(cli->new_session, e))
        return ST_IO;
    cli_arg(&k, cli->binary);
    cli->v->command(&k, &cli->request);
    if (k.is_over || proc_pipe(errors) != 0 || fcntl(errors[1], F_SETFL, 0) != 0)
        return k.is_over ? err_set(e, ST_FAILED,
                                   "%s: its command line is too long, or its "
                                   "settings file cannot be written",
                                   cli->v->agent)
                         : err_sys(e, "%s: make a pipe", cli->v->agent);
    cli_build_env(&k, env);
    struct child_spec spec = {
        .proc = { .argv = k.argv,
                  .env = env,
                  .dir = cli->c->work_dir,
                  .err_fd = errors[1],
                  .is_group = true },
        .input = cli->v->is_prompt_in_args ? NULL : prompt,
        .input_len = cli->v->is_prompt_in_args ? 0 : strlen(prompt),
        .keep = CAPTURED,
        .is_err_apart = true,
        .on_output = on_output,
        .ctx = cli,
        .grace_ms = STOP_GRACE_MS,
        .kill_ms = STOP_KILL_MS,
    };
    cli_journal_init(&cli->journal, take_journal_line, cli);
    look_at_journal(cli, &k, false); /* a conversation that goes on: begins where it stands */
    enum status s = child_start(&child, &spec, e);
    if (s == ST_NOT_FOUND)
        s = not_installed(cli->v, cli->binary, e);
    else if (!s)
        s = judge(cli, &child, drive(cli, &k, &child, errors[0]), e);
    end_turn(cli);
    cli_journal_release(&cli->journal);
    child_release(&child);
    close(errors[0]);
    close(errors[1]);
    return s;
}

/* ---- asking ---- */

static void
note_denied(struct cli *cli)
{
    const struct turn *t = &cli->turn;
    struct arena *a = cli->c->arena;

    if (t->n_denied && cli->data)
        json_set(cli->data, "denied", json_new_copy(a, t->denied.p, t->denied.len));
}

static enum status
ask(void *ctx, const char *prompt, struct buf *answer, struct err *e)
{
    struct cli *cli = ctx;
    int64_t wait_ms = 0;
    enum status s;
    bool is_again, was_lost = false;

    do {
        s = run_turn(cli, prompt, e);
        bool is_lost = s && cli->turn.trouble == TROUBLE_SESSION && !was_lost;
        is_again = is_lost || (s && cli->turn.trouble == TROUBLE_RATE);
        if (is_lost) {
            struct err ignored;
            context_progress(cli->c, "its conversation is gone: begins a new one", &ignored);
            was_lost = true;
            *cli->session = '\0';
            cli->before = (struct usage){ 0 };
        } else if (is_again) {
            is_again = model_trouble_wait(cli->c, cli->turn.resets_s, &wait_ms, e);
        }
    } while (is_again);
    note_denied(cli);
    if (!s)
        buf_add(answer, cli->turn.answer.p, cli->turn.answer.len);
    return s;
}

static enum status
open_cli(struct cli *cli, struct context *c, const struct cli_vendor *v, struct err *e)
{
    const struct builtin *b = builtin_find(v->agent);
    const char *session, *binary = model_agent_text(c, "binary");

    *cli = (struct cli){
        .c = c,
        .v = v,
        .raw = -1,
        .out = { .copy = -1, .take = take_line, .too_long = note_long_line, .ctx = cli },
        .errors = { .copy = -1, .take = take_error_line, .too_long = note_long_line, .ctx = cli }
    };
    cli->binary = binary ? binary : cli_find_binary(c->arena, b ? b->binaries : v->agent);
    cli->request = (struct cli_request){
        .c = c,
        .model = model_agent_model(c),
        .api_key = model_agent_text(c, "api_key"),
        .base_url = model_agent_text(c, "base_url"),
        .new_session = cli->new_session,
    };
    session = model_agent_session(c, &cli->before);
    if (session && strlen(session) < sizeof cli->session)
        snprintf(cli->session, sizeof cli->session, "%s", session);
    if (!cli->request.model && cli->before.model && strlen(cli->before.model) < sizeof cli->model)
        snprintf(cli->model, sizeof cli->model, "%s", cli->before.model);
    cli->data = json_new(c->arena, JSON_OBJECT);
    enum status s = cli_lines_init(&cli->out, &c->mask, e);
    if (!s)
        s = cli_lines_init(&cli->errors, &c->mask, e);
    return s;
}

static void
close_cli(struct cli *cli)
{
    turn_release(&cli->turn);
    buf_release(&cli->last_errors);
    cli_lines_release(&cli->out);
    cli_lines_release(&cli->errors);
    arena_release(&cli->line_arena);
    arena_release(&cli->turn_arena);
    if (cli->raw >= 0)
        close(cli->raw);
}

static const struct cli_vendor *vendor; /* of this process: it is one agent */

static enum status
work(struct context *c, struct err *e)
{
    struct cli cli;
    enum status s = open_cli(&cli, c, vendor, e);

    signal(SIGPIPE, SIG_IGN);
    bool is_done = !s && vendor->instead && vendor->instead(c, cli.binary, &s, e);
    if (!is_done)
        cli.raw = cli.out.copy = raw_stream_open();
    if (!s && !is_done)
        s = model_agent_work(c, &(struct model_driver){ ask, &cli, cli.data }, e);
    close_cli(&cli);
    return s;
}

/* ---- the test handler ---- */

static bool
has_sign_in(const struct cli_vendor *v)
{
    const char *home = getenv("HOME");
    char path[PATH_MAX];

    if (!home || !v->signed_in)
        return false;
    snprintf(path, sizeof path, "%s/%s", home, v->signed_in);
    return access(path, R_OK) == 0;
}

/* The program's version, and that it has a key or a sign-in. */
static enum status
test(struct context *c, struct buf *says, struct err *e)
{
    struct cli cli;
    struct child child = { 0 };
    enum status s = open_cli(&cli, c, vendor, e);
    const char *const argv[] = { cli.binary, "--version", NULL };

    if (!s)
        s = child_run(&child,
                      &(struct child_spec){ .proc = { .argv = argv, .is_group = true },
                                            .keep = CAPTURED,
                                            .limit_ms = VERSION_MS,
                                            .kill_ms = STOP_KILL_MS },
                      e);
    if (s == ST_NOT_FOUND)
        s = not_installed(vendor, cli.binary, e);
    if (!s && (child.is_timeout || child_exit_code(&child) != 0))
        s = err_set(e, ST_FAILED, "%s: %s --version %s", vendor->agent, cli.binary,
                    child.is_timeout ? "does not end" : "fails");
    const char *env_key = getenv(vendor->key_env);
    bool has_key = cli.request.api_key || (env_key && *env_key);
    if (!s && !has_key && !has_sign_in(vendor))
        s = err_set(e, ST_FAILED,
                    "%s: no key and no sign-in: cliq settings agents.%s.api_key -, or set %s, "
                    "or sign in: %s",
                    vendor->agent, vendor->agent, vendor->key_env, vendor->sign_in);
    if (!s) {
        buf_addf(says, "%s ", cli.binary);
        term_last_line(says, child.output.p ? child.output.p : "", child.output.len, 80);
        buf_adds(says, has_key ? ", with a key" : ", signed in");
    }
    child_release(&child);
    close_cli(&cli);
    return s;
}

enum status
cli_agent_run(const struct cli_vendor *v, struct err *e)
{
    vendor = v;
    return agent_serve(&(struct agent_handlers){ .phase = work, .test = test }, e);
}

/* ---- pure ---- */

/* Takes away what is known, of what there is. */
static void
take_off(int64_t *n, int64_t before)
{
    *n -= before < *n ? before : *n;
}

static void
tokens_since(struct usage *u, const struct usage *before)
{
    if (u->input_tokens < before->input_tokens || u->output_tokens < before->output_tokens)
        return;
    take_off(&u->input_tokens, before->input_tokens);
    take_off(&u->output_tokens, before->output_tokens);
    take_off(&u->cached_tokens, before->cached_tokens);
    take_off(&u->written_tokens, before->written_tokens);
}

struct usage
cli_usage_since(const struct cli_vendor *v, const struct usage *total, const struct usage *before)
{
    struct usage u = *total;

    if (v->is_thread_total)
        tokens_since(&u, before);
    if (v->is_cost_total && u.has_cost && before->has_cost && u.cost_usd >= before->cost_usd)
        u.cost_usd -= before->cost_usd;
    return u;
}
