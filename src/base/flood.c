#include "base/flood.h"

bool
flood_lets(struct flood *f, unsigned per_second, int64_t now_ms, uint64_t *held)
{
    *held = 0;
    if (now_ms - f->since_ms >= 1000 || now_ms < f->since_ms) {
        f->since_ms = now_ms;
        f->n = 0;
    }
    if (f->n >= per_second) {
        f->n_held++;
        return false;
    }
    f->n++;
    *held = f->n_held;
    f->n_held = 0;
    return true;
}
