/*
 * bench/least - the least a program can do to append a line durably: the floor
 * under `cliq channel post`. Static. It checks nothing, builds nothing, prints nothing.
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
