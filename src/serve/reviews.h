/*
 * reviews - the routes below /reviews: listed, read, answered as the key's identity.
 *
 * They are agents/review/review_desk.h over HTTP (file_route.h): the reviews of projects of the
 * server's user, to their reviewers. An admin key reads all, and answers as nobody but itself.
 *
 * Tests: test/scenario/review_http.bats test/scenario/openapi.bats
 */
#ifndef CLIQ_SERVE_REVIEWS_H
#define CLIQ_SERVE_REVIEWS_H

#include "serve/file_route.h"

extern const struct file_route reviews_routes[];

#endif
