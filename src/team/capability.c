#include "team/capability.h"

#include "team/manifest.h"

#include <stdio.h>

static bool
can(const struct json *manifest, enum phase_type type)
{
    char capability[32];

    snprintf(capability, sizeof capability, "phase:%s", phase_type_name(type));
    return manifest_can(manifest, capability);
}

void
capability_check(const struct team *t, const struct phase *ph, const char *agent,
                 const struct json *manifest, struct problems *p)
{
    static const char *const says[] = {
        [PHASE_STANDARD] = "runs phases of type: standard, and decides no gates",
        [PHASE_GATE] = "decides gates: write type: gate",
        [PHASE_TEAM] = "runs phases of type: team",
    };
    const struct yaml *v = yaml_get(ph->node, "agent");
    struct problem_at at = { t->file, v ? v->line : ph->line, v ? v->column : ph->column, ph->name,
                             "agent" };

    if (can(manifest, ph->type))
        return;
    for (int type = PHASE_STANDARD; type <= PHASE_TEAM; type++) {
        if (can(manifest, type)) {
            problem_error(p, at, "the agent %.80s %s", agent,
                          ph->type == PHASE_TEAM ? "does not run phases of type: team"
                                                 : says[type]);
            return;
        }
    }
    problem_error(p, at, "the agent %.80s runs no phases: %s", agent,
                  manifest_can(manifest, "notify")
                      ? "name it in notify"
                      : "the capabilities of its manifest have no phase:standard");
}
