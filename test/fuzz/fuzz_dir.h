/*
 * fuzz_dir - a temporary directory for targets that write files, in memory if possible. It is
 * removed when the target exits.
 */
#ifndef FUZZ_DIR_H
#define FUZZ_DIR_H

#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static char dir_path[64];
static int dir = -1; /* dir_make opens it */

static void
dir_empty(void)
{
    DIR *d = opendir(dir_path);

    MUST(d);
    for (struct dirent *f; (f = readdir(d));)
        unlinkat(dir, f->d_name, 0);
    closedir(d);
}

static void
dir_remove(void)
{
    dir_empty();
    rmdir(dir_path);
}

/* Creates the directory once; later calls do nothing. */
static void
dir_make(void)
{
    if (dir >= 0)
        return;
    snprintf(dir_path, sizeof dir_path, "%s/cliq-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUST(mkdtemp(dir_path));
    dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    MUST(dir >= 0);
    atexit(dir_remove);
}

#endif
