#include "hub/signal_id.h"

#include "base/sys.h"

#include <string.h>

enum status
hub_new_id(char out[HUB_ID_SIZE], struct err *e)
{
    static const char prefix[] = "signal:", alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    enum { PREFIX_LEN = sizeof prefix - 1, LETTERS = 26, ALL = sizeof alphabet - 1 };
    uint32_t random[HUB_ID_SIZE - 1 - PREFIX_LEN];
    size_t n = sizeof random / sizeof *random;

    for (size_t got = 0; got < sizeof random;) {
        ssize_t k = SYS_RETRY(sys->getrandom((char *)random + got, sizeof random - got, 0));
        if (k <= 0)
            return err_sys(e, "get random bytes");
        got += (size_t)k;
    }
    memcpy(out, prefix, PREFIX_LEN);
    for (size_t i = 0; i < n; i++) /* 32 bits onto 36: uneven by less than one in 10^8 */
        out[PREFIX_LEN + i] = alphabet[(uint64_t)random[i] * (i ? ALL : LETTERS) >> 32];
    out[HUB_ID_SIZE - 1] = '\0';
    return ST_OK;
}
