/*
 * Posts a message to a room, then reads the room, with libcliq:
 *
 *     cc channel.c $(pkg-config --cflags --libs cliq) && ./a.out room-001 "Work complete"
 */
#include <cliq.h>

#include <stdio.h>

int
main(int argc, char **argv)
{
    cliq_error err = CLIQ_ERROR_INIT;
    cliq_channel_options options = CLIQ_CHANNEL_OPTIONS_INIT;
    cliq_channel *channel = NULL;
    cliq_message message = CLIQ_MESSAGE_INIT;
    cliq_status s;

    if (argc != 3) {
        fprintf(stderr, "usage: %s ROOM BODY\n", argv[0]);
        return CLIQ_INVALID;
    }
    options.room = argv[1];
    options.from_start = 1;
    s = cliq_channel_open(&channel, &options, &err);
    if (!s) {
        message.from = "engineer";
        message.to = "qa";
        message.type = "done";
        message.ref = "EPIC-001";
        message.body = argv[2];
        s = cliq_channel_post(channel, &message, &err);
    }
    if (!s)
        printf("posted %s\n", message.id);
    while (!s && !(s = cliq_channel_next(channel, &message, &err)))
        printf("%s -> %s: %s\n", message.from, message.to, message.body);
    cliq_channel_close(channel);
    if (s && s != CLIQ_NOT_FOUND) { /* not found: the end of the channel */
        fprintf(stderr, "%s\n", err.text);
        return s;
    }
    return CLIQ_OK;
}
