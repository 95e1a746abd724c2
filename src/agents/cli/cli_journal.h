/*
 * cli_journal - the file of JSON lines in which a CLI agent's program keeps its conversation.
 *
 * Codex and Gemini CLI tell their usage in their stream only when the turn has ended; their own
 * files have it after each answer of the model, and a budget needs it then. The files are the
 * vendor's: where one is missing, or is another one than we know, the stream alone counts.
 *
 *     cli_journal_init(&j, take_line, &mine);
 *     cli_journal_find(&j, pattern, is_continued);   until it is found
 *     cli_journal_read(&j);                          the lines that came since, to take_line
 *     cli_journal_release(&j);
 *
 * A line longer than CLI_JOURNAL_LINE_MAX is passed over.
 *
 * Tests: test/scenario/cli_agents.bats test/agents/codex.bats
 */
#ifndef CLIQ_AGENTS_CLI_CLI_JOURNAL_H
#define CLIQ_AGENTS_CLI_CLI_JOURNAL_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

#define CLI_JOURNAL_LINE_MAX ((size_t)256 << 10)

struct cli_journal {
    void (*take)(void *ctx, const char *p, size_t n);
    void *ctx;
    int fd; /* -1: not found */
    /* private */
    struct buf line; /* what has no end yet */
    bool is_too_long;
};

void cli_journal_init(struct cli_journal *j, void (*take)(void *ctx, const char *p, size_t n),
                      void *ctx);
/* Opens the newest file that the pattern of glob(7) finds; is_continued: what it holds by now is
 * not ours. NULL: there is none. */
void cli_journal_find(struct cli_journal *j, const char *pattern, bool is_continued);
void cli_journal_read(struct cli_journal *j);
void cli_journal_release(struct cli_journal *j); /* zero and released ones are fine, too */

/* dir/rest, in the arena, where dir is taken as it is and rest is a pattern. NULL: no memory. */
const char *cli_journal_pattern(struct arena *a, const char *dir, const char *rest);

#endif
