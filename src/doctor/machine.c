#include "doctor/machine.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/sys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MIB = 1 << 20, JUMP_MS = 120000, INSTANCES_MIN = 32, WATCHES_MIN = 4096 };

static const int64_t YEAR_2024_MS = 1704067200000;

enum doctor_level
machine_judge_space(uint64_t free_bytes)
{
    return free_bytes < (uint64_t)64 * MIB     ? DOCTOR_ERROR
           : free_bytes < (uint64_t)1024 * MIB ? DOCTOR_WARNING
                                               : DOCTOR_OK;
}

enum doctor_level
machine_judge_inotify(int64_t instances, int64_t watches)
{
    return instances < INSTANCES_MIN || watches < WATCHES_MIN ? DOCTOR_WARNING : DOCTOR_OK;
}

enum doctor_level
machine_judge_clock(int64_t now_ms, int64_t newest_ms)
{
    return now_ms < YEAR_2024_MS          ? DOCTOR_ERROR
           : newest_ms - now_ms > JUMP_MS ? DOCTOR_WARNING
                                          : DOCTOR_OK;
}

/* ---- disk ---- */

static void
look_at_disk(struct doctor *d, const char *name, const char *path)
{
    struct statvfs st;
    char size[32];

    if (!path || statvfs(path, &st) != 0)
        return;
    uint64_t room = (uint64_t)st.f_bavail * st.f_frsize;
    if (room >= (uint64_t)1024 * MIB)
        snprintf(size, sizeof size, "%.1f GiB", (double)room / (1024.0 * MIB));
    else
        snprintf(size, sizeof size, "%.1f MiB", (double)room / MIB);
    enum doctor_level level = machine_judge_space(room);
    doctor_add(d, level, name, level ? "cliq hub compact" : NULL, "%s free in %s", size, path);
    if (st.f_files && st.f_favail < 1000)
        doctor_add(d, DOCTOR_ERROR, name, NULL, "the disk of %s has room for %ju files only", path,
                   (uintmax_t)st.f_favail);
}

/* ---- inotify ---- */

static int64_t
read_limit(const char *name)
{
    char path[80];
    struct buf text = { 0 };
    int64_t n = INT64_MAX;

    snprintf(path, sizeof path, "/proc/sys/fs/inotify/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && path_read_fd(fd, path, &text, NULL) == ST_OK && text.p)
        n = strtoll(text.p, NULL, 10);
    if (fd >= 0)
        close(fd);
    buf_release(&text);
    return n;
}

static void
look_at_inotify(struct doctor *d)
{
    static const char raise[] = "sudo sysctl fs.inotify.max_user_instances=512";
    int64_t instances = read_limit("max_user_instances"), watches = read_limit("max_user_watches");
    int fd = sys->inotify_init(IN_CLOEXEC | IN_NONBLOCK);

    if (fd < 0)
        doctor_add(d, DOCTOR_ERROR, "inotify", raise,
                   "no inotify instance is free (%s), so commands that wait cannot be woken",
                   strerror(errno));
    else if (machine_judge_inotify(instances, watches))
        doctor_add(d, DOCTOR_WARNING, "inotify", raise,
                   "only %" PRId64 " instances and %" PRId64 " watches for all your programs",
                   instances, watches);
    else if (instances == INT64_MAX)
        doctor_add(d, DOCTOR_OK, "inotify", NULL, "works");
    else
        doctor_add(d, DOCTOR_OK, "inotify", NULL, "%" PRId64 " instances, %" PRId64 " watches",
                   instances, watches);
    if (fd >= 0)
        close(fd);
}

/* ---- clock ---- */

static int64_t
written_ms(const char *path)
{
    struct stat st;

    return path && stat(path, &st) == 0
               ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000
               : 0;
}

static void
look_at_clock(struct doctor *d)
{
    int64_t now_ms = clock_wall_ns() / 1000000;
    int64_t hub_ms =
        d->config ? written_ms(doctor_text(d, "%s/signals/events.jsonl", d->config)) : 0;
    int64_t run_ms = d->project.state_dir
                         ? written_ms(doctor_text(d, "%s/run/journal.jsonl", d->project.state_dir))
                         : 0;
    int64_t newest_ms = hub_ms > run_ms ? hub_ms : run_ms;
    enum doctor_level level = machine_judge_clock(now_ms, newest_ms);
    char now[CLOCK_ISO_SIZE], newest[CLOCK_ISO_SIZE];

    clock_iso_ms(now, now_ms);
    clock_iso_ms(newest, newest_ms);
    if (level == DOCTOR_ERROR)
        doctor_add(d, level, "clock", "sudo timedatectl set-ntp true",
                   "it shows %.19sZ: it was never set", now);
    else if (level == DOCTOR_WARNING)
        doctor_add(d, level, "clock", "timedatectl status",
                   "it shows %.19sZ, and a log was written at %.19sZ: it was set back", now,
                   newest);
    else
        doctor_add(d, level, "clock", NULL, "%.19sZ", now);
}

void
machine_look(struct doctor *d)
{
    const char *home = d->config && access(d->config, F_OK) == 0 ? d->config : getenv("HOME");

    look_at_disk(d, "disk", home);
    if (d->project.project_dir)
        look_at_disk(d, "project disk", d->project.project_dir);
    look_at_inotify(d);
    look_at_clock(d);
}
