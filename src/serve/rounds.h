/*
 * rounds - to the worker and back: when the round that gathers is given, and what becomes of its
 * answers.
 *
 *     requests of a turn -> intake -> rounds_give -> the loop decides them, and those of the next
 *                                               |    turns, until none come, and writes -> answered
 *                                               `-> or the worker does -> on_done -> answered
 *
 * A claim that found nothing is parked; one whose client is gone is given back. After a commit
 * streams, claims that wait, and agents that sleep are told.
 *
 * An empty round is a look: at what others wrote, and at what is due. `wants_look` asks for one.
 */
#ifndef CLIQ_SERVE_ROUNDS_H
#define CLIQ_SERVE_ROUNDS_H

#include "serve/serve_impl.h"

/* Callbacks; ctx is the server. */
void rounds_give(void *ctx);       /* the end of a turn: what gathers, if it is time */
void rounds_on_done(void *ctx);    /* the worker has something */
void rounds_on_changed(void *ctx); /* the log's directory changed */
void rounds_look(void *ctx);       /* the index was lost, or the clock set */

/* In the middle of a turn: is there enough for a worker without work? */
void rounds_give_early(struct serve *s);
void rounds_free(struct serve *s);

#endif
