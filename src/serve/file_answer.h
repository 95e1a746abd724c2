/*
 * file_answer - answers the requests of file routes (file_route.h) on the threads of libuv's pool.
 *
 * The request is copied, so its connection may go meanwhile; the answer comes on the loop. At most
 * FILE_ANSWERS_MAX are on their way: more get 503.
 *
 * Order of calls: file_answer_begin any number of times, file_answer_stop after the loop has ended:
 * what is still on its way ends without an answer when the loop is freed.
 *
 * Tests: test/scenario/team_hub.bats
 */
#ifndef CLIQ_SERVE_FILE_ANSWER_H
#define CLIQ_SERVE_FILE_ANSWER_H

#include "serve/auth.h"
#include "serve/reply.h"

#define FILE_ANSWERS_MAX 64

/* Ends the request, now or later. */
void
file_answer_begin(const struct reply_to *to, const struct http_request *r, const struct caller *by);
void file_answer_stop(struct serve *s);

#endif
