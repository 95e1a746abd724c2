#define _GNU_SOURCE
#include "doctor/stale_files.h"

#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STALE_S = 3600 };

/* ".tmp-18af03d2…" (context/state_dir.c), ".settings.json.new", "delayed.json.tmp", "index.db.new"
 */
static bool
is_temp(const char *name)
{
    return strncmp(name, ".tmp-", 5) == 0 || strcmp(name, ".settings.json.new") == 0 ||
           strcmp(name, "delayed.json.tmp") == 0 || strncmp(name, "index.db.new", 12) == 0;
}

/* Counts the stale ones, and removes them when asked. */
static size_t
sweep(const char *path, bool is_removing)
{
    DIR *d = opendir(path);
    int64_t now_s = clock_wall_ns() / 1000000000;
    size_t n = 0;

    for (struct dirent *x; d && (x = readdir(d));) {
        struct stat st;
        if (!is_temp(x->d_name) || fstatat(dirfd(d), x->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode) || now_s - st.st_mtim.tv_sec < STALE_S)
            continue;
        n++;
        if (is_removing)
            unlinkat(dirfd(d), x->d_name, 0);
    }
    if (d)
        closedir(d);
    return n;
}

void
stale_files_look(struct doctor *d, const char *dir)
{
    size_t n = sweep(dir, false);

    if (n)
        doctor_add_mendable(d, DOCTOR_WARNING, "temporary files", "cliq doctor --fix",
                            "%zu file%s that a killed process left in %s", n, n == 1 ? "" : "s",
                            dir);
}

void
stale_files_mend(const char *dir)
{
    sweep(dir, true);
}
