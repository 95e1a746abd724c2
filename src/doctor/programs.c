/* programs - the programs that cliq itself can use: panes, agents in JavaScript, teams in git. */
#include "doctor/doctor.h"

#include "doctor/version_probe.h"

#include <stdlib.h>

static const struct {
    const char *name, *flag, *purpose, *fix;
} programs[] = {
    { "tmux", "-V", "agents run without panes", "apt install tmux" },
    { "node", "--version", "agents written in JavaScript cannot run", "apt install nodejs" },
    { "git", "--version", "agents cannot use version control", "apt install git" },
};

enum { N_PROGRAMS = sizeof programs / sizeof *programs };

struct doctor_programs {
    struct version_probe probes[N_PROGRAMS];
};

void
programs_begin(struct doctor *d)
{
    d->programs = calloc(1, sizeof *d->programs);
    for (size_t i = 0; d->programs && i < N_PROGRAMS; i++)
        version_probe_start(&d->programs->probes[i], programs[i].name, programs[i].flag);
}

static void
tell(struct doctor *d, size_t i)
{
    struct version_probe *p = &d->programs->probes[i];
    struct buf version = { 0 };

    if (version_probe_end(p, &version) && !buf_failed(&version))
        doctor_add(d, DOCTOR_OK, programs[i].name, NULL, "%.*s", (int)version.len, version.p);
    else if (p->started == ST_NOT_FOUND)
        doctor_add(d, DOCTOR_WARNING, programs[i].name, programs[i].fix, "not on PATH: %s",
                   programs[i].purpose);
    else
        doctor_add(d, DOCTOR_WARNING, programs[i].name, programs[i].fix,
                   "%s %s fails, so it may not work: %s", programs[i].name, programs[i].flag,
                   programs[i].purpose);
    buf_release(&version);
}

void
programs_look(struct doctor *d)
{
    for (size_t i = 0; d->programs && i < N_PROGRAMS; i++)
        tell(d, i);
}

void
programs_release(struct doctor *d)
{
    for (size_t i = 0; d->programs && i < N_PROGRAMS; i++)
        version_probe_release(&d->programs->probes[i]);
    free(d->programs);
    d->programs = NULL;
}
