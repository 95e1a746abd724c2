/*
 * json - strict JSON (RFC 8259): a document tree in an arena, and a writer.
 *
 * The parser also rejects: text that is not UTF-8, a byte order mark, lone
 * surrogates in \u escapes, duplicate keys in an object, and nesting deeper
 * than JSON_MAX_DEPTH. Numbers are kept as text and keys in their order, so
 * nothing is rounded and a value is written back as it was read.
 *
 * Ownership: nodes live in the arena. Strings without escapes point into the
 * parsed text: keep the text as long as the tree. Strings have a length and
 * may contain NUL ("\u0000"); they are NOT NUL-ended.
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

/* A parse error: its cause and place. */
struct json_fault {
    const char *what;      /* "duplicate key", a constant */
    size_t offset;         /* of the offending byte; == length when the text ended too early */
    unsigned line, column; /* from 1; column counts characters */
    bool is_cut_off;       /* the text is a prefix of valid JSON: a torn line */
    bool is_starved;       /* out of memory: the text may be valid */
};

/* True: *out is set. False: *where is filled (where may be NULL). White space before and after the
 * value is allowed, other text is not. */
bool json_parse(struct arena *a, const char *text, size_t len, struct json **out,
                struct json_fault *where);

/* The same for what programs of other makers wrote: a lone surrogate in a \u escape, as JavaScript
 * leaves it where it cuts a text, becomes U+FFFD. */
bool json_parse_foreign(struct arena *a, const char *text, size_t len, struct json **out,
                        struct json_fault *where);

/* The same as json_parse with an error message "NAME:LINE:COLUMN: what". ST_INVALID; ST_IO when out
 * of memory. */
enum status json_parse_named(struct arena *a, const char *name, const char *text, size_t len,
                             struct json **out, struct err *e);

/* The position of v (of its key, in an object) in the text that was parsed into `root`: for errors
 * found after parsing. */
void json_place(const char *text, size_t len, const struct json *root, const struct json *v,
                unsigned *line, unsigned *column);

/* ---- queries ---- accept any type, and NULL as an absent value. */

const struct json *json_get(const struct json *object, const char *key);
const struct json *json_getn(const struct json *object, const char *key, size_t key_len);
/* Path "a.b[2].c": members by name, array elements by [n]; "" is the root. NULL: absent, or a
 * malformed path. Names that contain '.', '[' or ']' have no path: use json_get. */
const struct json *json_path(const struct json *root, const char *path);

bool json_is(const struct json *v, enum json_type type);
/* Is v the string s? */
bool json_eq(const struct json *v, const char *s);
/* True for whole numbers that fit, as 3, 3.0 and 3e2; false for 3.5. */
bool json_int(const struct json *v, int64_t *out);
bool json_double(const struct json *v, double *out); /* false for 1e400: not finite */
bool json_bool(const struct json *v, bool *out);
/* A NUL-ended copy of a string (a NUL inside ends it early); NULL: v is no string, or out of
 * memory. */
char *json_dup_text(struct arena *a, const struct json *v);
/* Equality: the key order of objects does not matter; numbers are compared as text. */
bool json_same(const struct json *a, const struct json *b);

/* Sets *twin to the first member whose key an earlier member has too, or NULL. False: out of memory
 * in scratch. */
bool
json_find_duplicate(const struct json *object, struct arena *scratch, const struct json **twin);

#define json_each(it, container)                                                                   \
    for (const struct json *it = json_first(container); it; it = it->next)
const struct json *json_first(const struct json *container); /* NULL for scalars and NULL */

/* ---- building ---- in an arena; NULL: out of memory. Texts and keys are borrowed. */

struct json *json_new(struct arena *a, enum json_type type);
struct json *json_new_str(struct arena *a, const char *p, size_t len);
struct json *json_new_copy(struct arena *a, const char *p, size_t len); /* of a copy of the text */
struct json *json_new_int(struct arena *a, int64_t n);
/* Appends v in O(n); ignores NULL. */
void json_add(struct json *array, struct json *v);
/* Appends v in O(1). *last is the last element (NULL: the array is empty) and becomes v. */
void json_add_behind(struct json *array, struct json **last, struct json *v);
/* Replaces an equal key. False: v is NULL, so a chain of calls notices that memory ran out. */
bool json_set(struct json *object, const char *key, struct json *v);

/* ---- writing ---- compact: no spaces. UTF-8 is copied; only ", \, control characters
 * and U+007F (a control character to terminals) are escaped. NULL is null. */

void json_write(struct buf *b, const struct json *v);
/* Indents by 2 spaces a level; `indent` is the level of v itself. No '\n' before or after v. */
void json_write_pretty(struct buf *b, const struct json *v, unsigned indent);

/* Writes the string in quotes. Each byte that is not UTF-8 becomes U+FFFD. */
void json_write_str(struct buf *b, const char *p, size_t len);

/*
 * Writing without a tree, member by member:
 *     json_open(&b, '{');
 *     json_key_str(&b, "type", type);
 *     json_key_int(&b, "v", 1);
 *     json_close(&b, '}');
 * A comma is written unless the last byte is an opening bracket. A member whose
 * string or value is NULL is omitted.
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
