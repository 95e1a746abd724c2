#include "base/yaml_duplicates.h"

#include <stdlib.h>
#include <string.h>

struct yaml_member {
    const struct yaml *node;
};

/* < 0: x is before y in the text. */
static int
by_place(const struct yaml *x, const struct yaml *y)
{
    int d = (x->key_line > y->key_line) - (x->key_line < y->key_line);

    return d ? d : (x->key_column > y->key_column) - (x->key_column < y->key_column);
}

static int
by_key(const void *a, const void *b)
{
    const struct yaml *x = ((const struct yaml_member *)a)->node,
                      *y = ((const struct yaml_member *)b)->node;
    int d = strcmp(x->key, y->key);

    return d ? d : by_place(x, y);
}

/* Inserts by position in the text: keys arrive sorted, and inner maps are closed first. */
static void
add(struct yaml_duplicates *t, const struct yaml *key, const struct yaml *first)
{
    size_t i = t->count;

    t->found++;
    if (i == YAML_TWINS_MAX && by_place(key, t->twin[i - 1].key) > 0)
        return;
    if (i == YAML_TWINS_MAX)
        i--; /* replaces the last one */
    else
        t->count++;
    for (; i > 0 && by_place(key, t->twin[i - 1].key) < 0; i--)
        t->twin[i] = t->twin[i - 1];
    t->twin[i] = (struct yaml_duplicate){ key, first };
}

bool
yaml_duplicates_find(struct yaml_duplicates *t, const struct yaml *map)
{
    struct yaml_member *v;
    size_t n = 0, first = 0;

    if (map->count < 2)
        return true;
    if (!(v = malloc(map->count * sizeof *v)))
        return false;
    yaml_each (m, map)
        v[n++].node = m;
    qsort(v, n, sizeof *v, by_key);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(v[first].node->key, v[i].node->key) == 0)
            add(t, v[i].node, v[first].node);
        else
            first = i;
    }
    free(v);
    return true;
}
