/*
 * bench/react - the least that starts a program for each line of a file: the lower bound for a
 * room's manager.
 *
 * Blocks in read(2) of an inotify descriptor, reads what is new, and runs PROGRAM once for each
 * line, through `/bin/sh -c` as a role's command is. No JSON, no states, no journal, no sync.
 * Prints "ready" when it watches.
 *
 * Usage: react FILE COMMAND
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int
main(int argc, char **argv)
{
    static char events[4096], lines[65536];

    if (argc != 3)
        return 2;
    int fd = open(argv[1], O_RDONLY), watch = inotify_init();
    if (fd < 0 || lseek(fd, 0, SEEK_END) < 0 || inotify_add_watch(watch, argv[1], IN_MODIFY) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (read(watch, events, sizeof events) > 0) {
        ssize_t n = read(fd, lines, sizeof lines);
        for (char *p = lines; n > 0 && (p = memchr(p, '\n', (size_t)(lines + n - p))); p++) {
            char *const sh[] = { "/bin/sh", "-c", argv[2], NULL };
            pid_t pid;
            if (posix_spawn(&pid, sh[0], NULL, NULL, sh, environ) || waitpid(pid, NULL, 0) < 0)
                return 1;
        }
    }
    return 1;
}
