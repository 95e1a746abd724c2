/*
 * validate (private to validate*.c) - helpers that the rules share.
 *
 *     validate.c           the team, its inputs and agents; calls the others
 *     validate_phase.c     one phase: its type, agent and fields
 *     validate_config.c    the keys that the phase's agent takes
 *     validate_graph.c     depends_on: unknown names, cycles, roots
 *     validate_template.c  $(...) in texts and commands, role files
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_VALIDATE_H
#define CLIQ_TEAM_VALIDATE_H

#include "team/agent_list.h"

struct check {
    const struct team *team;
    int dir;               /* -1: do not read files */
    const char *state_dir; /* of the project; NULL: none */
    struct problems *problems;
    struct arena arena;                       /* released afterwards */
    struct name_index phases, inputs, agents; /* agents: only the team's own */
    struct agent_list roster;                 /* every agent */
    const struct json **manifests;            /* of the team's own agents; NULL: none */
    bool *is_used;                            /* inputs */
    size_t *dep_of; /* phase i is in depends_on of phase dep_of[i] - 1, the one being checked */
    bool is_blind;  /* some role texts could not be read */
    bool is_starved;
};

/* The value of a field as written, NULL when it is absent or null. */
const struct yaml *check_given(const struct yaml *map, const char *key);

/* Where to report: at the value, else at the phase, else at the file. */
struct problem_at check_at(const struct check *c, const struct phase *p, const char *field);
struct problem_at check_at_node(const struct check *c, const struct phase *p, const char *field,
                                const struct yaml *v);
struct problem_at check_at_place(const struct check *c, const struct phase *p, const char *field,
                                 unsigned line, unsigned column);

/* Are there few enough problems to look for suggestions? */
bool check_may_guess(const struct check *c);
/* " (did you mean \"design\"?)" or "", until the next call. */
const char *check_hint(struct check *c, const struct suggest *n);

/* The kind of agent that will run the phase: AGENT_CUSTOM for the team's own and installed
 * agents, AGENT_CLI when the phase names none. */
enum agent_kind check_kind(const struct check *c, const struct phase *p);
/* Does this built-in agent run the phase? A team's own or an installed agent of that name hides
 * the built-in one. */
bool check_has_agent(const struct check *c, const struct phase *p, const char *builtin);

/* The agent's manifest; false: it could not be read, so its fields are not known. */
bool check_manifest_of(const struct check *c, const struct agent_list_agent *one,
                       const struct json **out);

void check_phase(struct check *c, const struct phase *p);
void check_config(struct check *c, const struct phase *p);
/* Checks the variables in every text of v. */
void check_tree(struct check *c, const struct phase *p, const char *field, const struct yaml *v);
void check_graph(struct check *c);
void check_texts(struct check *c, size_t phase);

#endif
