/*
 * libcurl - the functions of libcurl, loaded at first use, because loading its thirty libraries
 * takes 6 ms. Nothing links it. `curl.easy_init` is libcurl's curl_easy_init.
 *
 * Only the files of net/ that speak a protocol over it include this header: fetch.c, smtp.c.
 *
 * Tests: test/unit/test_fetch.c test/scenario/notify_email.bats
 */
#ifndef CLIQ_NET_LIBCURL_H
#define CLIQ_NET_LIBCURL_H

#include "base/err.h"

#include <curl/curl.h>

/* clang-format off */
#define LIBCURL_FUNCTIONS(F)                                                                       \
    F(global_init) F(free) F(slist_append) F(slist_free_all)                                       \
    F(url) F(url_cleanup) F(url_dup) F(url_get) F(url_set) F(url_strerror)                         \
    F(easy_init) F(easy_cleanup) F(easy_reset) F(easy_setopt) F(easy_getinfo) F(easy_perform)      \
    F(easy_send) F(easy_recv) F(easy_strerror)
/* clang-format on */

struct libcurl {
#define LIBCURL_DECLARE(name) __typeof__(curl_##name) *name;
    LIBCURL_FUNCTIONS(LIBCURL_DECLARE)
#undef LIBCURL_DECLARE
};

extern struct libcurl curl; /* usable after libcurl_load succeeded */

/* ST_IO: the library cannot be loaded; the message names the package to install. */
enum status libcurl_load(struct err *e);

#endif
