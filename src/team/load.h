/*
 * load - reads a map of a team's file by a table of its fields.
 *
 * A table names the keys that a map may have and, for each, the function that reads its value into
 * a struct. The rest is common: an unknown key is a warning that suggests the nearest known one, a
 * null value counts as absent, and a wrong shape is an error at the value's position.
 *
 *     static const struct load_field fields[] = {
 *         { "name", load_text, offsetof(struct command, name), .says = "shown in results" },
 *         ...
 *         { 0 },
 *     };
 *     load_map(l, node, "a command", fields, &command);
 *
 * Each row describes its key (takes, otherwise, says; base/field.h). team_tables lists the tables:
 * `cliq help team.yml` and cliq-team(5) are made from it.
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_LOAD_H
#define CLIQ_TEAM_LOAD_H

#include "base/field.h"
#include "base/yaml.h"
#include "team/team.h"

/* After this many problems no suggestions are searched for: in a text that is mostly wrong, the
 * names were not misspelt. */
#define TEAM_GUESSES_MAX 50

struct load {
    struct arena *arena; /* the team's arena */
    const char *file;
    struct problems *problems;
    const char *phase; /* the phase being read; NULL: none */
    bool is_starved;   /* out of memory: the team is not complete */
};

struct load_field {
    const char *key; /* NULL ends the table */
    void (*read)(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
    size_t at, n_at;   /* offsets of the member and, for lists, of its count */
    unsigned min, max; /* load_number */
    const char *takes; /* NULL: as load_describe tells the reader's values */
    const char *otherwise, *says;
};

/* One map of the file: "phases[].commands[]" and its keys. The last row has a NULL path. */
struct load_table {
    const char *path;
    const char *says;
    const struct load_field *fields;
};

extern const struct load_table team_tables[];

/* The field as a row of the reference. The text of a number's range is in the arena. */
struct field load_describe(struct arena *a, const struct load_field *f);

/* Reads v, which must be a map (what: "a phase"), into the struct at `to`. */
void load_map(struct load *l, const struct yaml *v, const char *what,
              const struct load_field *fields, void *to);
/* The same, but unknown keys are left alone: others may take them. */
void load_known(struct load *l, const struct yaml *v, const char *what,
                const struct load_field *fields, void *to);
/* Warns about the key of v. meant: the known key that it resembles; NULL: none. */
void load_unknown(struct load *l, const struct yaml *v, const char *what, const char *meant);
/* Reports the keys of a map that are one letter away from a known one. The others belong to the
 * agent that reads the map. */
void load_open_map(struct load *l, const struct yaml *v, const char *what,
                   const struct load_field *fields);

/* Readers of one value; `to` is the struct. */
void load_text(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_bool(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_number(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_time(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_texts(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void
load_texts_or_commas(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_pairs(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_json_list(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_json_map(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_amount(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_count(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_budget(struct load *l, const struct load_field *f, const struct yaml *v, void *to);
void load_nothing(struct load *l, const struct load_field *f, const struct yaml *v, void *to);

bool load_is_null(const struct yaml *v); /* Is it nothing, ~ or unquoted null? v may be NULL. */
bool load_is_list(struct load *l, const struct load_field *f, const struct yaml *v);
struct problem_at load_at(const struct load *l, const struct load_field *f, const struct yaml *v);
/* The keys of a phase and below (load_phase.c). */
extern const struct load_field phase_fields[], command_fields[], review_fields[], notify_fields[],
    source_fields[], target_fields[], budget_fields[];
void load_phase(struct load *l, struct phase *p, const struct yaml *v, bool is_support);

/* Zeroed memory; NULL records that memory ran out. */
void *load_alloc(struct load *l, size_t n, size_t size);

#endif
