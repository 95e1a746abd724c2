#include "team/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool
names_init(struct names *n, struct arena *a, size_t max)
{
    *n = (struct names){ .v = arena_alloc(a, (max ? max : 1) * sizeof *n->v) };
    return n->v != NULL;
}

void
names_add(struct names *n, const char *name, size_t at)
{
    if (name)
        n->v[n->n++] = (struct names_entry){ name, at };
}

static int
by_name(const void *a, const void *b)
{
    const struct names_entry *x = a, *y = b;
    int d = strcmp(x->name, y->name);

    return d ? d : (x->at > y->at) - (x->at < y->at);
}

void
names_sort(struct names *n)
{
    if (n->n)
        qsort(n->v, n->n, sizeof *n->v, by_name);
}

size_t
names_find(const struct names *n, const char *name)
{
    size_t low = 0, high = n->n;

    while (low < high) { /* the first that is not below name */
        size_t mid = low + (high - low) / 2;
        if (strcmp(n->v[mid].name, name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n->n && strcmp(n->v[low].name, name) == 0 ? n->v[low].at : SIZE_MAX;
}
