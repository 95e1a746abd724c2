/*
 * signal_id - the names of signals: "signal:" and 24 lower-case letters and digits, the
 * first of them a letter. 123 random bits: no two are ever the same, on any machine.
 */
#ifndef CLIQ_HUB_SIGNAL_ID_H
#define CLIQ_HUB_SIGNAL_ID_H

#include "base/err.h"

#define HUB_ID_SIZE 32 /* with the NUL */

/* ST_IO: the kernel gave no random bytes. */
enum status hub_new_id(char out[HUB_ID_SIZE], struct err *e);

#endif
