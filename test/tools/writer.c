/*
 * writer - posts many messages to a room from one process, quickly, the way
 * `cliq channel post` does it, but without starting a process for each.
 *
 *   writer ROOM NAME COUNT [--durable] [--reopen]
 *
 * Message n has the ref NAME and the body "é\"\\\n NAME n SIZE " and SIZE
 * letters of the alphabet, from the n-th on. The checker (check_writers.py)
 * knows how SIZE follows from NAME and n, so it knows every byte. Prints the
 * ids. --reopen opens the channel anew for each message.
 */
#include "room/room.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST = 60000 };

/* Mostly small: of 200 messages one has up to 60,000 letters and five up to 8,000. */
static size_t
size_of(const char *name, unsigned n)
{
    uint32_t h = 2166136261u; /* FNV-1a of the name and the number */
    char text[128];
    int len = snprintf(text, sizeof text, "%s %u", name, n);

    for (int i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    uint32_t kind = h % 200, r = h / 200;
    return kind == 0 ? r % (LARGEST + 1) : kind < 6 ? r % 8001 : r % 201;
}

int
main(int argc, char **argv)
{
    bool is_durable = false, reopens = false;
    static char body[LARGEST + 256], id[MESSAGE_ID_SIZE];
    struct channel c;
    struct err e = { "" };
    enum status s = ST_OK;

    for (; argc > 4; argc--) {
        is_durable = is_durable || strcmp(argv[argc - 1], "--durable") == 0;
        reopens = reopens || strcmp(argv[argc - 1], "--reopen") == 0;
    }
    if (argc != 4)
        return fprintf(stderr, "usage: writer ROOM NAME COUNT [--durable] [--reopen]\n"), 2;
    unsigned count = (unsigned)strtoul(argv[3], NULL, 10);
    struct message m = { argv[2], "all", "progress", argv[2], body, 0 };

    for (unsigned n = 0; n < count && !s; n++) {
        bool is_cut = false;
        size_t size = size_of(argv[2], n);
        m.body_len = (size_t)sprintf(body, "é\"\\\n %s %u %zu ", argv[2], n, size);
        for (size_t i = 0; i < size; i++)
            body[m.body_len++] = (char)('a' + (n + i) % 26);
        if (n == 0 || reopens)
            s = channel_open(&c, argv[1], is_durable, &e);
        if (!s)
            s = channel_post(&c, &m, id, &is_cut, &e);
        if (!s)
            printf("%s\n", id);
        if (!s && is_cut)
            s = err_set(&e, ST_FAILED, "message %u was cut", n);
        if (n + 1 == count || reopens)
            channel_close(&c);
    }
    if (s)
        fprintf(stderr, "writer %s: %s\n", argv[2], e.text);
    return status_exit(s);
}
