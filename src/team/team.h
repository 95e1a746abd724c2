/*
 * team - a pipeline as its author wrote it: team.yml, or workflow.yml in .cliq/.
 *
 *     name: "@local/research"
 *     inputs:   [{ name: topic, required: true }]
 *     agents:   { analyst: { entry: agents/analyst/index.js, env: [HTTP_PROXY] } }
 *     workflow:                      # or phases: and support: at the top
 *       phases:
 *         - name: research
 *           agent: script
 *           commands: [{ name: go, run: ./research.sh }]
 *         - { name: review, type: gate, depends_on: [research], max_iterations: 3 }
 *       support:
 *         - { name: fixer, agent: script, commands: [{ name: fix, run: ./fix.sh }] }
 *
 * Loading turns YAML into this struct and reports every value of a wrong shape
 * and every unknown key; validating checks the rules between values. A team with
 * errors must not be run. All strings live in the team's arena.
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_TEAM_H
#define CLIQ_TEAM_TEAM_H

#include "base/json.h"
#include "base/yaml.h"
#include "team/problem.h"

#define TEAM_PHASE_NAME_MAX 64

enum phase_type { PHASE_STANDARD, PHASE_GATE, PHASE_TEAM };

struct pair {
    const char *key, *value;
    unsigned line, column;
};

struct command {
    const char *name, *run;
    bool escalate_on_fail;
    int64_t timeout_ms;    /* 0: the phase's, or the setting run.command_timeout */
    unsigned line, column; /* bytes of a command's run text */
};

/* The budget of a phase or a run; 0: no limit. */
struct budget {
    double usd;
    int64_t tokens; /* read and written */
};

struct phase {
    const char *name;
    enum phase_type type;
    bool is_support;   /* runs only when a gate routes to it */
    const char *agent; /* NULL: the run's default */
    const char *role;  /* file stem in roles/; NULL: the phase's name */
    const char *model, *action, *when, *team;
    const char **depends_on;
    size_t n_depends_on;
    size_t *deps; /* depends_on as indexes into team.phases; set by team_load; SIZE_MAX: unknown */
    struct command *commands;
    size_t n_commands;
    unsigned max_iterations; /* gates: 1 to 5, 3 unless set */
    int64_t timeout_ms;      /* 0: the default of its phase type */
    unsigned retries;        /* 0 to 5 */
    struct budget budget;    /* of all its attempts in a run */
    struct pair *env;
    size_t n_env;
    const char **files; /* patterns of what it writes (base/path_glob.h) */
    size_t n_files;
    struct pair *inputs; /* only in a team phase */
    size_t n_inputs;
    const struct json *sources, *target_entries, *review, *notify; /* from the file; NULL: absent */
    unsigned line, column;
    const struct yaml *node; /* as in the file, for positions; NULL: not from a file */
};

struct team_input {
    const char *name, *description, *type, *fallback; /* fallback: the default value, or NULL */
    bool is_required;
    const char **choices;
    size_t n_choices;
    unsigned line, column;
};

struct team_agent {
    const char *name, *entry;
    const char **env; /* names of the variables it inherits */
    size_t n_env;
    const char **acp; /* instead of entry: the words of an ACP agent's command, or its one text */
    size_t n_acp;
    unsigned line, column;
};

struct team {
    struct arena arena;
    const char *file; /* as shown to people */
    const char *name, *description, *version, *cliq_version;
    const char **tools, **tags;
    size_t n_tools, n_tags;
    struct budget budget; /* of a run */
    struct team_input *inputs;
    size_t n_inputs;
    struct team_agent *agents;
    size_t n_agents;
    struct phase *phases; /* the phases of the graph in file order, then the support phases */
    size_t n_phases, n_main;
    const struct yaml *node; /* the tree of the whole file; NULL: it could not be read */
};

/* Loads a team from the text of a YAML file; `file` is its name in messages. Problems are added
 * to p; the team is filled as far as possible. ST_INVALID: there were errors. */
enum status team_load(struct team *t, const char *file, const char *text, size_t len,
                      struct problems *p, struct err *e);
/* Loads the file `path`, relative to the directory dir. ST_NOT_FOUND: there is no such file. */
enum status
team_load_file(struct team *t, int dir, const char *path, struct problems *p, struct err *e);
/* The index of the phase called `name`. ST_NOT_FOUND suggests the nearest name and lists all. */
enum status team_find_phase(const struct team *t, const char *name, size_t *out, struct err *e);
void team_release(struct team *t);

const struct phase *team_phase(const struct team *t, const char *name); /* NULL: none */

/* Checks the rules that involve more than one value. `dir` is the team's directory (roles/,
 * agents/); -1: do not read files. Agents may be named in the settings: the user's, and those of
 * the project `state_dir` (.cliq/), if any. */
void team_validate(const struct team *t, int dir, const char *state_dir, struct problems *p);

/* @scope/name, or a name alone: a-z, 0-9 and -, each part at most 64 bytes. */
bool team_is_name(const char *name);

const char *phase_type_name(enum phase_type type); /* The type as a word: "standard". */

#endif
