/*
 * web - the page for people: index.html at `/`, its scripts and styles at `/web/<version>/<name>`.
 *
 * All of it stands in memory (web_files.h), as it is and gzip'd. The version in an address is a
 * hash of all files, so what has it never changes and browsers keep it; index.html is asked for
 * each time, with its ETag. With --web-dir the files of that directory are served instead, as they
 * are now and for this moment only: for developing the page.
 *
 * Programs that ask for `/` without naming text/html get a few lines of text.
 *
 * The page runs only what came from this server: its Content-Security-Policy allows no script and
 * no style in the document, no other origin, and no frame around it.
 *
 * Tests: test/scenario/serve_page.bats test/web/sign_in.bats
 */
#ifndef CLIQ_SERVE_WEB_H
#define CLIQ_SERVE_WEB_H

#include "serve/reply.h"

struct http_request;

/* Answers `/`. */
void web_answer_home(const struct reply_to *to, const struct http_request *r);
/* Answers `/web/:version/:name`. */
void web_answer_file(const struct reply_to *to, const struct http_request *r);

#endif
