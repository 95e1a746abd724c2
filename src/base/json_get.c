/*
 * json_get - lookup, comparison and construction of values in a JSON tree.
 *
 * Text is parsed in json_parse.c and written in json_write.c. Queries never
 * change a tree and never allocate from an arena.
 *
 * Only json_same recurses, as deep as the trees: at most JSON_MAX_DEPTH for a
 * parsed tree.
 */
#define _GNU_SOURCE /* strtod_l */
#include "base/json.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lookup ---- */

bool
json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}

const struct json *
json_first(const struct json *container)
{
    bool has_kids = json_is(container, JSON_OBJECT) || json_is(container, JSON_ARRAY);

    return has_kids ? container->kids.first : NULL;
}

static bool
has_key(const struct json *v, const char *key, size_t key_len)
{
    return v->key_len == key_len && !memcmp(v->key, key, key_len);
}

const struct json *
json_getn(const struct json *object, const char *key, size_t key_len)
{
    if (json_is(object, JSON_OBJECT))
        for (const struct json *v = object->kids.first; v; v = v->next)
            if (has_key(v, key, key_len))
                return v;
    return NULL;
}

const struct json *
json_get(const struct json *object, const char *key)
{
    return json_getn(object, key, strlen(key));
}

/* Follows "[12]" at *path and moves *path behind it. NULL: no such element, or not a number. */
static const struct json *
step_index(const struct json *array, const char **path)
{
    const char *p = *path + 1;
    size_t n = 0;

    if (!json_is(array, JSON_ARRAY) || *p < '0' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (size_t)(*p - '0');
        if (n >= array->kids.count)
            return NULL;
    }
    if (*p != ']')
        return NULL;
    *path = p + 1;
    const struct json *v = array->kids.first;
    while (n--)
        v = v->next;
    return v;
}

const struct json *
json_path(const struct json *root, const char *path)
{
    const struct json *v = root;
    bool is_start = true;

    for (; v && *path; is_start = false) {
        if (*path == '[') {
            v = step_index(v, &path);
            continue;
        }
        if (!is_start && *path++ != '.')
            return NULL;
        size_t len = strcspn(path, ".[]");
        if (!len)
            return NULL;
        v = json_getn(v, path, len);
        path += len;
    }
    return v;
}

/* ---- scalars ---- */

bool
json_eq(const struct json *v, const char *s)
{
    size_t len = strlen(s);

    return json_is(v, JSON_STRING) && v->text.len == len && !memcmp(v->text.p, s, len);
}

bool
json_bool(const struct json *v, bool *out)
{
    if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
        return false;
    *out = v->type == JSON_TRUE;
    return true;
}

/* The value of the digits after 'e', clamped to a bound larger than any text's length, so that it
 * cannot overflow. */
static int64_t
read_exponent(const char *p, const char *end)
{
    const int64_t bound = INT64_MAX / 16;
    bool is_negative = p < end && *p == '-';
    int64_t n = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++)
        n = n < bound ? n * 10 + (*p - '0') : bound;
    return is_negative ? -n : n;
}

