/*
 * scrub - removes secrets from the files of a run, when none of its agents lives any more.
 *
 * Agents write their logs and status lines themselves, and a message holds the settings of its
 * agent. Files in which the mask finds a secret are replaced by a copy without it:
 *
 *     run/messages  run/logs  run/prompts  run/checks  signals  gates/<gate>  channels/<from>--<to>
 *     reviews  task_board.md  run/gemini (the home of Gemini CLI: it keeps what its tools print)
 *
 * What agents made on purpose, files/, stays as it is. A file that cannot be read or replaced is
 * named in the error; the others are done all the same.
 *
 * Tests: test/scenario/pipeline_secrets.bats
 */
#ifndef CLIQ_RUN_SCRUB_H
#define CLIQ_RUN_SCRUB_H

#include "base/mask.h"
#include "context/state_dir.h"

enum status scrub_run(const struct state_dir *f, const struct mask *m, struct err *e);
/* The same for a run whose orchestrator died: secrets of the settings and of our own environment.
 * What goes wrong is not told: the next end of a run tries again. */
void scrub_leftovers(const struct state_dir *f);

#endif
