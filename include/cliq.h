/*
 * cliq.h - the public library of cliq.
 *
 * War-room channels from C: post messages that are on disk when the call
 * returns, read them back, and wait for new ones in any event loop.
 *
 *     cliq_channel *c = NULL;
 *     cliq_error err = CLIQ_ERROR_INIT;
 *     cliq_channel_options o = CLIQ_CHANNEL_OPTIONS_INIT;
 *     o.room = "room-001";
 *     cliq_message m = CLIQ_MESSAGE_INIT;
 *     m.from = "engineer"; m.to = "qa"; m.type = "done"; m.ref = "EPIC-001";
 *     m.body = "Work complete";
 *     if (cliq_channel_open(&c, &o, &err) || cliq_channel_post(c, &m, &err))
 *         fprintf(stderr, "%s\n", err.text);
 *     cliq_channel_close(c);
 *
 * Every fallible call returns a cliq_status (CLIQ_OK is zero) and fills the
 * error, which may be NULL. Handles are opaque, may be used from one thread at
 * a time, and are freed by their close call, which takes NULL. Structs carry
 * their own size (the _INIT macros set it), so they can grow. The library keeps
 * no global state, prints nothing and never exits.
 */
#ifndef CLIQ_H
#define CLIQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLIQ_VERSION_MAJOR 0
#define CLIQ_VERSION_MINOR 1
#define CLIQ_VERSION_PATCH 0
#define CLIQ_VERSION       "0.1.0"

#if defined(__GNUC__)
#define CLIQ_API __attribute__((visibility("default")))
#else
#define CLIQ_API
#endif

/* Outcomes; the numbers are the exit codes of the command line. */
typedef enum cliq_status {
    CLIQ_OK = 0,
    CLIQ_FAILED = 1,
    CLIQ_INVALID = 2,
    CLIQ_ESCALATED = 3,
    CLIQ_NOT_FOUND = 4,
    CLIQ_CONFLICT = 5,
    CLIQ_TIMEOUT = 6,
    CLIQ_REFUSED = 7,
    CLIQ_IO = 74,
    CLIQ_CANCELLED = 130
} cliq_status;

typedef struct cliq_error {
    size_t size;
    char text[1024];
} cliq_error;
#define CLIQ_ERROR_INIT                                                                            \
    {                                                                                              \
        sizeof(cliq_error), ""                                                                     \
    }

/* The version of the library in use, "0.1.0". */
CLIQ_API const char *cliq_version(void);

/* ---- channels ---- */

typedef struct cliq_channel cliq_channel;

typedef struct cliq_channel_options {
    size_t size;
    const char *room; /* required */
    int not_durable;  /* non-zero: posts return before they are synced to disk */
    int from_start;   /* non-zero: cliq_channel_next begins with the oldest message;
                         zero: with the first one posted after the open */
} cliq_channel_options;
#define CLIQ_CHANNEL_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(cliq_channel_options), NULL, 0, 0                                                   \
    }

/* Strings are UTF-8 and NUL-ended; NULL: the field is missing (when read). When
 * read they live until the next call on the same channel. */
typedef struct cliq_message {
    size_t size;
    const char *from, *to, *type, *ref, *body;
    const char *id, *ts; /* made by cliq_channel_post */
    const char *json;    /* when read: the whole record as one line of JSON */
} cliq_message;
#define CLIQ_MESSAGE_INIT                                                                          \
    {                                                                                              \
        sizeof(cliq_message), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                       \
    }

/* Rooms live in $WARROOMS_DIR, else in the nearest .war-rooms/ here or above. */
CLIQ_API cliq_status cliq_channel_open(cliq_channel **out, const cliq_channel_options *options,
                                       cliq_error *err);

/* Posts a message and sets its id. A body over the limit is cut and marked, as the
 * command line does. The room is made when it is new. */
CLIQ_API cliq_status cliq_channel_post(cliq_channel *c, cliq_message *m, cliq_error *err);

/* The next message. CLIQ_NOT_FOUND: none now; wait until cliq_channel_fd is readable. */
CLIQ_API cliq_status cliq_channel_next(cliq_channel *c, cliq_message *m, cliq_error *err);

/* A descriptor that becomes readable when there may be something new; for poll(2)
 * and any event loop. It is the channel's: do not read or close it. */
CLIQ_API int cliq_channel_fd(cliq_channel *c);

CLIQ_API void cliq_channel_close(cliq_channel *c);

#ifdef __cplusplus
}
#endif

#endif
