#include "doctor/version_probe.h"

#include "base/term.h"
#include "team/runner.h"

#include <string.h>

enum { CAPTURED = 4096, SHOWN = 80, STOP_KILL_MS = 500 };

void
version_probe_start(struct version_probe *p, const char *program, const char *flag)
{
    const char *const argv[] = { program, flag, NULL };

    p->started = runner_has(program) ? ST_OK : ST_NOT_FOUND;
    if (!p->started)
        p->started = child_start(&p->child,
                                 &(struct child_spec){ .proc = { .argv = argv, .is_group = true },
                                                       .keep = CAPTURED,
                                                       .limit_ms = VERSION_PROBE_MS,
                                                       .kill_ms = STOP_KILL_MS },
                                 NULL);
}

bool
version_probe_end(struct version_probe *p, struct buf *says)
{
    size_t begin = says->len;

    if (p->started)
        return false;
    child_wait(&p->child, -1);
    if (p->child.is_timeout || child_exit_code(&p->child) != 0 || !p->child.output.p)
        return false;
    size_t n = strcspn(p->child.output.p, "\n");
    term_last_line(says, p->child.output.p, n < p->child.output.len ? n : p->child.output.len,
                   SHOWN);
    return says->len > begin;
}

void
version_probe_release(struct version_probe *p)
{
    if (p->child.state != CHILD_NONE && p->child.state != CHILD_GONE) {
        child_kill(&p->child);
        child_wait(&p->child, STOP_KILL_MS);
    }
    child_release(&p->child);
}
