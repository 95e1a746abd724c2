/*
 * model_agent - a phase whose work a model does: what the CLI agents, the LLM agents and the ACP
 * agents share.
 *
 *     sources are fetched (connectors.h) -> prompt -> driver asks the model -> answer
 *       standard: the last fenced json block becomes the handoff's data, the rest its text; the
 *                 phase's commands run afterwards, and their results are data.checks; then the
 *                 target_entries are delivered. The answer's text is files/<phase>/answer.md, too,
 *                 so that an entry can deliver it
 *       gate:     the last fenced json block is the verdict. An unusable one is asked for once
 *                 more; then the gate escalates with what the model said.
 *
 * A driver is one way to ask a model. It is asked at most twice, in one conversation: the second
 * prompt is a question about the answer to the first. While it waits it reports progress and usage
 * itself (context_progress, context_usage); the last usage becomes data.usage of the handoff.
 *
 *     static enum status ask(void *ctx, const char *prompt, struct buf *answer, struct err *e);
 *     …
 *     return model_agent_work(c, &(struct model_driver){ ask, &mine }, e);
 *
 * A driver's error fails the phase with its sentence: it says what a person can do.
 *
 * Tests: test/unit/test_model_agent.c test/scenario/model_transfers.bats
 */
#ifndef CLIQ_AGENTS_MODEL_AGENT_H
#define CLIQ_AGENTS_MODEL_AGENT_H

#include "context/context.h"

struct model_driver {
    /* Appends the model's last answer to `answer`, UTF-8 text. */
    enum status (*ask)(void *ctx, const char *prompt, struct buf *answer, struct err *e);
    void *ctx;
    const struct json *data; /* an object: members of the handoff's data; NULL: none */
    /* Gets identity and role before the first question, whose prompt then has only the other
     * sections: for APIs with a system prompt. NULL: the prompt is one text. */
    struct buf *system;
};

/* Does the phase and ends it. Calls context_read. */
enum status model_agent_work(struct context *c, const struct model_driver *d, struct err *e);

/*
 * The settings of a model agent: the phase's own field (payload.phase_config.<key>), else the
 * setting agents.<name>.<key>; NULL: neither. The model's name: model_agent_model.
 */
const struct json *model_agent_option(const struct context *c, const char *key);
/* The same as a text in the arena; a number as it is written. NULL: not given, or no scalar. */
const char *model_agent_text(const struct context *c, const char *key);
/* The phase's `model`, else the setting; NULL: the program or API chooses. */
const char *model_agent_model(const struct context *c);

/*
 * A vendor's conversation that this attempt continues: the id and what it used before, from
 * payload.session (the run gives it when the phase was sent back or is retried, unless
 * `session: fresh`). NULL: begin a new one.
 */
const char *model_agent_session(const struct context *c, struct usage *used);

#endif
