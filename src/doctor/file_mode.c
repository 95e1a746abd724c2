#define _GNU_SOURCE
#include "doctor/file_mode.h"

#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The bits that the owner needs, and those that others may not have. */
static mode_t
wanted(enum file_kind kind)
{
    return kind == DIR_OWN ? 0700 : 0600;
}

static mode_t
unwanted(enum file_kind kind)
{
    return kind == FILE_PRIVATE ? 077 : 022;
}

static bool
is_good(mode_t mode, enum file_kind kind)
{
    return (mode & wanted(kind)) == wanted(kind) && !(mode & unwanted(kind));
}

bool
file_mode_look(struct doctor *d, const char *name, const char *path, enum file_kind kind)
{
    struct stat st;
    const char *change = kind == FILE_PRIVATE ? "u+rw,go="
                         : kind == FILE_OWN   ? "u+rw,go-w"
                                              : "u+rwx,go-w";

    if (sys->fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(st.st_mode))
        return false;
    if (st.st_uid != geteuid()) {
        doctor_add(d, DOCTOR_ERROR, name,
                   doctor_text(d, "sudo chown -R %u %s", (unsigned)geteuid(), path),
                   "%s belongs to another user (uid %u)", path, (unsigned)st.st_uid);
        return false;
    }
    if (is_good(st.st_mode, kind))
        return true;
    doctor_add_mendable(d, DOCTOR_ERROR, name, doctor_text(d, "chmod %s %s", change, path),
                        "%s may be %s (mode %o)", path,
                        st.st_mode & unwanted(kind) & 022 ? "written by others"
                        : st.st_mode & unwanted(kind)     ? "read by others, and holds secrets"
                        : st.st_mode & 0400               ? "read only"
                                                          : "neither read nor written",
                        (unsigned)st.st_mode & 07777);
    return false;
}

void
file_mode_mend(const char *path, enum file_kind kind)
{
    struct stat st;
    char same[40]; /* this very file, whatever its path becomes meanwhile */
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    snprintf(same, sizeof same, "/proc/self/fd/%d", fd);
    if (fd >= 0 && sys->fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode) && st.st_uid == geteuid() &&
        !is_good(st.st_mode, kind)) {
        int failed = chmod(same, (st.st_mode | wanted(kind)) & 07777 & ~unwanted(kind));
        (void)failed; /* the second look tells */
    }
    if (fd >= 0)
        close(fd);
}
