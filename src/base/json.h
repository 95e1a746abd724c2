/*
 * json - strict JSON (RFC 8259): a document tree in an arena, and a writer.
 *
 * Parsing refuses everything the grammar does not allow, and also: text that
 * is not UTF-8, lone surrogates in \u escapes, duplicate keys in an object,
 * nesting deeper than JSON_MAX_DEPTH. A byte order mark is refused too.
 * Numbers are kept as the text they were written in, so nothing is rounded
 * and what is read can be written back byte for byte; key order is kept.
 *
 * Ownership: nodes live in the arena and borrow the parsed text: strings
 * without escapes point into it. Keep the text as long as the tree. Strings
 * carry their length and may hold NUL ("\u0000"); they are NOT NUL-ended.
 *
 *     struct arena a = {0};
 *     struct json *doc;
 *     struct json_fault where;
 *     if (!json_parse(&a, text, len, &doc, &where))
 *         ... where.line, where.column, where.what ...
 *     const struct json *type = json_get(doc, "type");
 *     arena_release(&a);
 *
 * Tests: test/unit/test_json*.c test/fuzz/fuzz_json.c
 */
#ifndef CLIQ_BASE_JSON_H
#define CLIQ_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 128

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER, /* text: as written */
    JSON_STRING, /* text: decoded */
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    struct json *next; /* sibling, in document order */
    const char *key;   /* members of objects only */
    uint32_t key_len;
    enum json_type type;
    union {
        struct {
            const char *p;
            size_t len;
        } text;
        struct {
            struct json *first;
            size_t count;
        } kids;
    };
};

/* Why and where a text is not JSON. */
struct json_fault {
    const char *what;      /* "duplicate key", a constant */
    size_t offset;         /* of the offending byte; == length when the text ended too early */
    unsigned line, column; /* from 1; column counts characters */
    bool is_cut_off;       /* the text is the beginning of a JSON text: a torn line */
    bool is_starved;       /* no memory: nothing is wrong with the text */
};

/* True and *out, or false and *where (which may be NULL). Leading and trailing
 * white space is allowed, anything else after the value is not. */
bool json_parse(struct arena *a, const char *text, size_t len, struct json **out,
                struct json_fault *where);

/* As above, for people: "NAME:LINE:COLUMN: what". ST_INVALID, or ST_IO without memory. */
enum status json_parse_named(struct arena *a, const char *name, const char *text, size_t len,
                             struct json **out, struct err *e);

/* For faults that are not the grammar's: where v of the tree that `text` was parsed into
 * stands; its key, if it has one. */
void json_place(const char *text, size_t len, const struct json *root, const struct json *v,
                unsigned *line, unsigned *column);

/* ---- looking ---- all take NULL (as if absent) and any type. */

const struct json *json_get(const struct json *object, const char *key);
const struct json *json_getn(const struct json *object, const char *key, size_t key_len);
/* "a.b[2].c": members by name, list elements by [n]; "" is the root. NULL when not there or the
 * path is bad. A name holding '.', '[' or ']' has no path: use json_get. */
const struct json *json_path(const struct json *root, const char *path);

bool json_is(const struct json *v, enum json_type type);
/* Is v the string s? */
bool json_eq(const struct json *v, const char *s);
/* Whole numbers only: 3, 3.0 and 3e2 count, 3.5 and what does not fit do not. */
bool json_int(const struct json *v, int64_t *out);
bool json_double(const struct json *v, double *out); /* finite ones only: 1e400 does not fit */
bool json_bool(const struct json *v, bool *out);
/* A NUL-ended copy of a string (a NUL inside ends it early); NULL when it is none, or without
 * memory. */
char *json_dup_text(struct arena *a, const struct json *v);
/* Are two values equal? Objects regardless of key order, numbers by their text. */
bool json_same(const struct json *a, const struct json *b);

/* Gives the first member whose key an earlier one has too, NULL when there is none. Takes
 * any type. False: no memory in scratch. */
bool
json_find_duplicate(const struct json *object, struct arena *scratch, const struct json **twin);

#define json_each(it, container)                                                                   \
    for (const struct json *it = json_first(container); it; it = it->next)
const struct json *json_first(const struct json *container); /* NULL for scalars and NULL */

/* ---- building ---- in an arena; NULL when memory is out. Texts are borrowed, keys too. */

struct json *json_new(struct arena *a, enum json_type type);
struct json *json_new_str(struct arena *a, const char *p, size_t len);
struct json *json_new_copy(struct arena *a, const char *p, size_t len); /* of a copy of the text */
struct json *json_new_int(struct arena *a, int64_t n);
/* Append (no check for duplicates); NULL value: nothing happens. O(1) is not promised. */
void json_add(struct json *array, struct json *v);
/* The same for one who adds many, without walking the list: *last is the last element, NULL in an
 * empty array, and becomes v. */
void json_add_behind(struct json *array, struct json **last, struct json *v);
/* Replaces an equal key. False: v is NULL, so that a chain of calls finds out that memory is out.
 */
bool json_set(struct json *object, const char *key, struct json *v);
/* For a new container with many values: appends at *end, first &container->kids.first, without
 * looking for an equal key (NULL in an array); tells the next end. */
struct json **json_put(struct json *container, struct json **end, const char *key, struct json *v);

/* ---- writing ---- compact: no spaces. UTF-8 is written as it is; only ", \ and
 * control characters are escaped (and U+007F, which terminals obey). NULL is null. */

void json_write(struct buf *b, const struct json *v);
/* 2 spaces a level; indent is the level v stands at. No '\n' before or after it. */
void json_write_pretty(struct buf *b, const struct json *v, unsigned indent);

/* The string in quotes. Bytes that are not UTF-8 become U+FFFD each. */
void json_write_str(struct buf *b, const char *p, size_t len);

/*
 * A line written by hand, member by member:
 *     json_open(&b, '{');
 *     json_key_str(&b, "type", type);
 *     json_key_int(&b, "v", 1);
 *     json_close(&b, '}');
 * A comma is put where the last byte written is not an opening bracket. A NULL
 * string or value leaves its member out.
 */
void json_open(struct buf *b, char bracket);
void json_close(struct buf *b, char bracket);
void json_key(struct buf *b, const char *key); /* then write one value yourself */
void json_sep(struct buf *b);                  /* before an element of a list */
void json_key_str(struct buf *b, const char *key, const char *s);
void json_key_strn(struct buf *b, const char *key, const char *p, size_t len);
void json_key_strs(struct buf *b, const char *key, const char *const *v, size_t n); /* a list */
void json_key_int(struct buf *b, const char *key, int64_t n);
void json_key_bool(struct buf *b, const char *key, bool v);
void json_key_raw(struct buf *b, const char *key, const char *p, size_t len); /* p is JSON */
void json_key_json(struct buf *b, const char *key, const struct json *v);

#endif
