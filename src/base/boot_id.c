#include "base/boot_id.h"

#include "base/sys.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum status
boot_id_read(char to[BOOT_ID_SIZE], struct err *e)
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    static _Thread_local char known[BOOT_ID_SIZE]; /* it does not change while we live */

    memcpy(to, known, BOOT_ID_SIZE);
    if (to[0])
        return ST_OK;
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
    if (fd < 0 && (errno == ENOENT || errno == EACCES))
        return err_set(e, ST_NOT_FOUND, "%s cannot be read: is /proc mounted?", path);
    if (fd < 0)
        return err_sys(e, "read %s", path);
    ssize_t n = SYS_RETRY(sys->read(fd, to, BOOT_ID_SIZE - 1));
    enum status s = n < 0 ? err_sys(e, "read %s", path) : ST_OK;
    to[n > 0 ? n : 0] = '\0';
    close(fd);
    to[strspn(to, "0123456789abcdef-")] = '\0';
    memcpy(known, to, BOOT_ID_SIZE);
    return s || to[0] ? s : err_set(e, ST_IO, "%s holds no boot id", path);
}
