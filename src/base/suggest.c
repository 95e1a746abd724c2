#include "base/suggest.h"

#include <string.h>

enum { WORD_MAX = 64 };

enum { SWAP = 1, CHANGE = 2 }; /* swapped letters are a slip of the fingers: likelier than others */

/* Edit distance with transpositions (optimal string alignment). */
static size_t
distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned char row[3][WORD_MAX + 1];
    unsigned char *before = row[0], *above = row[1], *here = row[2];

    for (size_t j = 0; j <= nb; j++)
        above[j] = (unsigned char)(j * CHANGE);
    for (size_t i = 1; i <= na; i++) {
        here[0] = (unsigned char)(i * CHANGE);
        for (size_t j = 1; j <= nb; j++) {
            size_t d = (size_t)above[j - 1] + (a[i - 1] != b[j - 1] ? CHANGE : 0);
            if (d > (size_t)above[j] + CHANGE)
                d = (size_t)above[j] + CHANGE;
            if (d > (size_t)here[j - 1] + CHANGE)
                d = (size_t)here[j - 1] + CHANGE;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d > (size_t)before[j - 2] + SWAP)
                d = (size_t)before[j - 2] + SWAP;
            here[j] = (unsigned char)d;
        }
        unsigned char *old = before;
        before = above;
        above = here;
        here = old;
    }
    return above[nb];
}

void
suggest_try(struct suggest *n, const char *candidate)
{
    size_t nw = strlen(n->word), nc = strlen(candidate);

    if (nw == 0 || nw > WORD_MAX || nc > WORD_MAX)
        return;
    size_t d = distance(n->word, nw, candidate, nc);
    size_t limit = (nw < 4 ? 1 : nw < 8 ? 2 : 3) * CHANGE;
    int is_prefix = nw >= 2 && nw < nc && strncmp(n->word, candidate, nw) == 0;
    if (nc > 2 && nc < nw && n->word[nc] == '-' && strncmp(n->word, candidate, nc) == 0)
        d = SWAP; /* cursor-agent: cursor */
    if (is_prefix && d > limit)
        d = limit + 1; /* of several longer words the first is meant, not the shortest */
    if ((d <= limit && d < nc * CHANGE) || is_prefix) {
        if (!n->best || d < n->rank) {
            n->best = candidate;
            n->rank = d;
            n->distance = (d + 1) / CHANGE;
        }
    }
}
