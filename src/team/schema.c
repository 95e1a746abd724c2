#include "team/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 80 };

enum { TYPE_STRING, TYPE_INTEGER, TYPE_NUMBER, TYPE_BOOLEAN, TYPE_LIST, TYPE_OBJECT, TYPE_ARRAY };

const struct schema_type schema_types[] = {
    [TYPE_STRING] = { "string", "a text" },   [TYPE_INTEGER] = { "integer", "a whole number" },
    [TYPE_NUMBER] = { "number", "a number" }, [TYPE_BOOLEAN] = { "boolean", "true or false" },
    [TYPE_LIST] = { "list", "a list" },       [TYPE_OBJECT] = { "object", "a map" },
    [TYPE_ARRAY] = { "array", "a list" },     { 0 },
};

const struct schema_type *
schema_type_of(const struct json *field)
{
    const struct json *type = json_get(field, "type");
    const struct schema_type *t = schema_types;

    while (t->name && !json_eq(type, t->name))
        t++;
    return t->name || !type || json_is(type, JSON_NULL) ? t : NULL;
}

bool
schema_is_container(const struct schema_type *t)
{
    return t >= &schema_types[TYPE_LIST] && t->name;
}

/* ---- values as messages show them ---- */

/* "x" in quotes, 5, or "a list", cut to what a line holds. */
static void
show(struct buf *to, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        buf_addf(to, "\"%.*s\"", (int)(v->text.len < SHOWN ? v->text.len : SHOWN), v->text.p);
    else if (json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT))
        buf_adds(to, v->type == JSON_ARRAY ? "a list" : "a map");
    else
        json_write(to, v);
}

static void
refuse(struct err *why, const char *wanted, const struct json *v)
{
    struct buf shown = { 0 };

    show(&shown, v);
    err_say(why, "must be %s, not %.100s", wanted, shown.p ? shown.p : "this");
    buf_release(&shown);
}

/* ---- types ---- */

/* The text as a JSON number or literal; NULL: it is none, or memory ran out. */
static const struct json *
parse_text(struct arena *a, const struct json *v)
{
    struct json *parsed = NULL;
    const char *kept = json_dup_text(a, v);

    return kept && json_parse(a, kept, v->text.len, &parsed, NULL) ? parsed : NULL;
}

static const struct json *
take_integer(struct arena *a, const struct json *v)
{
    int64_t n;

    return json_is(v, JSON_NUMBER) && json_int(v, &n) ? json_new_int(a, n) : NULL;
}

static const struct json *
take_number(const struct json *v)
{
    double n;

    return json_is(v, JSON_NUMBER) && json_double(v, &n) ? v : NULL;
}

/* A number and true or false were written without quotes, and mean the text. */
static const struct json *
take_string(struct arena *a, const struct json *v)
{
    if (json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE))
        return json_new_str(a, v->type == JSON_TRUE ? "true" : "false",
                            v->type == JSON_TRUE ? 4 : 5);
    if (json_is(v, JSON_NUMBER))
        return json_new_str(a, v->text.p, v->text.len);
    return json_is(v, JSON_STRING) ? v : NULL;
}

static const struct json *
take_type(struct arena *a, const struct schema_type *t, const struct json *v)
{
    switch (t - schema_types) {
    case TYPE_STRING:
        return take_string(a, v);
    case TYPE_INTEGER:
        return take_integer(a, json_is(v, JSON_STRING) ? parse_text(a, v) : v);
    case TYPE_NUMBER:
        return take_number(json_is(v, JSON_STRING) ? parse_text(a, v) : v);
    case TYPE_BOOLEAN:
        v = json_is(v, JSON_STRING) ? parse_text(a, v) : v;
        return json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE) ? v : NULL;
    case TYPE_LIST:
    case TYPE_ARRAY:
        return json_is(v, JSON_ARRAY) ? v : NULL;
    case TYPE_OBJECT:
        return json_is(v, JSON_OBJECT) ? v : NULL;
    default:
        return v;
    }
}

/* ---- enum ---- */

static bool
is_one_of(const struct json *choices, const struct json *v)
{
    double x, y;

    json_each (c, choices)
        if (json_same(c, v) || (json_double(c, &x) && json_double(v, &y) && x == y))
            return true;
    return false;
}

/* "read, edit or plan" */
static void
list_choices(struct buf *to, const struct json *choices)
{
    json_each (c, choices) {
        buf_adds(to, c == json_first(choices) ? "" : c->next ? ", " : " or ");
        if (json_is(c, JSON_STRING))
            buf_add(to, c->text.p, c->text.len);
        else
            json_write(to, c);
    }
}

static bool
check_choice(const struct json *choices, const struct json *v, struct err *why)
{
    struct buf list = { 0 };

    if (!json_is(choices, JSON_ARRAY))
        return true;
    if (json_is(v, JSON_ARRAY)) {
        json_each (m, v)
            if (!check_choice(choices, m, why))
                return false;
        return true;
    }
    if (is_one_of(choices, v))
        return true;
    list_choices(&list, choices);
    refuse(why, list.p ? list.p : "one of its enum", v);
    buf_release(&list);
    return false;
}

/* ---- the field ---- */

const struct json *
schema_take(struct arena *a, const struct json *field, const struct json *value, struct err *why)
{
    const struct schema_type *t = schema_type_of(field);
    const struct json *taken = t ? take_type(a, t, value) : value;

    if (!taken)
        refuse(why, t && t->takes ? t->takes : "a value", value);
    return taken && check_choice(json_get(field, "enum"), taken, why) ? taken : NULL;
}

bool
schema_may_take(const struct json *field, const struct json *value, struct err *why)
{
    const struct schema_type *t = schema_type_of(field);
    bool is_container = json_is(value, JSON_ARRAY) || json_is(value, JSON_OBJECT);

    if (!t || (!is_container && !schema_is_container(t)) || !t->name)
        return true;
    if (take_type(NULL, t, value))
        return true;
    refuse(why, t->takes, value);
    return false;
}
