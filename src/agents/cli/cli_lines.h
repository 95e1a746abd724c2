/*
 * cli_lines - an output stream of an agent's program: masked, copied, and cut into lines.
 *
 *     struct cli_lines l = { .copy = -1, .take = take_line, .too_long = note, .ctx = &mine };
 *     s = cli_lines_init(&l, &context->mask, e);
 *     cli_lines_write(&l, p, n);      each piece
 *     cli_lines_end(&l);              its end: a last line needs no '\n'
 *     cli_lines_release(&l);
 *
 * A line longer than CLI_LINE_MAX is not kept: too_long gets its length. After cli_lines_end the
 * next stream can begin. The mask must outlive it; the caller owns `copy`.
 *
 * Tests: test/scenario/cli_agents.bats
 */
#ifndef CLIQ_AGENTS_CLI_CLI_LINES_H
#define CLIQ_AGENTS_CLI_CLI_LINES_H

#include "base/mask.h"

#define CLI_LINE_MAX ((size_t)2 << 20)

struct cli_lines {
    int copy; /* a descriptor that gets the masked bytes as they are; -1: none */
    void (*take)(void *ctx, const char *p, size_t n);
    void (*too_long)(void *ctx, size_t n);
    void *ctx;
    /* private */
    struct buf line; /* what has no end yet */
    size_t skipped;  /* bytes of a line that is too long, behind those in `line` */
    struct mask_stream mask;
};

enum status cli_lines_init(struct cli_lines *l, const struct mask *m, struct err *e);
void cli_lines_write(struct cli_lines *l, const char *p, size_t n);
void cli_lines_end(struct cli_lines *l);
void cli_lines_release(struct cli_lines *l);

/* To a log: one that cannot be written does not matter. */
void cli_write(int fd, const char *p, size_t n);

#endif
