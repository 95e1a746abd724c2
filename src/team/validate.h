/*
 * validate (of validate*.c only) - what the rules share.
 *
 *     validate.c           the team, its inputs and agents; the order of it all
 *     validate_phase.c     one phase: its type, agent and fields
 *     validate_graph.c     depends_on: unknown names, circles, roots
 *     validate_template.c  $(...) in texts and commands, role files
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_VALIDATE_H
#define CLIQ_TEAM_VALIDATE_H

#include "team/agent_list.h"

struct check {
    const struct team *team;
    int dir; /* -1: do not look at files */
    struct problems *problems;
    struct arena arena;                       /* gone afterwards */
    struct name_index phases, inputs, agents; /* agents: the team's own */
    struct agent_list roster;                 /* all agents */
    bool *is_used;                            /* inputs */
    size_t *dep_of; /* phase i is in depends_on of phase dep_of[i] - 1, the one checked now */
    bool is_blind;  /* there may be role texts that were not looked at */
    bool is_starved;
};

/* The value of a field as written, NULL when it is absent or null. */
const struct yaml *check_given(const struct yaml *map, const char *key);

/* Where to point: at the value, else at the phase, else at the file. */
struct problem_at check_at(const struct check *c, const struct phase *p, const char *field);
struct problem_at check_at_node(const struct check *c, const struct phase *p, const char *field,
                                const struct yaml *v);
struct problem_at check_at_place(const struct check *c, const struct phase *p, const char *field,
                                 unsigned line, unsigned column);

/* Is it still worth looking for what was meant? */
bool check_may_guess(const struct check *c);
/* " (did you mean \"design\"?)" or "", until the next call. */
const char *check_hint(struct check *c, const struct suggest *n);

/* What will run the phase: AGENT_CUSTOM for the team's own and installed ones, AGENT_CLI when
 * nothing is said. */
enum agent_kind check_kind(const struct check *c, const struct phase *p);
/* Does this built-in agent run it? A team's own or an installed
 * agent of that name hides the built-in one. */
bool check_has_agent(const struct check *c, const struct phase *p, const char *builtin);

void check_phase(struct check *c, const struct phase *p);
void check_graph(struct check *c);
void check_texts(struct check *c, size_t phase);

#endif
