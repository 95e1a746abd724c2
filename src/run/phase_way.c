#include "run/phase_way.h"

#include "context/frames.h"
#include "run/workflow.h"

#include <stdio.h>
#include <string.h>

enum status
phase_way_enter(struct state_dir *f, const char **phase, struct err *e)
{
    enum status s = ST_OK;

    for (const char *slash; !s && (slash = strchr(*phase, '/')) != NULL; *phase = slash + 1) {
        char name[TEAM_PHASE_NAME_MAX + 1];
        struct state_dir frame = { .dir = -1 };
        size_t n = (size_t)(slash - *phase);
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), *phase);
        s = frame_open(&frame, f, name, false, e);
        if (s == ST_NOT_FOUND || s == ST_INVALID) {
            struct workflow w;
            size_t i;
            s = workflow_load(&w, f, e);
            if (!s)
                s = team_find_phase(&w.team, name, &i, e);
            if (!s)
                s = err_set(e, ST_NOT_FOUND, "phase %s is no team that has run", name);
            workflow_release(&w);
        }
        if (!s) {
            state_dir_close(f);
            *f = frame;
        }
    }
    return s;
}
