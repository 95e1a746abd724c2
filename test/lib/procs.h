/*
 * procs - what the tests of run/proc share: processes that wait, and a hostile agent.
 *
 * Called with arguments a test program is the agent: "hostile KIND FILE" makes one of the trees of
 * `kinds`, every process of which appends "pid start\n" to FILE and waits for its end.
 */
#ifndef CLIQ_TEST_PROCS_H
#define CLIQ_TEST_PROCS_H

#include "proc/proc.h"
#include "proc/procfs.h"

#include "test.h"

#include <limits.h>

extern char self_path[PATH_MAX]; /* of this test program */
extern const char *pids_file;    /* the FILE of the agent */
void without_main_thread(void);  /* one of them; does not come back */

struct kind {
    const char *name;
    void (*make)(void); /* in a child of the agent */
    int members;        /* lines in the file when the tree stands; without the agent */
    bool is_left;       /* the agent itself ends at once */
};
enum { KINDS = 12 };
extern const struct kind kinds[KINDS];

/* Called as the agent? Finds self_path, too: the first thing of main. */
bool is_agent(int argc, char **argv);
int hostile_main(const char *name, const char *file);

extern const char *const base_env[2];
struct proc_spec shell(const char *script);
struct proc_id sleeper(void);
void kill_and_reap(const struct proc_id *id);

/* The cgroups of what was started here. */
int sweep_cgroups(void **state);

#endif
