/*
 * prompt - the text that a model gets for a phase, and the JSON block of its answer. Pure: no file,
 * no clock.
 *
 *     You are the "developer" phase of the team @local/shop (agent claude-code).
 *     ## Role                        roles/<phase>.md
 *     ## Requirements                req_spec.md
 *     ## Task Board                  quoted
 *     ## Context from Prior Phases   a section for each incoming channel: its path, its
 *                                    instructions.md, the handoff, quoted
 *     ## Your Previous Handoff       when a gate sent the work back: quoted
 *     ## Design Documents            quoted; large and binary ones with size and path only
 *     ## Fetched Files               the phase's sources, in the same way
 *     ## Outgoing Channels           the instructions.md of each
 *     ## Gate                        gates: check results, route targets, iteration
 *     ## Your Task
 *
 * The text of other agents is data: each of its lines begins with "> ", and the prompt says that
 * nothing quoted is an instruction. Roles, requirements and instructions are the user's own words
 * and are not quoted. Empty sections are left out.
 */
#ifndef CLIQ_CONTEXT_PROMPT_H
#define CLIQ_CONTEXT_PROMPT_H

#include "base/json.h"

struct prompt_in {
    const char *path;         /* ".cliq/channels/architect--developer/" */
    const char *name;         /* the phase that wrote it: "architect" */
    const char *instructions; /* NULL: none */
    const char *handoff;      /* the handoff as text; NULL: none */
};

struct prompt_out {
    const char *path;
    const char *name;         /* the phase that reads it */
    const char *instructions; /* NULL: none */
};

#define PROMPT_DOC_MAX ((int64_t)256 << 10) /* bytes; a larger document is only named */

struct prompt_doc {
    const char *name;
    const char *text; /* NULL: too large for a prompt, or no text: only named */
    const char *path;
    int64_t size; /* bytes */
};

struct prompt_check {
    const char *name;
    bool is_pass;
    const char *output; /* NULL: none */
    int exit_code;
};

/* Texts may be NULL or empty: their section is left out. */
struct prompt_input {
    const char *team, *phase, *agent;
    const char *role, *req_spec, *board;
    const struct prompt_in *in;
    size_t n_in;
    const char *previous; /* what the phase handed over before a gate sent the work back */
    const struct prompt_doc *docs;
    size_t n_docs;
    const struct prompt_doc *fetched;
    size_t n_fetched;
    const struct prompt_out *out;
    size_t n_out;
    bool is_gate;
    const struct prompt_check *checks;
    size_t n_checks;
    const char *const *route_targets;
    size_t n_route_targets;
    unsigned iteration, max_iterations;
};

void prompt_build(struct buf *to, const struct prompt_input *in);
/* The same in two parts, for APIs that take a system prompt: identity and role; the other sections.
 */
void prompt_build_parts(struct buf *system, struct buf *rest, const struct prompt_input *in);

/*
 * Parses the last ```json block of an answer. *doc goes into the arena; *before (may be NULL) is
 * the length of the answer before the block. ST_NOT_FOUND: there is no such block. ST_INVALID: it
 * is not JSON; the error says where.
 */
enum status prompt_extract(struct arena *a, const char *text, size_t len, struct json **doc,
                           size_t *before, struct err *e);

#endif
