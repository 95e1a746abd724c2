#define _GNU_SOURCE
#include "agents/acp/acp_program.h"

#include "agents/acp/acp_request.h"
#include "agents/acp/acp_terminal.h"
#include "agents/acp/acp_update.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/term.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    AUTH_REQUIRED = -32000,
    CANCEL_MS = 5000, /* from session/cancel to the end of the turn */
    END_MS = 2000,    /* from the end of its input to SIGTERM */
    GRACE_MS = 2000,
    KILL_MS = 2000,
    EXIT_MS = 1000,     /* from the end of its output until its exit code is known */
    ERRORS_KEPT = 4096, /* bytes of its standard error, for the reason of a crash */
    LINE_SHOWN = 400,
    WORDS_SHOWN = 600,
    RUBBISH_TOLD = 3,
    QUIET_MS = 300, /* without a word after session/load: its history has ended */
    HISTORY_MS = 5000,
};

const char *
acp_program_name(const struct acp_session *s)
{
    const char *slash = strrchr(s->argv[0], '/');

    return slash ? slash + 1 : s->argv[0];
}

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- signals ---- they are ours only while we listen: between turns their default applies. */

static void
signal_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
}

enum status
acp_program_listen(struct acp_session *s, struct err *e)
{
    sigset_t set;

    signal_set(&set);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return err_sys(e, "wait for signals");
    if (s->signals < 0)
        s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals < 0 ? err_sys(e, "wait for signals") : ST_OK;
}