bool
json_int(const struct json *v, int64_t *out)
{
    enum { DIGITS_MAX = 19 }; /* of an int64_t; any 19 digits fit a uint64_t */

    if (!json_is(v, JSON_NUMBER))
        return false;
    const char *p = v->text.p, *end = p + v->text.len;
    bool is_negative = p < end && *p == '-';
    uint64_t n = 0;
    int64_t zeros = 0;  /* a run of zeros not yet in n: it may be trailing */
    int64_t places = 0; /* digits after the point */
    bool is_fraction = false;
    int digits = 0; /* significant digits in n */

    for (p += is_negative; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            is_fraction = true;
            continue;
        }
        places += is_fraction;
        if (*p == '0') {
            zeros += n != 0;
            continue;
        }
        if (zeros >= DIGITS_MAX || (digits += (int)zeros + 1) > DIGITS_MAX)
            return false; /* too long, or too precise to be whole and still fit */
        for (; zeros; zeros--)
            n *= 10;
        n = n * 10 + (uint64_t)(*p - '0');
    }
    /* The number is n * 10^shift, and n does not end in zero. */
    int64_t shift = zeros - places + (p < end ? read_exponent(p + 1, end) : 0);
    if (n && (shift < 0 || digits + shift > DIGITS_MAX))
        return false;
    for (; n && shift; shift--)
        n *= 10;
    if (n > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out = is_negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

bool
json_double(const struct json *v, double *out)
{
    char few[64];

    if (!json_is(v, JSON_NUMBER))
        return false;
    /* strtod needs a NUL, and a locale whose decimal separator is a point. newlocale("C") does not
     * allocate: it returns a constant of the C library. */
    char *text = v->text.len < sizeof few ? few : malloc(v->text.len + 1);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double n = HUGE_VAL;
    if (text && c) {
        memcpy(text, v->text.p, v->text.len);
        text[v->text.len] = '\0';
        n = strtod_l(text, NULL, c);
    }
    if (c)
        freelocale(c);
    if (text != few)
        free(text);
    if (!isfinite(n))
        return false;
    *out = n;
    return true;
}

/* ---- comparing keys ---- up to FEW members are compared in pairs. More are sorted first, because
 * hostile input could make quadratic time a denial of service. */

enum { FEW = 16 };

struct json_member {
    const struct json *v;
    size_t place; /* in its object */
};

static int
by_key(const struct json *a, const struct json *b)
{
    if (a->key_len != b->key_len)
        return a->key_len < b->key_len ? -1 : 1;
    return memcmp(a->key, b->key, a->key_len);
}

static int
by_key_then_place(const void *l, const void *r)
{
    const struct json_member *a = l, *b = r;
    int order = by_key(a->v, b->v);

    return order ? order : a->place < b->place ? -1 : a->place > b->place;
}

static void
list_by_key(struct json_member *list, const struct json *object)
{
    size_t n = 0;

    json_each (v, object) {
        list[n] = (struct json_member){ .v = v, .place = n };
        n++;
    }
    assert(n == object->kids.count);
    qsort(list, n, sizeof *list, by_key_then_place);
}

static const struct json *
find_twin_of_few(const struct json *object)
{
    json_each (v, object)
        for (const struct json *u = object->kids.first; u != v; u = u->next)
            if (!by_key(u, v))
                return v;
    return NULL;
}

bool
json_find_duplicate(const struct json *object, struct arena *scratch, const struct json **twin)
{
    *twin = NULL;
    if (!json_is(object, JSON_OBJECT))
        return true;
    size_t n = object->kids.count, place = n;
    if (n <= FEW) {
        *twin = find_twin_of_few(object);
        return true;
    }
    struct json_member *list = arena_alloc(scratch, n * sizeof *list);
    if (!list)
        return false;
    list_by_key(list, object);
    for (size_t i = 1; i < n; i++)
        if (!by_key(list[i - 1].v, list[i].v) && list[i].place < place) {
            place = list[i].place;
            *twin = list[i].v;
        }
    return true;
}

/* Requires equal member counts. Falls back to quadratic search when malloc fails. */
static bool
same_members(const struct json *a, const struct json *b)
{
    size_t n = a->kids.count, i = 0;
    struct json_member *list = n > FEW ? malloc(2 * n * sizeof *list) : NULL;

    if (!list) {
        json_each (v, a)
            if (!json_same(v, json_getn(b, v->key, v->key_len)))
                return false;
        return true;
    }
    list_by_key(list, a);
    list_by_key(list + n, b);
    while (i < n && !by_key(list[i].v, list[n + i].v) && json_same(list[i].v, list[n + i].v))
        i++;
    free(list);
    return i == n;
}

bool
json_same(const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
    case JSON_STRING:
        return a->text.len == b->text.len && !memcmp(a->text.p, b->text.p, a->text.len);
    case JSON_ARRAY:
        if (a->kids.count != b->kids.count)
            return false;
        for (a = a->kids.first, b = b->kids.first; a; a = a->next, b = b->next)
            if (!json_same(a, b))
                return false;
        return true;
    case JSON_OBJECT:
        return a->kids.count == b->kids.count && same_members(a, b);
    }
    assert(!"a type that json.h names");
    return false;
}

/* ---- building ---- */

struct json *
json_new(struct arena *a, enum json_type type)
{
    struct json *v = arena_alloc(a, sizeof *v);

    if (!v)
        return NULL;
    *v = (struct json){ .type = type };
    if (type == JSON_STRING || type == JSON_NUMBER) {
        v->text.p = type == JSON_NUMBER ? "0" : "";
        v->text.len = strlen(v->text.p);
    }
    return v;
}

struct json *
json_new_str(struct arena *a, const char *p, size_t len)
{
    struct json *v = json_new(a, JSON_STRING);

    assert(p || !len);
    if (v && len) {
        v->text.p = p;
        v->text.len = len;
    }
    return v;
}

struct json *
json_new_copy(struct arena *a, const char *p, size_t len)
{
    const char *kept = arena_dup(a, p, len);

    return kept ? json_new_str(a, kept, len) : NULL;
}

char *
json_dup_text(struct arena *a, const struct json *v)
{
    return json_is(v, JSON_STRING) ? arena_dup(a, v->text.p, v->text.len) : NULL;
}

struct json *
json_new_int(struct arena *a, int64_t n)
{
    char digits[20], *p = digits + sizeof digits; /* "-9223372036854775808" */
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    struct json *v = json_new(a, JSON_NUMBER);

    if (!v)
        return NULL;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--p = '-';
    v->text.len = (size_t)(digits + sizeof digits - p);
    v->text.p = arena_dup(a, p, v->text.len);
    return v->text.p ? v : NULL;
}

/* Replaces *link by v, or appends v when *link is NULL. */
static void
put_at(struct json *container, struct json **link, struct json *v)
{
    assert(!v->next); /* a value belongs to one container only */
    if (*link)
        v->next = (*link)->next;
    else
        container->kids.count++;
    *link = v;
}

void
json_add(struct json *array, struct json *v)
{
    assert(json_is(array, JSON_ARRAY));
    if (!v)
        return;
    struct json **link = &array->kids.first;
    while (*link)
        link = &(*link)->next;
    v->key = NULL;
    v->key_len = 0;
    put_at(array, link, v);
}

void
json_add_behind(struct json *array, struct json **last, struct json *v)
{
    assert(json_is(array, JSON_ARRAY));
    if (!v)
        return;
    v->key = NULL;
    v->key_len = 0;
    put_at(array, *last ? &(*last)->next : &array->kids.first, v);
    *last = v;
}

bool
json_set(struct json *object, const char *key, struct json *v)
{
    size_t key_len = strlen(key);

    assert(json_is(object, JSON_OBJECT) && key_len <= UINT32_MAX);
    if (!v)
        return false;
    struct json **link = &object->kids.first;
    while (*link && !has_key(*link, key, key_len))
        link = &(*link)->next;
    v->key = key;
    v->key_len = (uint32_t)key_len;
    put_at(object, link, v);
    return true;
}
