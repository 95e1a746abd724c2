/*
 * doctor - looks whether cliq can work here, and says what to do where it cannot: `cliq doctor`.
 *
 * doctor.c has the table of checks, one row a check; each check is in the file of its noun:
 *
 *     programs.c        tmux, node, git                   begin: asks for their versions
 *     agent_health.c    the agents of the workflow, or those of this machine
 *     machine.c         disk, inotify, clock
 *     user_files.c      <config>: settings, permissions, temporary files, the alarm
 *     store_health.c    the hub's log, index and delayed.json
 *     project_health.c  .cliq/: its files, trust, runs and processes that were left
 *
 * A check has up to three functions. `begin` starts processes, so that all of them run at the same
 * time; `look` adds findings; `mend` does what can be undone or made again without a loss. With
 * is_mending, a check that found something mendable is mended and looks again: what is still wrong
 * is told as it is then, and what was mended is told once.
 *
 * Order of calls: doctor_open, doctor_examine, read the findings, doctor_release (in any state).
 * Ownership: findings and their texts live in d->arena.
 *
 * Tests: test/scenario/doctor.bats test/unit/test_doctor_machine.c
 */
#ifndef CLIQ_DOCTOR_DOCTOR_H
#define CLIQ_DOCTOR_DOCTOR_H

#include "context/state_dir.h"
#include "team/settings.h"

#define DOCTOR_LIMIT_MS 10000

/* Only an ERROR is a problem: the exit code is 1 then. */
enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_ERROR };

struct doctor_finding {
    struct doctor_finding *next;
    const char *section; /* "Agents" */
    const char *agent;   /* that it is about; NULL: none */
    const char *name;    /* "tmux", "api_key" */
    enum doctor_level level;
    const char *says;
    const char *fix;  /* the command that mends it; NULL: none */
    bool is_mendable; /* --fix can do it */
};

struct doctor_options {
    const char *agent; /* only this agent; NULL: everything */
    bool is_offline;   /* agents are not asked to test their connections */
    bool is_mending;   /* --fix */
    int64_t limit_ms;  /* of a connection test; 0: DOCTOR_LIMIT_MS */
};

struct doctor {
    struct doctor_options o;
    struct arena arena;
    struct state_dir project; /* dir -1: none here */
    const char *refused;      /* why a .cliq/ here is not used; NULL: none */
    struct settings settings; /* merged NULL: not readable, which user_files.c tells */
    const char *config;       /* the user's directory; NULL: $HOME is not set */
    struct doctor_finding *first, **end;
    size_t errors, warnings, mended;
    /* of the check that looks now */
    const char *section, *agent;
    struct doctor_programs *programs;
    struct doctor_agents *agents;
};

enum status doctor_open(struct doctor *d, const struct doctor_options *o, struct err *e);
enum status doctor_examine(struct doctor *d, struct err *e);
void doctor_release(struct doctor *d);

const char *doctor_level_name(enum doctor_level level); /* "warning" */

/* ---- for checks ---- */

/* Adds a finding; fix may be NULL. Texts are copied. Returns it, or NULL without memory. */
struct doctor_finding *
doctor_add(struct doctor *d, enum doctor_level level, const char *name, const char *fix,
           const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same for what `mend` of this check can do. */
struct doctor_finding *
doctor_add_mendable(struct doctor *d, enum doctor_level level, const char *name, const char *fix,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A text in the arena; "" without memory. */
const char *
doctor_text(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void programs_begin(struct doctor *d);
void programs_look(struct doctor *d);
void programs_release(struct doctor *d);
void agent_health_begin(struct doctor *d);
void agent_health_look(struct doctor *d);
void agent_health_release(struct doctor *d);
void machine_look(struct doctor *d);
void user_files_look(struct doctor *d);
void user_files_mend(struct doctor *d);
void store_health_look(struct doctor *d);
void store_health_mend(struct doctor *d);
void project_health_look(struct doctor *d);
void project_health_mend(struct doctor *d);

#endif
