#include "run/file_conflicts.h"

#include "base/path_glob.h"
#include "run/dag.h"

#include <stdlib.h>

bool
file_conflicts_between(const struct phase *a, const struct phase *b)
{
    for (size_t i = 0; i < a->n_files; i++)
        for (size_t k = 0; k < b->n_files; k++)
            if (path_glob_overlap(a->files[i], b->files[k]))
                return true;
    return false;
}

bool
file_conflicts_new(const struct team *t, uint64_t **out)
{
    size_t words = dag_words(t->n_phases);

    *out = NULL;
    for (size_t i = 0; i < t->n_phases; i++)
        for (size_t k = i + 1; k < t->n_phases; k++) {
            if (!file_conflicts_between(&t->phases[i], &t->phases[k]))
                continue;
            if (!*out && !(*out = calloc(t->n_phases * words, sizeof **out)))
                return false;
            bit_add(*out + i * words, k);
            bit_add(*out + k * words, i);
        }
    return true;
}
