/*
 * doctor_show - a finding of the doctor as people read it, for `cliq doctor` and `cliq setup`.
 *
 *     tmux... ✓ (tmux 3.3a)
 *     api_token... ✗ the setting agents.jira.api_token is missing
 *       Fix: cliq settings agents.jira.api_token - --global
 *
 * Tests: test/scenario/doctor.bats
 */
#ifndef CLIQ_CMD_LIB_DOCTOR_SHOW_H
#define CLIQ_CMD_LIB_DOCTOR_SHOW_H

#include "doctor/doctor.h"

void doctor_show(struct buf *out, const struct doctor_finding *f, bool has_color);

#endif