void
acp_program_leave(void)
{
    sigset_t set;

    signal_set(&set);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void
acp_program_write_id(struct acp_session *s, struct buf *to)
{
    json_open(to, '{');
    json_key_str(to, "sessionId", s->id);
}

static void
cancel(struct acp_session *s)
{
    struct buf params = { 0 };

    s->is_stopping = true;
    s->stop_until_ms = clock_mono_ms() + CANCEL_MS;
    if (!s->is_prompting)
        return;
    acp_program_write_id(s, &params);
    json_close(&params, '}');
    jsonrpc_notify(&s->peer, "session/cancel", params.p);
    acp_request_take_back(s, NULL);
    acp_terminal_stop_all(s);
    buf_release(&params);
}

static void
take_signals(struct acp_session *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (!s->is_stopping)
            cancel(s);
}

/* ---- the process ---- */

/* Its standard error goes on to ours, without secrets; n 0: it ended. */
static void
show_errors(struct acp_session *s, const char *p, size_t n)
{
    struct buf out = { 0 };

    if (n)
        mask_write(&s->shown_errors, p, n, &out);
    else
        mask_end(&s->shown_errors, &out);
    if (out.len && write(STDERR_FILENO, out.p, out.len) >= 0) /* a full log is no reason to stop */
        buf_add(&s->error_tail, out.p, out.len);
    if (s->error_tail.len > ERRORS_KEPT)
        buf_drop(&s->error_tail, s->error_tail.len - ERRORS_KEPT);
    buf_release(&out);
}

static void
take_errors(struct acp_session *s)
{
    char piece[4096];
    ssize_t n;

    while (s->errors >= 0 && (n = SYS_RETRY(sys->read(s->errors, piece, sizeof piece))) >= 0) {
        show_errors(s, piece, (size_t)n);
        if (n == 0)
            close_fd(&s->errors);
    }
}

/* One end of a pipe for the child, which blocks on it. */
static enum status
make_pipe(int *ours, int *its, bool is_input, struct err *e)
{
    int ends[2];

    if (proc_pipe(ends) != 0)
        return err_sys(e, "make a pipe");
    *ours = ends[is_input];
    *its = ends[!is_input];
    int high = fcntl(*its, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(*its);
    *its = high;
    return high >= 0 && fcntl(high, F_SETFL, 0) == 0 ? ST_OK : err_sys(e, "make a pipe");
}

enum status
acp_program_start(struct acp_session *s, struct err *e)
{
    int in = -1, out = -1, err = -1;
    enum status st = make_pipe(&s->peer.out, &in, true, e);

    if (!st)
        st = make_pipe(&s->peer.in, &out, false, e);
    if (!st)
        st = make_pipe(&s->errors, &err, false, e);
    struct child_spec spec = {
        .proc = { .argv = s->argv,
                  .dir = s->dir.real,
                  .in_fd = in,
                  .out_fd = out,
                  .err_fd = err,
                  .is_group = true }, /* in our session, so that an attempt's tree is known by it */
        .grace_ms = GRACE_MS,
        .kill_ms = KILL_MS,
        .is_whole_tree = true,
    };
    if (!st)
        st = child_start(&s->child, &spec, e);
    close_fd(&in);
    close_fd(&out);
    close_fd(&err);
    return st;
}

/* ---- one loop for everything ---- */

/* Sleeps until something happens, at most until then; takes what happened. */
static enum status
turn(struct acp_session *s, int64_t until_ms, struct err *e)
{
    struct pollfd p[6 + ACP_TERMINAL_FDS] = {
        { .fd = s->peer.has_ended ? -1 : s->peer.in, .events = POLLIN },
        { .fd = jsonrpc_is_writing(&s->peer) ? s->peer.out : -1, .events = POLLOUT },
        { .fd = s->errors, .events = POLLIN },
        { .fd = s->signals, .events = POLLIN },
        { .fd = child_end_fd(&s->child), .events = POLLIN },
        { .fd = s->questions ? acp_person_fd(&s->person) : -1, .events = POLLIN },
    };
    int64_t left = until_ms - clock_mono_ms(), due = child_due_ms(&s->child), due_terminals;
    size_t n = acp_terminal_poll(s, p + 6, &due_terminals);

    if (due >= 0 && due < left)
        left = due;
    if (due_terminals < left)
        left = due_terminals;
    if (left > 0)
        poll(p, 6 + n, left > 1 << 30 ? 1 << 30 : (int)left);
    child_step(&s->child);
    acp_terminal_step(s);
    take_errors(s);
    take_signals(s);
    if (s->questions)
        acp_request_hear(s);
    return jsonrpc_step(&s->peer, e);
}

static void
take_message(struct acp_session *s, const struct jsonrpc_message *m)
{
    if (m->kind == JSONRPC_REQUEST)
        acp_request(s, m);
    else if (m->kind == JSONRPC_NOTIFICATION && strcmp(m->method, "session/update") == 0) {
        if (s->is_prompting)
            acp_update(s, json_get(m->params, "update"));
    } else if (m->kind == JSONRPC_NOTIFICATION && strcmp(m->method, "$/cancel_request") == 0) {
        const struct json *id = json_get(m->params, "requestId");
        if (id && !acp_terminal_take_back(s, id))
            acp_request_take_back(s, id);
    }
}

static void
take_rubbish(struct acp_session *s, const struct jsonrpc_message *m, const struct err *why)
{
    if (++s->n_rubbish <= RUBBISH_TOLD)
        acp_note(s, "%s sent what is no message of the protocol: %s", acp_program_name(s),
                 why->text);
    if (m->id)
        jsonrpc_refuse(&s->peer, m->id, m->code, why->text);
}

/* Takes the messages that are there; true: *m is the answer to the request `id`. */
static bool
take_messages(struct acp_session *s, int64_t id, struct jsonrpc_message *m)
{
    struct err why;
    enum jsonrpc_peer_got got;

    for (;;) {
        arena_reset(&s->scratch);
        got = jsonrpc_next(&s->peer, &s->scratch, m, &why);
        if (got == JSONRPC_PEER_NONE)
            return false;
        if (got == JSONRPC_PEER_RUBBISH)
            take_rubbish(s, m, &why);
        else if (jsonrpc_is_answer(m, id))
            return true;
        else
            take_message(s, m);
    }
}

/* Why the program can no longer answer. */
static enum status
died(struct acp_session *s, const char *asked, struct err *e)
{
    struct buf line = { 0 };
    char how[64] = "closed its output";

    for (int64_t until = clock_mono_ms() + EXIT_MS;
         !s->child.has_exited && clock_mono_ms() < until;)
        turn(s, until, NULL);
    take_errors(s);
    int code = child_exit_code(&s->child);
    if (s->child.has_exited && code >= 0)
        snprintf(how, sizeof how, "ended with exit code %d", code);
    else if (s->child.has_exited)
        snprintf(how, sizeof how, "ended");
    if (s->error_tail.len)
        term_last_line(&line, s->error_tail.p, s->error_tail.len, LINE_SHOWN);
    err_set(e, ST_FAILED, "%s %s%s before it answered %s%s%s", acp_program_name(s), how,
            jsonrpc_rest(&s->peer.lines) ? " in the middle of a message," : "", asked,
            line.len ? ": " : "", line.len ? line.p : "");
    buf_release(&line);
    return s->is_stopping ? ST_CANCELLED : ST_FAILED;
}

/* Waits for the answer to a request, which may be an error. */
static enum status
await(struct acp_session *s, int64_t id, const char *asked, int64_t limit_ms,
      struct jsonrpc_message *m, struct err *e)
{
    int64_t until = limit_ms ? clock_mono_ms() + limit_ms : INT64_MAX;
    enum status st = ST_OK;

    while (!st) {
        bool is_over = s->peer.has_ended || s->child.has_exited;
        if (take_messages(s, id, m))
            return ST_OK;
        if (is_over)
            return died(s, asked, e);
        if (s->is_stopping && (!s->is_prompting || clock_mono_ms() >= s->stop_until_ms))
            return err_set(e, ST_CANCELLED, "%s did not end its turn in %d s after session/cancel",
                           acp_program_name(s), CANCEL_MS / 1000);
        if (clock_mono_ms() >= until)
            return err_set(e, ST_TIMEOUT, "%s did not answer %s in %d s", acp_program_name(s),
                           asked, (int)(limit_ms / 1000));
        st = turn(s, s->is_stopping && s->stop_until_ms < until ? s->stop_until_ms : until, e);
    }
    return st;
}

/* ---- errors that the agent answers ---- */

/* The command with which a person signs in, for an agent that has no key. */
static const char *
how_to_sign_in(struct acp_session *s)
{
    struct buf b = { 0 };

    buf_addf(&b, "run %s once, at a terminal%s%s", acp_program_name(s),
             *s->auth ? "; it offers: " : "", s->auth);
    const char *text = buf_failed(&b) ? NULL : arena_dup(&s->scratch, b.p, b.len);
    buf_release(&b);
    return text ? text : "run it once, at a terminal";
}

/* Appends what can be done; the whole is the error. */
static enum status
advise(struct acp_session *s, enum status st, struct buf *words, struct err *e)
{
    model_trouble_advise(
        words, s->trouble,
        &(struct model_advice){ s->c->agent, acp_key_env(s->c), how_to_sign_in(s) });
    err_say(e, "%s", words->p ? words->p : acp_program_name(s));
    buf_release(words);
    return st;
}

static enum status
sign_in(struct acp_session *s, const char *says, struct err *e)
{
    struct buf words = { 0 };

    buf_addf(&words, "%s is not signed in (%s)", acp_program_name(s), says);
    s->trouble = TROUBLE_KEY;
    return advise(s, ST_REFUSED, &words, e);
}

/* The text of an error's data: some agents put the API's words there. */
static const char *
details_of(struct acp_session *s, const struct json *data)
{
    const struct json *more = json_is(data, JSON_STRING) ? data
                              : json_is(json_get(data, "details"), JSON_STRING)
                                  ? json_get(data, "details")
                                  : json_get(data, "message");

    return json_is(more, JSON_STRING) ? json_dup_text(&s->scratch, more) : NULL;
}

/* "gemini refused session/prompt: the API key is not valid (401): check the key (…)" */
static enum status
refused(struct acp_session *s, const char *asked, const struct jsonrpc_message *m, struct err *e)
{
    const char *details = details_of(s, m->data);
    struct buf said = { 0 }, words = { 0 };

    if (m->code == AUTH_REQUIRED)
        return sign_in(s, *m->message ? m->message : "authentication required", e);
    buf_adds(&said, *m->message ? m->message : "no reason");
    if (details)
        buf_addf(&said, ": %.400s", details);
    const char *p = said.p ? said.p : "no reason";
    size_t n = strlen(p);
    int64_t status = m->code >= 400 && m->code < 600 ? m->code : 0;
    model_trouble_unwrap(&s->scratch, &p, &n, &status);
    s->trouble = model_trouble_of(p, n, status);
    buf_addf(&words, "%s refused %s: ", acp_program_name(s), asked);
    term_escape(&words, p, utf8_cut(p, n, WORDS_SHOWN), false);
    buf_addf(&words, " (%d)", (int)m->code);
    buf_release(&said);
    return advise(s, ST_FAILED, &words, e);
}

enum status
acp_program_ask(struct acp_session *s, const char *method, const struct buf *params,
                int64_t limit_ms, const struct json **result, struct err *e)
{
    struct jsonrpc_message m = { 0 };
    enum status st = buf_status(params, method, e);

    s->trouble = TROUBLE_NONE;
    if (!st)
        st = await(s, jsonrpc_call(&s->peer, method, params->p), method, limit_ms, &m, e);
    if (!st && m.kind == JSONRPC_ERROR)
        st = refused(s, method, &m, e);
    *result = st ? NULL : m.result;
    return st;
}

/* Some agents answer session/load before they have told all of the old conversation: what still
 * comes is heard before the turn begins, or its words would be taken for the answer. */
void
acp_program_hear_history(struct acp_session *s)
{
    int64_t last = clock_mono_ms(), until = last + HISTORY_MS;
    struct jsonrpc_message m;

    while (clock_mono_ms() < until && clock_mono_ms() < last + QUIET_MS && !s->is_stopping &&
           !s->peer.has_ended && turn(s, last + QUIET_MS, NULL) == ST_OK) {
        bool has_more = s->peer.lines.bytes.len > s->peer.lines.at;
        take_messages(s, 0, &m);
        last = has_more ? clock_mono_ms() : last;
    }
}

/* ---- its end ---- */

void
acp_program_end(struct acp_session *s)
{
    bool is_running = s->child.state == CHILD_RUNNING;
    int64_t until = clock_mono_ms() + END_MS;

    while (is_running && jsonrpc_is_writing(&s->peer) && !s->child.has_exited &&
           clock_mono_ms() < until && turn(s, until, NULL) == ST_OK)
        ;
    close_fd(&s->peer.out); /* the end of its input asks it to end */
    while (is_running && child_step(&s->child) != CHILD_GONE && clock_mono_ms() < until &&
           turn(s, until, NULL) == ST_OK)
        jsonrpc_lines_release(&s->peer.lines);
    child_stop(&s->child);
    if (s->child.state != CHILD_NONE)
        child_wait(&s->child, -1);
    take_errors(s);
    show_errors(s, NULL, 0);
    child_release(&s->child);
    close_fd(&s->peer.in);
    close_fd(&s->errors);
    close_fd(&s->signals);
    jsonrpc_peer_release(&s->peer);
    buf_release(&s->error_tail);
    mask_stream_release(&s->shown_errors);
    arena_release(&s->scratch);
}
