#define _GNU_SOURCE
#include "doctor/connection_test.h"

#include "base/path.h"
#include "base/term.h"
#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/status_line.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPTURED = 8192, GRACE_MS = 500, KILL_MS = 1000, WORDS_MAX = 300, FILES_OPEN = 16 };

static const char TEST_ID[] = "doctor";

/* ---- its directory ---- */

static enum status
make_dir(struct connection_test *t, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char signals[PATH_MAX + 16];
    int n = snprintf(t->dir, sizeof t->dir, "%s/cliq-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");

    if (n < 0 || (size_t)n >= sizeof t->dir || !mkdtemp(t->dir)) {
        enum status s = err_sys(e, "make a directory in %s", tmp && *tmp ? tmp : "/tmp");
        t->dir[0] = '\0';
        return s;
    }
    snprintf(signals, sizeof signals, "%s/signals", t->dir);
    return mkdir(signals, 0700) == 0 ? ST_OK : err_sys(e, "make %s", signals);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)at;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

/* ---- the message ---- */

static void
write_message(const struct connection_test *t, const struct doctor *d, const struct agent *agent,
              struct buf *to)
{
    char cwd[PATH_MAX];
    const char *here = d->project.project_dir    ? d->project.project_dir
                       : getcwd(cwd, sizeof cwd) ? cwd
                                                 : "/";
    char signals[PATH_MAX + 16];

    snprintf(signals, sizeof signals, "%s/signals", t->dir);
    agent_message_begin(to, &(struct agent_message){ .type = "test",
                                                     .agent = agent->name,
                                                     .instance_id = TEST_ID,
                                                     .project_dir = here,
                                                     .work_dir = here,
                                                     .signal_dir = signals,
                                                     .settings = agent->settings,
                                                     .state_dir = t->dir });
    json_key_str(to, "id", TEST_ID);
}

static enum status
start(struct connection_test *t, struct doctor *d, const struct agent *agent, struct err *e)
{
    struct env vars = { .arena = &d->arena };
    struct buf message = { 0 };

    env_base(&vars, agent);
    env_add(&vars, "CLIQ_STATE_DIR", t->dir);
    if (d->project.project_dir)
        env_add(&vars, "CLIQ_PROJECT_DIR", d->project.project_dir);
    settings_add_secrets(&t->secrets, d->settings.merged, NULL);
    settings_add_env_secrets(&t->secrets, vars.v);
    write_message(t, d, agent, &message);
    enum status s = vars.is_starved ? err_nomem(e) : agent_message_end(&message, e);
    if (!s)
        s = mask_build(&t->secrets, e);
    if (!s)
        s = child_start(
            &t->child,
            &(struct child_spec){
                .proc = { .argv = agent->argv, .env = vars.v, .dir = d->project.project_dir },
                .input = message.p,
                .input_len = message.len,
                .keep = CAPTURED,
                .limit_ms = d->o.limit_ms,
                .grace_ms = GRACE_MS,
                .kill_ms = KILL_MS },
            e);
    buf_release(&message);
    return s;
}

void
connection_test_start(struct connection_test *t, struct doctor *d, const struct agent *agent)
{
    t->agent = agent->name;
    enum status s = make_dir(t, &t->why);
    if (!s)
        s = start(t, d, agent, &t->why);
    t->is_started = !s;
}

/* ---- the answer ---- */

/* The last line of its file that ends the test. False: there is none. */
static bool
read_answer(const struct connection_test *t, struct arena *a, struct status_line *out)
{
    struct buf path = { 0 }, text = { 0 };
    bool is_there = false;

    buf_addf(&path, "%s/signals/_test-%s-%s.jsonl", t->dir, t->agent, TEST_ID);
    if (!buf_failed(&path) && path_read_file(AT_FDCWD, path.p, &text, NULL) == ST_OK && text.p) {
        char *kept = arena_dup(a, text.p, text.len);
        for (char *at = kept, *next; at && *at; at = next) {
            size_t n = strcspn(at, "\n");
            struct json *line = NULL;
            next = at + n + (at[n] == '\n');
            if (!json_parse(a, at, n, &line, NULL))
                continue;
            struct status_line one = status_line_read(a, line);
            if (one.status == LINE_COMPLETE || one.status == LINE_ERROR) {
                *out = one;
                is_there = true;
            }
        }
    }
    buf_release(&path);
    buf_release(&text);
    return is_there;
}

/* Its last words, or how it ended. */
static void
tell_silence(const struct connection_test *t, struct buf *to)
{
    const struct buf *output = &t->child.output;
    size_t begin;

    buf_addf(to, "the test gave no answer (exit code %d)", child_exit_code(&t->child));
    buf_adds(to, ": ");
    begin = to->len;
    term_last_line(to, output->p ? output->p : "", output->len, WORDS_MAX);
    if (!buf_failed(to) && to->len == begin)
        buf_cut(to, begin - 2);
}

static bool
judge(const struct connection_test *t, struct doctor *d, struct buf *to)
{
    struct status_line line;
    bool passed = true;

    if (!t->is_started) {
        buf_adds(to, t->why.text);
        return false;
    }
    if (t->child.is_timeout) {
        buf_addf(to, "no answer within %g s", (double)d->o.limit_ms / 1000);
        return false;
    }
    if (!read_answer(t, &d->arena, &line)) {
        tell_silence(t, to);
        return false;
    }
    if (line.status == LINE_ERROR) {
        buf_adds(to, line.error ? line.error : "the test failed");
        return false;
    }
    json_bool(json_get(line.result, "passed"), &passed);
    const char *message = json_dup_text(&d->arena, json_get(line.result, "message"));
    buf_adds(to, message ? message : passed ? "" : "the test failed");
    return passed;
}

bool
connection_test_end(struct connection_test *t, struct doctor *d, struct buf *says)
{
    struct mask_stream stream = { 0 };
    struct buf plain = { 0 };

    if (t->is_started)
        child_wait(&t->child, -1);
    bool passed = judge(t, d, &plain);
    if (mask_stream_init(&stream, &t->secrets, NULL) == ST_OK && !buf_failed(&plain)) {
        mask_write(&stream, plain.p ? plain.p : "", plain.len, says);
        mask_end(&stream, says);
    }
    mask_stream_release(&stream);
    buf_release(&plain);
    return passed;
}

void
connection_test_release(struct connection_test *t)
{
    if (t->child.state != CHILD_NONE && t->child.state != CHILD_GONE) {
        child_kill(&t->child);
        child_wait(&t->child, KILL_MS);
    }
    child_release(&t->child);
    mask_release(&t->secrets);
    if (t->dir[0])
        nftw(t->dir, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
    t->dir[0] = '\0';
}
