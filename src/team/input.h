/*
 * input - the inputs of a team, given as NAME=VALUE: `cliq req --input`, `cliq run --input`.
 *
 * Tests: test/cli/inputs.bats test/scenario/pipeline_values.bats
 */
#ifndef CLIQ_TEAM_INPUT_H
#define CLIQ_TEAM_INPUT_H

#include "team/team.h"

/* Checks each text: NAME=VALUE, NAME declared, VALUE UTF-8 and one of the choices. */
enum status input_check(const struct team *t, const char *const *given, size_t n, struct err *e);
/* The value given last for that name; NULL: none. */
const char *input_given(const char *const *given, size_t n, const char *name);
/* May the input have this value? */
enum status input_check_choice(const struct team_input *in, const char *value, struct err *e);

/* ST_INVALID says where in `what` the text stops being UTF-8. Agents and JSON need UTF-8, so a
 * text is refused where the person who can correct it is present. */
enum status input_check_utf8(const char *what, const char *p, size_t n, struct err *e);

#endif
