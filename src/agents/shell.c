#include "agents/shell.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "proc/child.h"

#include <signal.h>
#include <unistd.h>

enum { GRACE_MS = 2000, KILL_MS = 2000 };

/* To the attempt's log. One that cannot be written does not matter: the result still counts. */
static void
show(void *ctx, const char *p, size_t len)
{
    (void)ctx;
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, p, len);
        if (n <= 0)
            return;
        p += n;
        len -= (size_t)n;
    }
}

enum status
shell_run(const char *text, const struct shell_options *o, struct shell_result *r, struct err *e)
{
    const char *const argv[] = { "sh", "-c", text, NULL };
    struct child_spec spec = {
        /* In our session, so that an attempt's tree is known by it. */
        .proc = { .argv = argv, .file = "/bin/sh", .is_group = true },
        .input = o->input,
        .input_len = o->input_len,
        .keep = o->keep ? o->keep : SHELL_KEEP,
        .is_err_apart = o->is_err_apart,
        .on_output = show,
        .limit_ms = o->limit_ms ? o->limit_ms : SHELL_LIMIT_MS,
        .grace_ms = GRACE_MS,
        .kill_ms = KILL_MS,
    };
    int64_t began = clock_mono_ms();
    struct child c;

    *r = (struct shell_result){ 0 };
    signal(SIGPIPE, SIG_IGN);
    enum status s = child_start(&c, &spec, e);
    if (s)
        return s;
    if (o->meanwhile)
        o->meanwhile(o->ctx);
    if (!child_wait(&c, SHELL_MOMENT_MS)) {
        if (o->later)
            o->later(o->ctx);
        child_wait(&c, -1);
    }
    r->is_timeout = c.is_timeout;
    r->exit_code = c.is_timeout ? 124 : child_exit_code(&c);
    r->duration_ms = clock_mono_ms() - began;
    r->is_cut = c.is_cut;
    r->output = c.output;
    c.output = (struct buf){ 0 };
    child_release(&c);
    if (r->is_cut) /* whole characters only: results are JSON */
        buf_drop(&r->output, utf8_half(r->output.p, r->output.len));
    return buf_status(&r->output, "the command's output", e);
}

void
shell_result_release(struct shell_result *r)
{
    buf_release(&r->output);
}
