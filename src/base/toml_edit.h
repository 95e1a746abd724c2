/*
 * toml_edit - finds tables in a TOML file of another program, and adds and removes them in place:
 * every other byte stays.
 *
 *     struct toml_doc doc;
 *     s = toml_edit_read(&arena, "config.toml", &text, &doc, e);        "config.toml:3:7: …"
 *     const struct toml_item *t = toml_edit_find(&doc, (const char *[]){ "servers", "x", NULL });
 *     if (!t)
 *         s = toml_edit_add(&text, "[servers.x]\ncommand = \"x\"\n", e);
 *
 * The syntax of TOML 1.0 is checked; that no key is given twice is not. Pure.
 *
 * Tests: test/unit/test_toml_edit.c test/fuzz/fuzz_toml_edit.c test/cli/install.bats
 */
#ifndef CLIQ_BASE_TOML_EDIT_H
#define CLIQ_BASE_TOML_EDIT_H

#include "base/arena.h"
#include "base/buf.h"

#define TOML_KEYS_MAX 8 /* more in one path are cut: they are no path that anyone looks for */

/* A header [a.b], or a key with its value, in the order of the file. */
struct toml_item {
    struct toml_item *next;
    bool is_header, is_list;             /* is_list: [[a.b]] */
    const char *keys[TOML_KEYS_MAX + 1]; /* from the root, ended by NULL */
    size_t n_keys;
    size_t from, end;   /* of the whole, up to the end of its line */
    size_t value, over; /* of a key's value */
    unsigned line;
};

struct toml_doc {
    struct toml_item *first;
};

/* ST_INVALID: "NAME:LINE:COLUMN: why". Texts of items live in the arena. */
enum status toml_edit_read(struct arena *a, const char *name, const struct buf *text,
                           struct toml_doc *out, struct err *e);

/* The first item that is, or is inside, what the path (ended by NULL) names: the header of the
 * table, of one below it, or a key. NULL: none. */
const struct toml_item *toml_edit_find(const struct toml_doc *doc, const char *const *path);

/* Adds lines, a table with its header, behind all others, after an empty line. */
enum status toml_edit_add(struct buf *text, const char *lines, struct err *e);
/* Removes the table of that path and those below it, with the empty line before each. doc is of
 * this text, which has no other form of the table. */
enum status toml_edit_remove(struct buf *text, const struct toml_doc *doc, const char *const *path,
                             struct err *e);

#endif
