/*
 * version_probe - asks a program for its version, while other things go on.
 *
 *     struct version_probe p = { 0 };
 *     version_probe_start(&p, "tmux", "-V");
 *     ...
 *     if (version_probe_end(&p, &says))        "tmux 3.3a"
 *
 * Start never blocks; end waits for the program, at most VERSION_PROBE_MS after its start. Release
 * in any state.
 *
 * Tests: test/scenario/doctor.bats
 */
#ifndef CLIQ_DOCTOR_VERSION_PROBE_H
#define CLIQ_DOCTOR_VERSION_PROBE_H

#include "proc/child.h"

enum { VERSION_PROBE_MS = 5000 };

struct version_probe {
    struct child child;
    enum status started; /* ST_NOT_FOUND: no such program on PATH */
};

void version_probe_start(struct version_probe *p, const char *program, const char *flag);
/* Appends the first line of what it printed; false: there is none, or it failed. */
bool version_probe_end(struct version_probe *p, struct buf *says);
void version_probe_release(struct version_probe *p);

#endif
