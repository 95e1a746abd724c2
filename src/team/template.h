/*
 * template - $(inputs.x), $(handoff.<phase>.<path>), $(phase) … in a team's texts.
 *
 * There are two ways to expand, which are never mixed:
 *   - into text (URLs, headers, bodies, env, when, role text): the value is inserted;
 *   - into a shell command: the value is NEVER pasted. Each use becomes a reference to an
 *     environment variable: unquoted "${V}" with the quotes, inside double quotes ${V};
 *     inside single quotes or a quoted here-document it is an error.
 *     In arithmetic the value must be a whole number. template_lex.h has the rules.
 *
 * Tests: test/unit/test_template.c test/fuzz/fuzz_template.c
 */
#ifndef CLIQ_TEAM_TEMPLATE_H
#define CLIQ_TEAM_TEMPLATE_H

#include "base/field.h"
#include "base/json.h"

/* Longest value that can go through an environment variable. */
#define TEMPLATE_ENV_MAX (120 * 1024)

/* The variables: "team_name", "dirs.work", and the groups "inputs.NAME" and "handoff.PHASE.PATH",
 * where words in capitals stand for names. A row's `says` describes the value. `cliq help
 * templates` is made from this table. The last row has a NULL key. */
extern const struct field template_variables[];

/* A field whose texts may hold variables; `says` is how they are expanded. */
extern const struct field template_places[];

/* The sources of values. */
struct template_scope {
    const struct json *inputs; /* object of strings; NULL: none */
    /* The envelope of the handoff from a phase to this one ({"data":…,"text":…}), or NULL. */
    const struct json *(*handoff)(void *ctx, const char *phase);
    void *ctx;
    const char *team_name, *phase, *run_id;
    const char *project_dir, *work_dir, *state_dir, *files_dir;
    int64_t now_ms; /* for $(date) 2026-04-03 and $(timestamp) ISO with ms, UTC */
};

struct template_use {
    const char *name; /* "inputs.x", NUL-ended, in the arena */
    size_t offset;    /* offset of the '$' in the text */
    bool is_bad;      /* begins like a variable, but no name follows: "$(inputs.a b)" */
};

/* Every use of a variable in the text, in order, for validation. NULL: none, or out of memory. */
struct template_use *template_uses(struct arena *a, const char *text, size_t *n);

struct template_miss {
    const char *name;  /* as written: "input.who"; in the arena */
    const char *meant; /* "inputs.who"; NULL: no variable has a similar name */
    size_t offset;     /* offset of the '$' in the text */
    bool is_open;      /* its ')' is missing */
};

/* Every "$(name)" that looks like a variable and is none. is_shell: the text may hold command
 * substitutions, so only names close to a variable's are reported. NULL: none, or out of memory. */
struct template_miss *template_misses(struct arena *a, const char *text, bool is_shell, size_t *n);

/* Expands into text. ST_INVALID names the variable that cannot be resolved. */
enum status
template_expand(struct buf *to, const char *text, const struct template_scope *s, struct err *e);

struct template_env {
    const char *name, *value; /* CLIQ_T_1 …; in the arena */
};

/* Expands a shell command; the variables it refers to are added to env (grown in the
 * arena). Values with NUL or over TEMPLATE_ENV_MAX are ST_INVALID and say to use a file. */
enum status
template_shell(struct arena *a, struct buf *to, const char *text, const struct template_scope *s,
               struct template_env **env, size_t *n_env, struct err *e);

/* The checks of template_shell that need no values. A use inside single quotes or a quoted
 * here-document is an error; under eval, sh -c or ssh, and in a program of awk, sed or jq, it is a
 * warning (*warning). */
enum status template_check_shell(const char *text, const char **warning, struct err *e);

/* "A == b", "A != b", or a bare text: true unless empty, "false", "0", "no", "null". */
enum status
template_when(const char *text, const struct template_scope *s, bool *is_true, struct err *e);

/* Refuses conditions that are surely mistakes ("$(inputs.x) = a", "a && b", "handoff.x.y == z",
 * ""): ST_INVALID says what to write. A condition that is probably a mistake sets *warning. */
enum status template_check_when(const char *text, const char **warning, struct err *e);

#endif
