/*
 * raw_stream - what an agent's program printed, as it came: run/logs/<phase>.<n>.raw, beside the
 * attempt's log. `cliq log PHASE --raw` shows it. Whoever writes it masks secrets first.
 *
 * Tests: test/scenario/cli_agents.bats test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_RAW_STREAM_H
#define CLIQ_AGENTS_RAW_STREAM_H

/* Opens the file that belongs to the log which our standard output is. -1: it is none. */
int raw_stream_open(void);

#endif
