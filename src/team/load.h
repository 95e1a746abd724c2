/*
 * load - reading a map of a team's file, field by field, from a table.
 *
 * A table names the keys that a map may have and, for each, the function that reads
 * its value into a struct. Everything else is common: unknown keys warn with the
 * nearest known one, a value of null counts as absent, wrong shapes are errors at
 * the value's own position.
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

/* Problems after which nothing is searched any more for what was meant: texts that
 * are mostly wrong were not misspelt. */
#define TEAM_GUESSES_MAX 50

struct load {
    struct arena *arena; /* the team's */
    const char *file;
    struct problems *problems;
    const char *phase; /* the one being read; NULL: none */
    bool is_starved;   /* memory ran out: the team is not complete */
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

bool load_is_null(const struct yaml *v); /* nothing, ~ or null without quotes; takes NULL */
bool load_is_list(struct load *l, const struct load_field *f, const struct yaml *v);
struct problem_at load_at(const struct load *l, const struct load_field *f, const struct yaml *v);
/* Zeroed; NULL notes that memory ran out. */
void *load_alloc(struct load *l, size_t n, size_t size);

#endif
