#include "net/libcurl.h"

#include "base/dynlib.h"

#include <pthread.h>
#include <stdio.h>

#define LIBRARY "libcurl.so.4"

struct libcurl curl;

static char load_error[256]; /* "": libcurl is loaded */

static void
load_once(void)
{
    static const struct dynlib_function functions[] = {
#define NAME(name) { "curl_" #name, &curl.name, NULL },
        LIBCURL_FUNCTIONS(NAME)
#undef NAME
    };
    bool ok = dynlib_load(LIBRARY, functions, sizeof functions / sizeof *functions, load_error,
                          sizeof load_error);

    if (ok && curl.global_init(CURL_GLOBAL_DEFAULT))
        snprintf(load_error, sizeof load_error, LIBRARY ": curl_global_init failed");
}

enum status
libcurl_load(struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_once);
    if (!load_error[0])
        return ST_OK;
    return err_set(e, ST_IO,
                   "HTTP and TLS need libcurl, which cannot be loaded (%s): install it (Debian: "
                   "apt-get install libcurl4)",
                   load_error);
}
