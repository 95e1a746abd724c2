/*
 * interrupt - events that end a waiting command: SIGINT, SIGTERM, and a closed reader of standard
 * output any more, as a write to it would have ended us.
 *
 *     struct cancel stop;
 *     s = interrupt_begin(&stop, e);
 *     ... waits with &stop (base/wait.h): ST_CANCELLED ...
 *     return interrupt_end(&stop, s, e);
 */
#ifndef CLIQ_CMD_LIB_INTERRUPT_H
#define CLIQ_CMD_LIB_INTERRUPT_H

#include "base/wait.h"

/* From here on the signals only wake. */
enum status interrupt_begin(struct cancel *w, struct err *e);
/* The status to return: ST_CANCELLED has no sentence, for the person knows why. Does not return
 * when the reader is gone. */
enum status interrupt_end(struct cancel *w, enum status s, struct err *e);

#endif
