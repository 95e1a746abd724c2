/* yaml_json - conversion of a YAML tree to JSON. */
#include "base/yaml.h"

#include <string.h>

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool
is_json_number(const char *s)
{
    static const char digits[] = "0123456789";
    size_t n;

    s += *s == '-';
    if (!(n = strspn(s, digits)) || (*s == '0' && n > 1))
        return false;
    s += n;
    if (*s == '.') {
        if (!(n = strspn(++s, digits)))
            return false;
        s += n;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        if (!(n = strspn(s, digits)))
            return false;
        s += n;
    }
    return *s == '\0';
}

static enum json_type
scalar_type(const struct yaml *v)
{
    if (v->is_quoted)
        return JSON_STRING;
    if (!*v->text || strcmp(v->text, "~") == 0 || strcmp(v->text, "null") == 0)
        return JSON_NULL;
    if (strcmp(v->text, "true") == 0)
        return JSON_TRUE;
    if (strcmp(v->text, "false") == 0)
        return JSON_FALSE;
    return is_json_number(v->text) ? JSON_NUMBER : JSON_STRING;
}

struct json *
yaml_to_json(struct arena *a, const struct yaml *v)
{
    enum json_type type = !v                     ? JSON_NULL
                          : v->type == YAML_LIST ? JSON_ARRAY
                          : v->type == YAML_MAP  ? JSON_OBJECT
                                                 : scalar_type(v);
    struct json *j = json_new(a, type);

    if (!j || !v)
        return j;
    if (type == JSON_STRING || type == JSON_NUMBER) {
        j->text.p = v->text;
        j->text.len = strlen(v->text);
    }
    if (v->type == YAML_SCALAR)
        return j;
    struct json **tail = &j->kids.first;
    yaml_each (m, v) {
        struct json *kid = yaml_to_json(a, m);
        if (!kid)
            return NULL;
        if (m->key) {
            kid->key = m->key;
            kid->key_len = (uint32_t)strlen(m->key);
        }
        *tail = kid;
        tail = &kid->next;
        j->kids.count++;
    }
    return j;
}
