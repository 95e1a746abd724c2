/*
 * proc - an attempt's process tree: started, watched, stopped to the last descendant.
 *
 * The child, before it executes the agent, creates attempts/<phase>.<n>, which must not
 * be there: a symbolic link to "pid start_time boot_id [cgroup]", so an attempt runs at most once,
 * whatever dies when. A link appears whole, in one call; a plain file is a void attempt when
 * it is empty, or one that an older version made. The agent has its own session, standard input and
 * output are files, and CLIQ_ATTEMPT=<run_id>/<phase>.<n> stands in its environment for life.
 *
 * Where it can be had the process has a cgroup of its own (proc/cgroup.h), which tells whose a
 * process is that left all else behind. The process that sees its end removes the cgroup.
 *
 * A pid is never trusted alone: identity is pid + start time (field 22 of stat) + boot
 * id. "Unknown" is never taken for "dead".
 *
 * A process with CLIQ_WAKE=<id> in its environment belongs to no tree (wake/wake.h), except to a
 * tree of the supervisor that has the same CLIQ_WAKE.
 *
 * proc.c starts, proc_tree.c watches and stops, procfs.c reads /proc for both.
 */
#ifndef CLIQ_PROC_PROC_H
#define CLIQ_PROC_PROC_H

#include "base/err.h"
#include "proc/cgroup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_id {
    pid_t pid;
    uint64_t start; /* clock ticks since boot */
    char boot_id[40];
    char cgroup[CGROUP_PATH_SIZE]; /* that it was put into; "": none */
};

/* Describes a process. Strings are borrowed during the call only. */
struct proc_spec {
    const char *const *argv; /* argv[0] is executed; no PATH search when it has a '/' */
    const char *file;        /* executed in place of argv[0]; NULL: argv[0] */
    const char *const *env;  /* complete: "NAME=value", NULL-ended */
    const char *dir;         /* working directory; NULL: ours */
    /* Paths, relative to our working directory: standard input (NULL: /dev/null); output
     * and errors, appended (NULL: as ours). */
    const char *in, *out;
    /* Open descriptors, close-on-exec and above 2, in place of those files. 0: none. With out_fd
     * alone, errors stay as ours. */
    int in_fd, out_fd, err_fd;
    bool is_group; /* a process group of its own in our session; else a session of its own */
    const char
        *attempt_file; /* a link that is made; EEXIST means: started before; NULL: none is made */
    /* An open directory whose path, with the slash behind it, is how all three begin, and the
     * length of that: then they need not be walked from the root. 0: none. */
    int base;
    size_t base_len;
    bool is_woken; /* it belongs to no attempt (wake/wake.h): no cgroup is made, and ours is left */
};

/*
 * Starts it. A failed step in the child (attempt file, chdir, exec) comes back here as
 * an error: ST_CONFLICT when the attempt file was there already (nothing was run),
 * ST_NOT_FOUND when a file, directory or program is missing, else as err_sys. *id identifies
 * it. The attempt file is made last: only a failed exec leaves one behind.
 */
enum status proc_spawn(const struct proc_spec *spec, struct proc_id *id, struct err *e);

/* Reads an attempt file. ST_NOT_FOUND: the child never came that far, or the attempt is
 * void. ST_INVALID: it is no attempt file. */
enum status proc_read_id(const char *attempt_file, struct proc_id *id, struct err *e);
/* Creates an empty attempt file so that a late child cannot start. ST_CONFLICT: it is there. */
enum status proc_void(const char *attempt_file, struct err *e);
/* The identity of the process that has this pid now. ST_NOT_FOUND: none. */
enum status proc_identify(pid_t pid, struct proc_id *id, struct err *e);

enum proc_alive { PROC_ALIVE, PROC_DEAD, PROC_UNKNOWN };
enum proc_alive proc_alive(const struct proc_id *id);
/* Its wait status; false unless it is a zombie that is not reaped yet. */
bool proc_how_died(const struct proc_id *id, int *wait_status);
/* A descriptor that becomes readable when it dies, -1 if it cannot be had (check
 * proc_alive then). Close-on-exec. */
int proc_pidfd(const struct proc_id *id);

/* A pipe, close-on-exec and not blocking. Its write end is above 2: no standard descriptor of a
 * child takes its place. */
int proc_pipe(int ends[2]);

/* Lets this process open so many files, as far as it may; returns how many it may. What
 * proc_spawn starts has the limit that it had before. */
size_t proc_raise_files(size_t wanted);

/* Makes this process the one that orphans of its agents are given to. */
void proc_be_subreaper(void);
/* Reaps every dead child without blocking; calls fn for each. */
void proc_reap(void (*fn)(void *ctx, pid_t pid, int wait_status), void *ctx);

/*
 * Everything that belongs to an attempt: its process and session, their descendants,
 * whatever carries `token` (the value of CLIQ_ATTEMPT) in its environment, and every process in its
 * cgroup (unless we are in that ourselves). Sends the
 * signal to each, then SIGCONT so that stopped ones act on it (signo 0: none), and returns
 * how many live (not zombies) were seen, or -1 when /proc could not be read. Never signals
 * this process or pid 1. Before SIGKILL all are stopped, and looked for again until no new
 * one is found: none forks away. One that is not allowed (another user's) counts as seen.
 *
 * Call it again until it returns 0. Members of a session whose leader is gone count only
 * with the token, as descendants or as children of this process: pids are used again.
 */
int proc_signal_tree(const struct proc_id *id, const char *token, int signo);
/* The same with another variable than CLIQ_ATTEMPT for the token: "NAME=". `seen` carries the
 * members from one call to the next, so that one that loses its parent in between is still known.
 * Zero is empty; free(seen.v). */
struct proc_seen {
    struct proc_member {
        pid_t pid;
        uint64_t start;
    } * v;
    size_t n;
};
int proc_signal_marked(const struct proc_id *id, const char *name, const char *token,
                       struct proc_seen *seen, int signo);
/* The same for children of this process but the `n` known ones, and their descendants:
 * orphans that came to us (proc_be_subreaper) without session, token or parent to tell whose
 * they were. For when no attempt runs any more, or only the one that is being stopped. */
int proc_signal_strays(const pid_t *known, size_t n, int signo);
/* Cheap question first: can anything of it be left? False when its process is gone and
 * this process has no children but the `n` known ones. Always true where orphans do not come
 * to us: we are no subreaper, or it was there before us (a resumed run). */
bool proc_may_have_left(const struct proc_id *id, const pid_t *known, size_t n);

#endif
