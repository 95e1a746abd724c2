/*
 * signal_id - the names of signals: "signal:" and 24 lower-case letters and digits: a letter,
 * the time in milliseconds (nine digits to the base of 36) and 72 random bits. No two are ever
 * the same, on any machine; and those of one hour stand together in an index, whose pages are
 * then written once and not each time another one.
 */
#ifndef CLIQ_HUB_MODEL_SIGNAL_ID_H
#define CLIQ_HUB_MODEL_SIGNAL_ID_H

#include "base/err.h"

#define HUB_ID_SIZE 32 /* with the NUL */

/* Before a round of them: a fork must not say what its parent says, and to ask who we are costs as
 * much as an id. */
void signal_ids_begin(void);
/* ST_IO: the kernel gave no random bytes. */
enum status hub_new_id(char out[HUB_ID_SIZE], struct err *e);

#endif
