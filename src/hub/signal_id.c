#include "hub/signal_id.h"

#include "base/clock.h"
#include "base/sys.h"

#include <string.h>

enum { TIME_LEN = 9, RANDOM_LEN = 14, POOL = 16 * RANDOM_LEN };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* Random bytes are fetched for many ids at once: asking the kernel costs more than the rest. */
static enum status
take_random(uint32_t to[RANDOM_LEN], struct err *e)
{
    static _Thread_local uint32_t pool[POOL];
    static _Thread_local size_t left;
    static _Thread_local pid_t owner; /* a fork must not say what its parent says */

    if (left < RANDOM_LEN || owner != sys->getpid()) {
        left = 0;
        for (size_t got = 0; got < sizeof pool;) {
            ssize_t k = SYS_RETRY(sys->getrandom((char *)pool + got, sizeof pool - got, 0));
            if (k <= 0)
                return err_sys(e, "get random bytes");
            got += (size_t)k;
        }
        left = POOL;
        owner = sys->getpid();
    }
    left -= RANDOM_LEN;
    memcpy(to, pool + left, RANDOM_LEN * sizeof *to);
    return ST_OK;
}

enum status
hub_new_id(char out[HUB_ID_SIZE], struct err *e)
{
    static const char prefix[] = "signal:c";
    uint32_t random[RANDOM_LEN];
    enum status s = take_random(random, e);
    uint64_t ms = (uint64_t)(clock_wall_ns() / 1000000);

    if (s)
        return s;
    char *p = out + sizeof prefix - 1;
    memcpy(out, prefix, sizeof prefix - 1);
    for (size_t i = TIME_LEN; i-- > 0; ms /= 36)
        p[i] = digits[ms % 36];
    p += TIME_LEN;
    for (size_t i = 0; i < RANDOM_LEN; i++) /* 32 bits onto 36: uneven by less than 1 in 10^8 */
        *p++ = digits[(uint64_t)random[i] * 36 >> 32];
    *p = '\0';
    return ST_OK;
}
