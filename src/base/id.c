#include "base/id.h"

#include "base/clock.h"

#include <stdatomic.h>

int64_t
id_unique_ns(void)
{
    static _Atomic int64_t last;
    int64_t seen = atomic_load(&last), mine;

    do {
        int64_t now = clock_wall_ns();
        mine = now > seen ? now : seen + 1;
    } while (!atomic_compare_exchange_weak(&last, &seen, mine));
    return mine;
}
