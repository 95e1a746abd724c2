#include "team/libarchive.h"

#include "base/dynlib.h"

#include <pthread.h>

#define LIBRARY "libarchive.so.13"

struct libarchive ar;

static char load_error[256]; /* "": libarchive is loaded */

static void
load_once(void)
{
    static const struct dynlib_function functions[] = {
#define NAME(name) { "archive_" #name, &ar.name, NULL },
        LIBARCHIVE_FUNCTIONS(NAME)
#undef NAME
    };
    dynlib_load(LIBRARY, functions, sizeof functions / sizeof *functions, load_error,
                sizeof load_error);
}

enum status
libarchive_load(struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_once);
    if (!load_error[0])
        return ST_OK;
    return err_set(e, ST_IO,
                   "packages of teams need libarchive, which cannot be loaded (%s): install it "
                   "(Debian: apt-get install libarchive13)",
                   load_error);
}
