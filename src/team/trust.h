/*
 * trust - a workflow and its agents are programs: they run only after this user has trusted them.
 *
 * Trust is in the content: a hash over workflow.yml, agents.json, every file and link under
 * agents/ (agent_files.h), and the entries that the project's settings.json sets for agents; and
 * the same of the teams of team phases, in frames/<phase>/.
 * <config>/trusted lists the hashes that this user trusts, one a line. Assembling a team from a
 * directory that the user names trusts it; a .cliq/ that comes with a cloned repository is not
 * trusted.
 *
 * Tests: test/scenario/pipeline_trace.bats
 */
#ifndef CLIQ_TEAM_TRUST_H
#define CLIQ_TEAM_TRUST_H

#include "base/err.h"

#include <stdbool.h>

#define TRUST_HASH_SIZE 65

/* The hash of the programs in the state directory `dir` (open). */
enum status trust_hash(int dir, char hash[TRUST_HASH_SIZE], struct err *e);
enum status trust_is_known(const char *hash, bool *is_known, struct err *e);
enum status trust_add(const char *hash, const char *what, struct err *e);

/* ST_REFUSED, with the command to run: the state directory belongs to another user or its
 * programs are not trusted. */
enum status trust_check(int dir, const char *state_dir, struct err *e);

#endif
