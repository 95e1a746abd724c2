/*
 * bench/least - the smallest program that appends a line durably: the lower
 * bound for `cliq channel post`. Linked statically; no checks, no output.
 *
 * Usage: least FILE LINE
 */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int fd = open(argv[1], O_WRONLY | O_APPEND);
    size_t n = strlen(argv[2]);
    return fd < 0 || flock(fd, LOCK_EX) || write(fd, argv[2], n) != (ssize_t)n || fdatasync(fd);
}
