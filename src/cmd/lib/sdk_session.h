/*
 * sdk_session - the state that the commands `cliq sdk ...` share: the agent SDK for scripts.
 *
 * `sdk begin` saves the AgentMessage in a file of its own (0600, in $TMPDIR or /tmp) that
 * $CLIQ_SDK_MESSAGE names; each later command builds the context anew from it, does one
 * thing and ends. The command that ends the phase removes the file: that it is gone is how
 * a second one knows. The file:
 *
 *     {"version":1,"type":"phase", ... }      the message, one line
 *     {"sent":"reviewer"}                     then a line per handoff that was sent
 *
 * Order of calls: sdk_open, anything of context/context.h with k.c, sdk_close. Around a call
 * that ends the phase: sdk_claim before, sdk_settle after.
 */
#ifndef CLIQ_CMD_LIB_SDK_SESSION_H
#define CLIQ_CMD_LIB_SDK_SESSION_H

#include "cmd/cmd.h"
#include "context/context.h"

#define SDK_MESSAGE "CLIQ_SDK_MESSAGE"

struct sdk_session {
    struct arena arena;
    struct buf text; /* of the saved file */
    struct agent_message msg;
    struct context c;
    const char *path; /* of the saved file */
    struct buf ended; /* its name while a call ends the phase */
};

/* The context of the saved message. ST_CONFLICT: the phase has ended. k can be closed
 * whatever it returns; when k->c.signal_dir is open, context_fail works, too. */
enum status sdk_open(struct sdk_session *k, struct err *e);
/* From text: a message, as sdk begin reads it. */
enum status sdk_parse(struct sdk_session *k, struct err *e);
void sdk_close(struct sdk_session *k);

/* Saves the message; the path goes to `to`. */
enum status sdk_save(const struct sdk_session *k, struct buf *to, struct err *e);
/* Writes down that a handoff was sent: a later PASS must not replace it. */
enum status sdk_note_sent(const struct sdk_session *k, const char *target, struct err *e);

/* Claims the right to end the phase. ST_CONFLICT: another process has it, or had it. */
enum status sdk_claim(struct sdk_session *k, struct err *e);
/* Removes the saved message or, when the call failed, puts it back. Gives s. */
enum status sdk_settle(struct sdk_session *k, enum status s);

/* An argument: "-" is standard input, which `what` names, anything else itself. */
enum status sdk_text_arg(const char *arg, const char *what, struct buf *to, struct err *e);
/* A file; "-" is standard input. */
enum status sdk_file_arg(const char *arg, struct buf *to, struct err *e);
/* JSON: "-" is standard input, "@FILE" a file; NULL: *out is NULL. */
enum status sdk_json_arg(struct sdk_session *k, const char *arg, const char *what, bool is_object,
                         const struct json **out, struct err *e);

/* Writes "AGENT: TEXT" to standard error, for people who watch. */
void sdk_say(const struct sdk_session *k, const char *text);

#endif
