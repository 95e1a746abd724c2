#include "team/name_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool
name_index_init(struct name_index *n, struct arena *a, size_t max)
{
    *n = (struct name_index){ .v = arena_alloc(a, (max ? max : 1) * sizeof *n->v) };
    return n->v != NULL;
}

void
name_index_add(struct name_index *n, const char *name, size_t at)
{
    if (name)
        n->v[n->n++] = (struct name_index_entry){ name, at };
}

static int
by_name(const void *a, const void *b)
{
    const struct name_index_entry *x = a, *y = b;
    int d = strcmp(x->name, y->name);

    return d ? d : (x->at > y->at) - (x->at < y->at);
}

void
name_index_sort(struct name_index *n)
{
    if (n->n)
        qsort(n->v, n->n, sizeof *n->v, by_name);
}

size_t
name_index_find(const struct name_index *n, const char *name)
{
    size_t low = 0, high = n->n;

    while (low < high) { /* the first that is not less than name */
        size_t mid = low + (high - low) / 2;
        if (strcmp(n->v[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n->n && strcmp(n->v[low].name, name) == 0 ? n->v[low].at : SIZE_MAX;
}
