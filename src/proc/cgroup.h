/*
 * cgroup - a control group (version 2) for an agent's process. Its descendants stay in it, even
 * when they leave their session, parents and environment.
 *
 * Made below the group that we are in ourselves, where that is mounted and we may; where not there
 * is none, silently, and trees are found without (proc/proc_tree.c). No controller is used, no
 * limit set. The name is "cliq-<pid>-<start time>-<number>" of its maker, so no name is used twice
 * in a boot, and an empty group shows whether its maker is gone.
 *
 * A path here is as /proc/<pid>/cgroup tells it, not where it is mounted: it stands in attempt
 * files, which another process may read that sees other mounts. What such a file says is believed
 * only of a path that ends with a name of ours.
 */
#ifndef CLIQ_PROC_CGROUP_H
#define CLIQ_PROC_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CGROUP_PATH_SIZE 512 /* with the NUL; a deeper process gets no cgroup */

/* Makes one. *dir is its open directory then (O_PATH, close-on-exec). False: there is none, path is
 * "". */
bool cgroup_make(char path[CGROUP_PATH_SIZE], int *dir);
/* The directory of the group around all those that such a process was put into, when we are in one:
 * for a process that is to outlive it. -1: we are in none. */
int cgroup_open_outside(void);
/* Moves the calling process into the group. Only async-signal-safe calls. */
bool cgroup_enter(int dir);

/* Could we have made it? No ".." in it, and a name of ours at its end. */
bool cgroup_is_ours(const char *path);

/* The processes in it and in groups below it, by pid; a 0 is one that our /proc does not have. */
struct cgroup_pids {
    pid_t *v;
    size_t n, cap;
};
/* Fills it anew. False: not known. A group that does not exist is empty. */
bool cgroup_list(const char *path, struct cgroup_pids *pids);
bool cgroup_has(const struct cgroup_pids *pids, pid_t pid);
/* SIGKILL to all of them at once; false where the kernel cannot (before 5.14). */
bool cgroup_kill(const char *path);

/* Removes it, and those below it, if no process is in it. "" is fine. */
void cgroup_remove(const char *path);
/* Did one stay that was to be removed? */
bool cgroup_is_untidy(void);
/* Removes empty groups beside ours that this process, or a dead process, made. */
void cgroup_sweep(void);

#endif
