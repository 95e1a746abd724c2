/*
 * web_files - the files of web/, embedded into the program by tools/embed-web.
 *
 * Ended by name NULL. index.html has the version in the addresses of the others.
 */
#ifndef CLIQ_SERVE_WEB_FILES_H
#define CLIQ_SERVE_WEB_FILES_H

#include <stddef.h>

struct web_file {
    const char *name, *type; /* "app.js", "text/javascript; charset=utf-8" */
    const char *plain;
    size_t plain_len;
    const char *packed; /* by gzip */
    size_t packed_len;
};

extern const struct web_file web_files[];
extern const char web_version[]; /* a hash of all of them */

#endif
