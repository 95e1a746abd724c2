/*
 * signal_id - new ids of signals: "signal:" and 24 lower-case letters and digits: a letter, the
 * time in milliseconds (nine digits, base 36) and 72 random bits. Ids are unique across machines.
 * Ids of one hour are neighbours in an index, so new rows touch few of its pages.
 *
 * Tests: test/unit/test_signal_id.c
 */
#ifndef CLIQ_HUB_MODEL_SIGNAL_ID_H
#define CLIQ_HUB_MODEL_SIGNAL_ID_H

#include "base/err.h"

#define HUB_ID_SIZE 32 /* with the NUL */

/* Before a round: a forked process drops the random bytes of its parent. Not done for every id, as
 * getpid costs as much as an id. */
void signal_ids_begin(void);
/* ST_IO: the kernel gave no random bytes. */
enum status hub_new_id(char out[HUB_ID_SIZE], struct err *e);

#endif
