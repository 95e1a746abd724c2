#include "agents/raw_stream.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int
raw_stream_open(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/fd/1", path, sizeof path - 1);

    if (n <= 4)
        return -1;
    path[n] = '\0';
    if (strcmp(path + n - 4, ".log") != 0 || !strstr(path, "/run/logs/"))
        return -1;
    memcpy(path + n - 4, ".raw", 4);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}
