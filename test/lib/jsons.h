/*
 * jsons - what the tests of base/json share: tables of texts, and a document in one line.
 */
#ifndef CLIQ_TEST_JSONS_H
#define CLIQ_TEST_JSONS_H

#include "base/json.h"

#include "test.h"

#define JSON_CASE(fact) cmocka_unit_test_teardown(fact, json_leave)

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define T(literal)   literal, sizeof(literal) - 1 /* text and length: it may hold NUL */

struct text {
    const char *p;
    size_t len;
};

struct bad {
    const char *p;
    size_t len;
    unsigned line, column;
    const char *what; /* NULL: the text ends too early */
};

/* In a block of exactly its size, so that reading past the end is seen by ASan. */
bool parse(struct arena *a, const char *p, size_t len, struct json **doc, struct json_fault *where);
void accept_one(const char *p, size_t len);
void accept_all(const struct text *t, size_t n);
void refuse_all(const struct bad *t, size_t n);

/* The whole fixture of the smaller tests: a tree and its arena. */
extern struct arena arena;
const struct json *doc_of(const char *text);
void is_written(const struct json *v, const char *want);
int json_leave(void **state);

#endif
