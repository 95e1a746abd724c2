/*
 * bench/role - the command of a room's role that records when it started, and answers.
 *
 * Appends its start time to the file STAMPS, in monotonic nanoseconds, and prints ANSWER. Uses no
 * code of cliq; linked statically, so that its own start is short.
 *
 * Usage: role STAMPS ANSWER
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    struct timespec t;
    char line[32];

    clock_gettime(CLOCK_MONOTONIC, &t);
    if (argc != 3)
        return 2;
    int n =
        snprintf(line, sizeof line, "%jd\n", (intmax_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec);
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    return fd < 0 || write(fd, line, (size_t)n) != n || puts(argv[2]) < 0;
}
