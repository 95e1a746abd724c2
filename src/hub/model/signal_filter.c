#include "hub/model/signal_filter.h"

#include "hub/model/match.h"

#include <string.h>

static bool
has_text(const struct text_list *list, const struct json *v)
{
    for (size_t i = 0; i < list->n; i++)
        if (json_eq(v, list->v[i]))
            return true;
    return list->n == 0;
}

static bool
has_any(const struct text_list *list, const struct json *array)
{
    json_each (v, array)
        if (has_text(list, v))
            return true;
    return list->n == 0;
}

static bool
has_match(const struct text_list *patterns, const struct json *type)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (match_pattern(patterns->v[i], strlen(patterns->v[i]), type->text.p, type->text.len))
            return true;
    return patterns->n == 0;
}

bool
signal_filter_wants(const struct signal_filter *f, const struct json *signal)
{
    const struct json *type = json_get(signal, "signal_type");
    double urgency = 0.5;

    if (!type)
        type = json_get(signal, "type"); /* a broadcast */
    json_double(json_get(signal, "urgency"), &urgency);
    return json_is(type, JSON_STRING) && urgency >= f->min_urgency && has_text(&f->types, type) &&
           has_match(&f->patterns, type) && has_text(&f->rings, json_get(signal, "to_ring")) &&
           has_any(&f->tags, json_get(signal, "tags")) &&
           (!f->role || json_eq(json_get(signal, "from_role"), f->role) ||
            json_eq(json_get(signal, "to_role"), f->role));
}

bool
signal_filter_is_empty(const struct signal_filter *f)
{
    return !f->types.n && !f->patterns.n && !f->tags.n && !f->rings.n && !f->role &&
           f->min_urgency <= 0;
}
