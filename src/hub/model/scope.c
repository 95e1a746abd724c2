#include "hub/model/scope.h"

#include <string.h>

const char *
scope_word(unsigned number, size_t *len)
{
    const char *p = SCOPE_WORDS;

    for (; number && *p; number--) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    *len = strcspn(p, " ");
    return *len ? p : NULL;
}

unsigned
scope_bits(const struct json *words)
{
    const char *p;
    size_t n;
    unsigned bits = 0;

    for (unsigned i = 0; (p = scope_word(i, &n)); i++)
        json_each (v, words)
            if (json_is(v, JSON_STRING) && v->text.len == n && memcmp(v->text.p, p, n) == 0)
                bits |= 1u << i;
    return bits;
}

struct json *
scope_list(struct arena *a, unsigned bits)
{
    struct json *list = json_new(a, JSON_ARRAY), *last = NULL;
    const char *p;
    size_t n;

    for (unsigned i = 0; list && (p = scope_word(i, &n)); i++) {
        if (!(bits & (1u << i)))
            continue;
        struct json *word = json_new_str(a, p, n);
        if (!word)
            return NULL;
        json_add_behind(list, &last, word);
    }
    return list;
}
