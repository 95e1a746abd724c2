/*
 * cli_turn - one turn of an agent's program, as its stream of JSON lines tells it. Pure.
 *
 * A vendor's parser reads a line and calls these; the frame (agents/cli/cli.h) takes what people
 * should see after each line, and at the end what the turn came to.
 *
 *     {"type":"assistant",…}  ->  turn_text    shown, and the answer if nothing comes behind it
 *     {"type":"tool_use",…}   ->  turn_say     "Write src/a.c"
 *     {"type":"result",…}     ->  turn_done, or turn_fail with the vendor's words
 *
 * Ownership: the caller owns the struct; zero it, then turn_release. Lines are borrowed.
 *
 * Tests: test/unit/test_cli_streams.c test/fuzz/fuzz_cli.c
 */
#ifndef CLIQ_AGENTS_CLI_CLI_TURN_H
#define CLIQ_AGENTS_CLI_CLI_TURN_H

#include "agents/model_trouble.h"
#include "base/json.h"
#include "context/usage.h"

enum { TURN_SHORT = 160 }; /* bytes of a progress text */

struct turn {
    struct arena *arena; /* of the line */
    struct buf answer;
    struct buf log;    /* for the attempt's log; the frame takes it after each line */
    struct buf said;   /* progress texts, each ended by NUL; the frame takes them after each line */
    struct buf denied; /* "Bash, Write" */
    struct buf stopped; /* why the program ends the turn early; empty: it does not */
    unsigned n_denied;
    struct usage usage; /* of this turn so far; its texts are those below */
    bool has_new_usage; /* since the frame looked */
    char session[128], model[128], message_id[128];
    char counted_id[128]; /* the message of the journal that was counted last */
    bool is_done;         /* the last event came: an answer */
    bool is_failed;       /* the last event came: an error */
    bool is_hopeless;     /* what the program goes on with is of no use: it may be stopped */
    enum model_trouble trouble;
    struct buf error;   /* the vendor's words of the last error */
    int64_t resets_s;   /* TROUBLE_RATE: when it ends, in seconds since 1970; 0: not known */
    bool is_in_trace;   /* standard error is at the stack trace of an error that was told */
    unsigned n_retries; /* that the program made by itself since it last said something */
};

void turn_release(struct turn *t);

/* ---- for parsers ---- */

/* A progress text: one line, cut. Also to the log. */
void turn_say(struct turn *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A tool and what it works on: "Write src/a.c". Of the input's members the first that exists of
 * file_path, path, command, …; input may be NULL. */
void turn_tool(struct turn *t, const struct json *name, const struct json *input);
/* A message of the model: shown, and the answer in place of the message before. */
void turn_text(struct turn *t, const struct json *text);
/* A piece of a message: the same, behind the pieces before. The first one begins a message. */
void turn_piece(struct turn *t, const struct json *text, bool is_first);
/* The answer as the last event repeats it: only when none came before, or another. */
void turn_answer(struct turn *t, const struct json *text);
void turn_denied(struct turn *t, const struct json *tool);
void turn_set(char to[128], const struct json *text); /* session, model; too long: unchanged */
/* Tells trouble by status and words. status 0: not known. */
void turn_fail(struct turn *t, const char *p, size_t n, int64_t status);
void turn_fail_json(struct turn *t, const struct json *text, int64_t status);
/* Something that went wrong and does not matter to the turn: for the log. */
void turn_note(struct turn *t, const struct json *text);
/* The program ends the turn before the model does. When the model says nothing more, turn_done is
 * turn_fail with these words: such a turn must not pass for an answer. */
void turn_stopped(struct turn *t, const struct json *text);
/* An error that the program handles by trying again: hopeless when only a person can help. */
void turn_retry(struct turn *t, const char *p, size_t n, int64_t status, int64_t delay_ms);
void turn_done(struct turn *t);

/* The whole number of a member, or 0. */
int64_t turn_count(const struct json *o, const char *path);

#endif
