/*
 * settings_unknown - warns of settings that nothing reads, with the nearest one that is read.
 *
 *     cliq itself knows no setting "run.comand_timeout" (did you mean run.command_timeout?)
 *     the agent codex knows no setting "modle" (did you mean model?)
 *     there is no agent "cdex" here (did you mean codex?)
 *
 * Warnings only: a key may belong to a program that cliq does not know.
 *
 * Tests: test/scenario/settings_info.bats test/scenario/pipeline_project.bats
 */
#ifndef CLIQ_CMD_LIB_SETTINGS_UNKNOWN_H
#define CLIQ_CMD_LIB_SETTINGS_UNKNOWN_H

#include "context/state_dir.h"

/* f->dir is -1 outside a project. */
void settings_unknown_key(const struct state_dir *f, const char *key);
/* An agent that resembles one that is here was probably meant to be that one. */
void settings_unknown_agent(const struct state_dir *f, const char *name);

#endif
