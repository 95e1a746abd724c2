/*
 * load - reads a map of a team's file by a table of its fields.
 *
 * A table names the keys that a map may have and, for each, the function that reads its value into
 * a struct. The rest is common: an unknown key is a warning that suggests the nearest known one, a
 * null value counts as absent, and a wrong shape is an error at the value's position.
 *
 *     static const struct load_field fields[] = {
 *         { "name", load_text, offsetof(struct command, name) },
 *         ...
 *         { 0 },
 *     };
 *     load_map(l, node, "a command", fields, &command);
 *
 * Tests: test/unit/test_team*.c
 */
#ifndef CLIQ_TEAM_LOAD_H
#define CLIQ_TEAM_LOAD_H

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
};

/* Reads v, which must be a map (what: "a phase"), into the struct at `to`. */
void load_map(struct load *l, const struct yaml *v, const char *what,
              const struct load_field *fields, void *to);

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
void load_nothing(struct load *l, const struct load_field *f, const struct yaml *v, void *to);

bool load_is_null(const struct yaml *v); /* Is it nothing, ~ or unquoted null? v may be NULL. */
bool load_is_list(struct load *l, const struct load_field *f, const struct yaml *v);
struct problem_at load_at(const struct load *l, const struct load_field *f, const struct yaml *v);
/* Zeroed memory; NULL records that memory ran out. */
void *load_alloc(struct load *l, size_t n, size_t size);

#endif
