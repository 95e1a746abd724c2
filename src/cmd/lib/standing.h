/*
 * standing - where the project stands and which command comes next, in three lines: what `cliq`
 * alone prints.
 *
 * Tests: test/scenario/first_steps.bats
 */
#ifndef CLIQ_CMD_LIB_STANDING_H
#define CLIQ_CMD_LIB_STANDING_H

#include "base/err.h"

enum status standing_print(struct err *e);

#endif
