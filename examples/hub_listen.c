/*
 * Prints signals as they come, one line of JSON each:
 *
 *     cc hub_listen.c $(pkg-config --cflags --libs cliq) -o listen
 *     ./listen 'build:*:done'         signals whose type matches, for any receiver
 *     ./listen -                      your inbox
 *     ./listen - 41                   your inbox, after signal 41
 *
 * With CLIQ_URL and CLIQ_KEY it listens to a server and reconnects when the server restarts. On
 * SIGINT it prints the number of the last signal, from which the next run can continue, and ends.
 */
#include <cliq.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cliq_hub *hub;

static void
stop(int sig)
{
    (void)sig;
    cliq_hub_stop(hub);
}

int
main(int argc, char **argv)
{
    cliq_error err = CLIQ_ERROR_INIT;
    cliq_listen_options what = CLIQ_LISTEN_OPTIONS_INIT;
    cliq_signal_info signal_info = CLIQ_SIGNAL_INFO_INIT;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s PATTERN|- [SEQ]\n", argv[0]);
        return CLIQ_INVALID;
    }
    if (strcmp(argv[1], "-") != 0)
        what.pattern = argv[1];
    if (argc == 3) {
        what.after = strtoull(argv[2], NULL, 10);
        what.from_start = what.after == 0;
    }
    cliq_status s = cliq_hub_open(&hub, NULL, &err);
    if (!s) {
        signal(SIGINT, stop);
        s = cliq_listen(hub, &what, &err);
    }
    if (!s)
        fprintf(stderr, "listening\n");
    while (!s && !(s = cliq_next(hub, -1, &signal_info, &err))) {
        printf("%s\n", signal_info.json);
        fflush(stdout);
    }
    if (s == CLIQ_CANCELLED)
        fprintf(stderr, "the last was %" PRIu64 "\n", signal_info.seq);
    else if (s)
        fprintf(stderr, "%s\n", err.text);
    cliq_hub_close(hub);
    return s == CLIQ_CANCELLED ? CLIQ_OK : (int)s;
}
