#include "hub/model/signal_id.h"

#include "base/clock.h"
#include "base/sys.h"

#include <string.h>

/* 64 random bits give 7 digits, with a bias below 1 in 10^8. */
enum { TIME_LEN = 9, WORDS = 2, WORD_LEN = 7, POOL = 64 * WORDS };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* Random bytes for many ids: the system call costs more than the rest of an id. */
static _Thread_local uint64_t pool[POOL];
static _Thread_local size_t left;
static _Thread_local pid_t owner;

void
signal_ids_begin(void)
{
    pid_t self = sys->getpid();

    if (owner != self)
        left = 0;
    owner = self;
}

static enum status
take_random(uint64_t to[WORDS], struct err *e)
{
    if (left < WORDS) {
        for (size_t got = 0; got < sizeof pool;) {
            ssize_t k = SYS_RETRY(sys->getrandom((char *)pool + got, sizeof pool - got, 0));
            if (k <= 0)
                return err_sys(e, "get random bytes");
            got += (size_t)k;
        }
        left = POOL;
    }
    left -= WORDS;
    memcpy(to, pool + left, WORDS * sizeof *to);
    return ST_OK;
}

enum status
hub_new_id(char out[HUB_ID_SIZE], struct err *e)
{
    static const char prefix[] = "signal:c";
    uint64_t random[WORDS];
    enum status s = take_random(random, e);
    uint64_t ms = (uint64_t)(clock_wall_ns() / 1000000);

    if (s)
        return s;
    char *p = out + sizeof prefix - 1;
    memcpy(out, prefix, sizeof prefix - 1);
    for (size_t i = TIME_LEN; i-- > 0; ms /= 36)
        p[i] = digits[ms % 36];
    p += TIME_LEN;
    for (size_t i = 0; i < WORDS * WORD_LEN; i++) {
        unsigned __int128 product = (unsigned __int128)random[i / WORD_LEN] * 36;
        *p++ = digits[(size_t)(product >> 64)];
        random[i / WORD_LEN] = (uint64_t)product;
    }
    *p = '\0';
    return ST_OK;
}
