/*
 * Signals in an event loop: waits with poll(2) for lines on standard input and for signals, and
 * prints both. A real program adds cliq_hub_fd to its own event loop.
 *
 *     cc hub_poll.c $(pkg-config --cflags --libs cliq) -o hub_poll
 *     ./hub_poll 'build:*:done'
 *
 * It ends at the end of standard input.
 */
#include <cliq.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* Prints all pending signals; CLIQ_TIMEOUT: there are no more. */
static cliq_status
take(cliq_hub *hub, cliq_error *err)
{
    cliq_signal_info signal = CLIQ_SIGNAL_INFO_INIT;
    cliq_status s;

    while (!(s = cliq_next(hub, 0, &signal, err)))
        printf("signal %s %s\n", signal.type, signal.content ? signal.content : "");
    fflush(stdout);
    return s;
}

int
main(int argc, char **argv)
{
    cliq_error err = CLIQ_ERROR_INIT;
    cliq_listen_options what = CLIQ_LISTEN_OPTIONS_INIT;
    cliq_hub *hub = NULL;
    char line[200];

    what.pattern = argc > 1 ? argv[1] : NULL;
    cliq_status s = cliq_hub_open(&hub, NULL, &err);
    if (!s)
        s = cliq_listen(hub, &what, &err);
    struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                            { .fd = s ? -1 : cliq_hub_fd(hub), .events = POLLIN } };
    if (!s && fds[1].fd < 0)
        s = CLIQ_IO;
    if (!s)
        s = take(hub, &err);
    while (s == CLIQ_TIMEOUT && poll(fds, 2, -1) >= 0) {
        if (fds[1].revents)
            s = take(hub, &err);
        if (fds[0].revents) {
            ssize_t n = read(STDIN_FILENO, line, sizeof line);
            if (n <= 0)
                break;
            printf("input %.*s", (int)n, line);
            fflush(stdout);
        }
    }
    if (s != CLIQ_TIMEOUT)
        fprintf(stderr, "%s\n", err.text);
    cliq_hub_close(hub);
    return s == CLIQ_TIMEOUT ? CLIQ_OK : (int)s;
}
