/*
 * ask - questions to a person at the terminal.
 *
 * The question goes to standard error, the answer comes from standard input, without its newline. A
 * secret is not shown while it is typed, and the terminal is as before when the call returns.
 * Ctrl-C in a secret and the end of the input are ST_CANCELLED.
 *
 * Callers ask only when ask_is_possible: a command in a script must never wait for an answer.
 *
 * Tests: test/scenario/setup.bats
 */
#ifndef CLIQ_BASE_ASK_H
#define CLIQ_BASE_ASK_H

#include "base/buf.h"

bool ask_is_possible(void);
enum status ask_line(const char *question, struct buf *answer, struct err *e);
enum status ask_secret(const char *question, struct buf *answer, struct err *e);
/* "Question [Y/n] ": an empty answer is yes. */
enum status ask_yes(const char *question, bool *is_yes, struct err *e);

#endif
